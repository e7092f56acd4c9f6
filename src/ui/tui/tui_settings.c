/* Commands that change the settings of the session: model, effort, permissions, personality; experimental features. A
 * model is also the choice for new sessions, features are one for these alone. */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/feature.h"
#include "model/model_catalog.h"
#include "protocol/message/approval.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_checklist.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

enum { MODELS_MAX = 64, EFFORTS_MAX = 16 };

static void open_list(struct tui *tui, struct tui_choices *what)
{
	what->hint = "  enter select · esc back";
	what->self = tui;
	tui_ask_add(tui->ask, tui_choice_create(what, STR_NONE, NULL));
}

static void note_two(struct tui *tui, const char *what, const char *value, const char *more)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "%s%s%s%s", what, value, more ? " " : "", more ? more : "");
	tui_cells_note(tui->cells, buf_str(&text));
}

/* Appends a TOML string: JSON's escapes are a part of TOML's. */
static char *quoted(const char *text)
{
	struct buf out;
	buf_init(&out, LIMIT_LINE);
	json_quote(&out, str_of(text));
	return buf_take(&out);
}

static void save_model(struct tui *tui)
{
	auto_free char *model = quoted(tui->model), *effort = tui->effort ? quoted(tui->effort) : NULL;
	const char *words[] = {"model", model, "model_reasoning_effort", effort};
	tui_save(tui, words, effort ? 4 : 2, NULL);
}

/* ---- the model ---- */

static void set_model(struct tui *tui, struct str model, int effort)
{
	struct op_override_turn_context op = {
		.model = model, .has_effort = effort >= 0, .effort = effort >= 0 ? (enum reasoning_effort)effort : 0};
	tui_submit(tui, OP_override_turn_context, &op);
	free(tui->model);
	tui->model = str_dup(model);
	if (effort >= 0) { /* without one the session keeps its own */
		free(tui->effort);
		tui->effort = xstrdup(enum_wire(&enum_reasoning_effort, effort));
	}
	note_two(tui, "Model changed to ", tui->model, tui->effort);
	save_model(tui);
}

static void on_effort_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	int effort;
	if (chosen->at >= 0 && enum_parse(&enum_reasoning_effort, chosen->label, &effort))
		set_model(tui, str_of(tui->wished_model), effort);
}

static void ask_effort(struct tui *tui, const struct model_info *info)
{
	struct tui_choice items[EFFORTS_MAX];
	size_t count = 0, current = 0;
	for (int effort = 0; effort < EFFORTS_MAX; effort++) {
		if (!model_info_has_effort(info, (enum reasoning_effort)effort))
			continue;
		bool is_default = effort == (int)info->default_effort;
		current = is_default ? count : current;
		items[count++] = (struct tui_choice){.label = enum_wire(&enum_reasoning_effort, effort),
		                                     .about = is_default ? "default" : NULL};
	}
	struct tui_choices what = {.title = STR("Select Reasoning Effort\n"),
	                           .items = items,
	                           .count = count,
	                           .current = current,
	                           .on_chosen = on_effort_chosen};
	if (count)
		open_list(tui, &what);
	else
		set_model(tui, str_of(tui->wished_model), -1);
}

static void on_model_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	struct model_info info;
	if (chosen->at < 0)
		return;
	free(tui->wished_model);
	tui->wished_model = str_dup(chosen->label);
	info = model_catalog_get(str_of(tui->wished_model));
	ask_effort(tui, &info);
}

static void choose_model(struct tui *tui)
{
	struct tui_choice items[MODELS_MAX];
	struct model_info info;
	size_t count = 0, current = 0;
	char *names[MODELS_MAX];
	for (size_t i = 0; count < MODELS_MAX && model_catalog_at(i, &info); i++) {
		if (info.is_hidden)
			continue;
		names[count] = str_dup(info.slug);
		current = tui->model && str_is(info.slug, tui->model) ? count : current;
		items[count] = (struct tui_choice){.label = names[count], .about = info.about};
		count++;
	}
	struct tui_choices what = {.title = STR("Select Model and Effort\n"),
	                           .items = items,
	                           .count = count,
	                           .current = current,
	                           .on_chosen = on_model_chosen};
	open_list(tui, &what);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
}

/* A name that is not in the list may be a model of the provider, or a slip. */
static void set_named(struct tui *tui, struct str name, int effort)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	set_model(tui, name, effort);
	if (model_catalog_get(name).is_known)
		return;
	buf_printf(&text, "%s is not among the known models: requests ask the provider for it", tui->model);
	struct ev_warning warning = {.message = buf_str(&text)};
	tui_on_event(&(struct event){.msg = {.tag = EV_warning, .warning = &warning}}, tui);
}

/* NAME, or NAME EFFORT. */
void on_slash_model(struct tui *tui, struct str text)
{
	struct str rest = text, name = text;
	int effort = -1;
	if (!text.len) {
		choose_model(tui);
		return;
	}
	str_next_part(&rest, ' ', &name);
	rest = str_trim(rest);
	bool is_effort = !rest.len && enum_parse(&enum_reasoning_effort, name, &effort); /* no model is called high */
	if (is_effort || (rest.len && !enum_parse(&enum_reasoning_effort, rest, &effort)))
		tui_cells_fail(tui->cells,
		               STR("/model takes the name of a model and a reasoning effort, such as high"));
	else
		set_named(tui, name, effort);
}

void tui_settings_append_model(const struct tui *tui, struct buf *out)
{
	if (tui->model)
		buf_printf(out, "/model %s %s", tui->model, tui->effort ? tui->effort : "");
}

void tui_settings_step_effort(struct tui *tui, int by)
{
	struct model_info info = model_catalog_get(str_of(tui->model ? tui->model : ""));
	int effort = (int)info.default_effort;
	auto_free char *model = tui->model ? xstrdup(tui->model) : NULL;
	if (!model || tui->is_running)
		return;
	if (tui->effort && !enum_parse(&enum_reasoning_effort, str_of(tui->effort), &effort))
		return;
	do
		effort += by;
	while (effort >= 0 && effort < EFFORTS_MAX && !model_info_has_effort(&info, (enum reasoning_effort)effort));
	if (effort >= 0 && effort < EFFORTS_MAX)
		set_model(tui, str_of(model), effort);
}

/* ---- permissions ---- */

static const struct preset {
	const char *label, *about;
	enum sandbox_tag mode;
	enum ask_for_approval_tag approval;
	enum approvals_reviewer reviewer;
} presets[] = {
	{"Ask for approval", "edit files in this folder, ask for more", sandbox_workspace_write,
         ask_for_approval_on_request, approvals_reviewer_user},
	{"Full Access", "no sandbox, no questions", sandbox_danger_full_access, ask_for_approval_never,
         approvals_reviewer_user},
	{"Read Only", "read files, ask for everything else", sandbox_read_only, ask_for_approval_on_request,
         approvals_reviewer_user},
	{"Approve for me", "edit files in this folder; a reviewer answers the rest", sandbox_workspace_write,
         ask_for_approval_on_request, approvals_reviewer_auto_review},
};

/* Returns the details of write access as a table of the configuration; owned by the caller. */
static char *workspace_text(const struct workspace_write *workspace)
{
	struct buf text;
	buf_init(&text, LIMIT_LINE);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_key(&w, "writable_roots"); /* also an empty list: it replaces the server's */
	jw_array(&w);
	for (size_t i = 0; i < workspace->writable_roots_count; i++)
		jw_str(&w, workspace->writable_roots[i]);
	jw_array_end(&w);
	jw_member_bool(&w, "network_access", workspace->network_access);
	jw_member_bool(&w, "exclude_tmpdir_env_var", workspace->exclude_tmpdir_env_var);
	jw_member_bool(&w, "exclude_slash_tmp", workspace->exclude_slash_tmp);
	jw_object_end(&w);
	return buf_take(&text);
}

static void take_policies(struct tui *tui, const struct sandbox *sandbox, const struct ask_for_approval *approval,
                          enum approvals_reviewer reviewer)
{
	static const char *const modes[] = {[sandbox_workspace_write] = "workspace-write",
	                                    [sandbox_danger_full_access] = "danger-full-access",
	                                    [sandbox_read_only] = "read-only"};
	tui->sandbox = sandbox->tag < countof(modes) ? modes[sandbox->tag] : NULL;
	free(tui->workspace);
	tui->workspace = sandbox->tag == sandbox_workspace_write ? workspace_text(sandbox->workspace_write) : NULL;
	tui->approval = approval_name(approval);
	tui->reviewer = enum_wire(&enum_approvals_reviewer, (int)reviewer);
}

/* Write access has the details of the configuration and the folders of --add-dir. */
static void set_preset(struct tui *tui, const struct preset *preset)
{
	const struct config_sandbox *details = &tui->config->sandbox_workspace_write;
	VEC(struct str) roots = {0};
	for (size_t i = 0; i < details->writable_roots.count; i++)
		vec_push(&roots, details->writable_roots.items[i]);
	for (size_t i = 0; i < tui->options.run.add_dirs.count; i++)
		vec_push(&roots, str_of(tui->options.run.add_dirs.items[i]));
	struct workspace_write workspace = {
		.writable_roots = roots.items,
		.writable_roots_count = roots.count,
		.network_access = details->network_access,
		.exclude_tmpdir_env_var = details->exclude_tmpdir_env_var,
		.exclude_slash_tmp = details->exclude_slash_tmp,
	};
	bool writes = preset->mode == sandbox_workspace_write;
	struct sandbox sandbox = {.tag = preset->mode, .workspace_write = writes ? &workspace : NULL};
	struct ask_for_approval approval = {.tag = preset->approval};
	struct op_override_turn_context op = {
		.approval_policy = &approval,
		.has_approvals_reviewer = true,
		.approvals_reviewer = preset->reviewer,
		.sandbox_policy = &sandbox,
	};
	tui_submit(tui, OP_override_turn_context, &op);
	tui->permissions = preset->label;
	take_policies(tui, &sandbox, &approval, preset->reviewer);
	vec_finish(&roots);
	note_two(tui, "Permissions changed to ", preset->label, NULL);
}

static void on_full_access(const struct tui_chosen *chosen, void *self)
{
	if (chosen->at == 0)
		set_preset(self, &presets[1]);
}

static void on_preset_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct tui_choice items[] = {{"Yes, continue anyway", NULL, 'y'}, {"Cancel", NULL, 'n'}};
	struct tui_choices what = {.title = STR("Enable Full Access?\nCommands run without a sandbox and without "
	                                        "questions, and can change or send any file.\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .current = 1,
	                           .on_chosen = on_full_access};
	if (chosen->at == 1)
		open_list(self, &what);
	else if (chosen->at >= 0)
		set_preset(self, &presets[chosen->at]);
}

static void choose_permissions(struct tui *tui)
{
	struct tui_choice items[countof(presets)];
	size_t current = 0;
	auto_free char *marked = NULL;
	for (size_t i = 0; i < countof(presets); i++) {
		items[i] = (struct tui_choice){.label = presets[i].label, .about = presets[i].about};
		if (!tui->permissions || strcmp(tui->permissions, presets[i].label) != 0)
			continue;
		marked = xasprintf("%s (current)", presets[i].label);
		items[i].label = marked;
		current = i;
	}
	struct tui_choices what = {.title = STR("Select what Codex may do\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .current = current,
	                           .on_chosen = on_preset_chosen};
	open_list(tui, &what);
}

void on_slash_permissions(struct tui *tui, struct str text)
{
	struct tui_chosen chosen = {.at = CHOICE_ESCAPED};
	for (size_t i = 0; i < countof(presets); i++) {
		if (str_equal_fold(text, str_of(presets[i].label)))
			chosen.at = (int)i;
	}
	if (!text.len)
		choose_permissions(tui);
	else if (chosen.at >= 0)
		on_preset_chosen(&chosen, tui);
	else
		tui_cells_fail(tui->cells, STR("/permissions takes one of the names that it lists, such as Read Only"));
}

void tui_settings_append_permissions(const struct tui *tui, struct buf *out)
{
	if (tui->permissions)
		buf_printf(out, "/permissions %s", tui->permissions);
}

/* Each is written: a server restores those of the last turn otherwise, which may be wider. */
void tui_settings_write(const struct tui *tui, struct json_writer *w)
{
	jw_member_cstr(w, "sandbox", tui->sandbox);
	jw_member_cstr(w, "approvalPolicy", tui->approval);
	jw_member_cstr(w, "approvalsReviewer", tui->reviewer);
	jw_key(w, "config");
	jw_object(w);
	if (tui->workspace)
		jw_member_raw(w, "sandbox_workspace_write", str_of(tui->workspace));
	if (tui->effort)
		jw_member_cstr(w, "model_reasoning_effort", tui->effort);
	jw_object_end(w);
}

void on_slash_approvals(struct tui *tui, struct str text)
{
	on_slash_permissions(tui, text);
}

void tui_settings_show(struct tui *tui, const struct ev_session_configured *session)
{
	tui->permissions = NULL;
	take_policies(tui, session->sandbox_policy, session->approval_policy, session->approvals_reviewer);
	for (size_t i = 0; i < countof(presets); i++) {
		if (session->sandbox_policy->tag == presets[i].mode &&
		    session->approval_policy->tag == presets[i].approval &&
		    session->approvals_reviewer == presets[i].reviewer)
			tui->permissions = presets[i].label;
	}
}

/* ---- the personality ---- */

static void on_personality_chosen(const struct tui_chosen *chosen, void *self)
{
	int value;
	if (chosen->at < 0 || !enum_parse(&enum_personality, chosen->label, &value))
		return;
	struct op_override_turn_context op = {.has_personality = true, .personality = (enum personality)value};
	tui_submit(self, OP_override_turn_context, &op);
}

void on_slash_personality(struct tui *tui, struct str text)
{
	static const struct tui_choice items[] = {{"none", NULL, 0}, {"friendly", NULL, 0}, {"pragmatic", NULL, 0}};
	struct tui_choices what = {.title = STR("Select the tone of the answers\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .on_chosen = on_personality_chosen};
	(void)text;
	open_list(tui, &what);
}

/* ---- experimental features, as with `codex features` ---- */

static void on_features_saved(struct tui *tui, bool is_saved)
{
	if (is_saved)
		tui_cells_note(tui->cells, STR("Saved in config.toml, for new sessions. /config names the option or "
		                               "the file that decides otherwise, if there is one."));
}

/* Writes what has changed, so that the defaults of later versions count for the others. */
static void on_checked(const struct tui_checklist *list, void *self)
{
	struct tui *tui = self;
	const char *words[2 * CHECKS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct tui_check *item = &list->items[i];
		if (item->is_on == feature_is_on(tui->config, str_of(item->label)))
			continue;
		words[count++] = xasprintf("features.%s", item->label);
		words[count++] = xstrdup(item->is_on ? "true" : "false");
	}
	if (count)
		tui_save(tui, words, count, on_features_saved);
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)words[i]);
}

void on_slash_experimental(struct tui *tui, struct str text)
{
	struct tui_checklist list = {.title = "Experimental features",
	                             .hint = "  space on, off · enter save · esc back",
	                             .on_saved = on_checked,
	                             .self = tui};
	const char *name, *about;
	(void)text;
	for (size_t i = 0; list.count < CHECKS_MAX && (name = feature_name_at(i)); i++) {
		if ((about = feature_about(str_of(name))))
			list.items[list.count++] =
				(struct tui_check){name, about, feature_is_on(tui->config, str_of(name))};
	}
	tui_checklist_open(tui->ask, &list);
}
