/* A snapshot is built once and shared. Its strings are in its own arena, so a change copies the strings of the old
 * snapshot. */
#include "engine/session/settings.h"

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "command/shell.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_required.h"
#include "model/prompt.h"
#include "remote/environment.h"
#include "protocol/message/approval.h"

struct settings *settings_ref(struct settings *settings)
{
	settings->refs++;
	return settings;
}

static void drop_places(struct settings *settings)
{
	if (settings->environment)
		environment_unref(settings->environment);
	for (size_t i = 0; i < settings->further_count; i++)
		if (settings->further[i].environment)
			environment_unref(settings->further[i].environment);
	settings->environment = NULL;
	settings->further_count = 0;
}

void settings_unref(struct settings *settings)
{
	if (!settings || --settings->refs > 0)
		return;
	drop_places(settings);
	struct arena arena = settings->arena;
	arena_finish(&arena);
}

static struct settings *settings_alloc(void)
{
	struct arena arena = {0};
	struct settings *settings = arena_new(&arena, struct settings);
	settings->arena = arena;
	settings->refs = 1;
	return settings;
}

/* Sets the model's properties from the catalog, with the overrides of the configuration. */
static void fill_info(struct settings *settings, const struct config *config)
{
	settings->info = model_catalog_get(str_of(settings->model));
	if (!settings->has_summary)
		settings->summary = settings->info.default_summary;
	if (config->is_set.model_context_window)
		settings->info.context_window = config->model_context_window;
	else if (settings->served_window)
		settings->info.context_window = settings->served_window;
	if (config->is_set.model_supports_reasoning_summaries)
		settings->info.has_reasoning = config->model_supports_reasoning_summaries;
	if (config->model_supports_reasoning_summaries && !settings->has_summary)
		settings->summary = reasoning_summary_auto;
	settings->compact_limit = settings->info.context_window / 10 * 9;
	if (config->is_set.model_auto_compact_token_limit &&
	    config->model_auto_compact_token_limit < settings->compact_limit)
		settings->compact_limit = config->model_auto_compact_token_limit;
	if (!config->is_set.tool_output_token_limit)
		return;
	bool in_tokens = settings->info.output_budget.unit == TEXT_TOKENS;
	settings->info.output_budget.limit = (size_t)config->tool_output_token_limit * (in_tokens ? 1 : 4);
}

void settings_serve_window(struct settings *settings, const struct config *config, int64_t window)
{
	settings->served_window = window;
	fill_info(settings, config);
}

const char *settings_folder(const struct settings *settings)
{
	return settings->environment ? settings->environment_cwd : settings->cwd;
}

const char *settings_folder_of(const struct settings *settings, const struct environment_place *place)
{
	(void)settings;
	return place->cwd.ptr;
}

bool settings_have_remote(const struct settings *settings)
{
	bool has_remote = settings->environment;
	for (size_t i = 0; i < settings->further_count; i++)
		has_remote |= settings->further[i].environment != NULL;
	return has_remote;
}

bool settings_name_places(const struct settings *settings)
{
	return settings->environment || settings->further_count;
}

/* True if calls that name no place act on the same machine, in the same folder. */
static bool have_same_folder(const struct settings *a, const struct settings *b)
{
	return str_eq(environment_id(a->environment), environment_id(b->environment)) &&
	       strcmp(settings_folder(a), settings_folder(b)) == 0;
}

bool settings_have_same_places(const struct settings *a, const struct settings *b)
{
	bool is_same = have_same_folder(a, b) && a->further_count == b->further_count;
	for (size_t i = 0; is_same && i < a->further_count; i++)
		is_same =
			str_eq(environment_id(a->further[i].environment), environment_id(b->further[i].environment)) &&
			strcmp(settings_folder_of(a, &a->further[i]), settings_folder_of(b, &b->further[i])) == 0;
	return is_same;
}

const char *settings_shell(const struct settings *settings)
{
	return shell_base_name(settings->environment ? settings->environment->shell : shell_user());
}

/* Converts the sandbox of the wire for sandbox/. */
static void fill_policy(struct settings *settings)
{
	static const enum sandbox_mode modes[] = {
		[sandbox_read_only] = sandbox_mode_read_only,
		[sandbox_workspace_write] = sandbox_mode_workspace_write,
		[sandbox_danger_full_access] = sandbox_mode_danger_full_access,
		[sandbox_external_sandbox] = sandbox_mode_external_sandbox,
	};
	const struct sandbox *sandbox = settings->sandbox;
	struct sandbox_policy *policy = &settings->sandbox_policy;
	*policy = (struct sandbox_policy){
		.mode = modes[sandbox->tag],
		.backend = policy->backend,
		.home = policy->home,
		.cwd = settings_folder(settings),
		.tmpdir = config_env("TMPDIR"),
		.network_access = sandbox->tag == sandbox_danger_full_access,
	};
	if (sandbox->tag == sandbox_external_sandbox)
		policy->network_access = sandbox->external_sandbox->network_access == network_access_enabled;
	if (sandbox->tag != sandbox_workspace_write)
		return;
	const struct workspace_write *write = sandbox->workspace_write;
	const char **roots = arena_array(&settings->arena, const char *, write->writable_roots_count + 1);
	for (size_t i = 0; i < write->writable_roots_count; i++)
		roots[i] = write->writable_roots[i].ptr;
	policy->writable_roots = roots;
	policy->writable_root_count = write->writable_roots_count;
	policy->network_access = write->network_access;
	policy->exclude_tmpdir = write->exclude_tmpdir_env_var;
	policy->exclude_slash_tmp = write->exclude_slash_tmp;
}

static void set_sandbox(struct settings *settings, const struct sandbox *sandbox)
{
	struct sandbox *copy = arena_new(&settings->arena, struct sandbox);
	union_copy(&union_sandbox, sandbox, &settings->arena, copy);
	settings->sandbox = copy;
}

static void sandbox_of_config(struct settings *settings, const struct config *config)
{
	const struct config_sandbox *details = &config->sandbox_workspace_write;
	struct workspace_write write = {
		.writable_roots = (struct str *)(uintptr_t)details->writable_roots.items,
		.writable_roots_count = details->writable_roots.count,
		.network_access = details->network_access,
		.exclude_tmpdir_env_var = details->exclude_tmpdir_env_var,
		.exclude_slash_tmp = details->exclude_slash_tmp,
	};
	struct sandbox sandbox = {.tag = sandbox_read_only};
	if (config->sandbox_mode == sandbox_mode_danger_full_access)
		sandbox.tag = sandbox_danger_full_access;
	else if (config->sandbox_mode == sandbox_mode_workspace_write)
		sandbox = (struct sandbox){.tag = sandbox_workspace_write, .workspace_write = &write};
	set_sandbox(settings, &sandbox);
}

/* Takes a word of the configuration; the provider decides what an unknown one means. */
static void set_effort(struct settings *settings, const char *word)
{
	int effort = reasoning_effort_unset;
	bool is_known = enum_parse(&enum_reasoning_effort, str_of(word), &effort);
	settings->effort = (enum reasoning_effort)effort;
	settings->effort_word = is_known ? NULL : arena_cstr(&settings->arena, str_of(word));
}

static bool has_effort(const struct settings *settings)
{
	return settings->effort != reasoning_effort_unset || settings->effort_word;
}

/* In plan mode without a chosen effort, uses the configured one, else medium, which current clients preselect. */
static void fill_plan_effort(struct settings *settings, const struct config *config, bool has_preset)
{
	if (settings->mode != mode_kind_plan)
		return;
	if (config->plan_mode_reasoning_effort)
		set_effort(settings, config->plan_mode_reasoning_effort);
	else if (has_preset && !has_effort(settings))
		settings->effort = reasoning_effort_medium;
}

/* With some models the administrator requires the automatic reviewer. */
static void require_review(struct settings *settings, const struct config *config)
{
	if (config_required_review_for(config_required(config), settings->model))
		settings->reviewer = approvals_reviewer_auto_review;
}

struct settings *settings_create(const struct config *config, const char *cwd, const char *fallback_model)
{
	struct settings *settings = settings_alloc();
	struct str fallback = fallback_model ? str_of(fallback_model) : model_catalog_default().slug;
	settings->model = arena_cstr(&settings->arena, config->model ? str_of(config->model) : fallback);
	settings->cwd = arena_cstr(&settings->arena, str_of(cwd));
	settings->approval_policy = approval_copy(config->approval_policy, &settings->arena);
	settings->reviewer = config->approvals_reviewer;
	require_review(settings, config);
	if (config->model_reasoning_effort)
		set_effort(settings, config->model_reasoning_effort);
	settings->has_summary = config->is_set.model_reasoning_summary;
	settings->summary = config->model_reasoning_summary;
	settings->verbosity = config->model_verbosity;
	settings->sandbox_policy.backend = config->sandbox_backend;
	settings->sandbox_policy.home = arena_cstr(&settings->arena, str_of(config_home(config)));
	settings->personality = config->features.personality ? config->personality : personality_none;
	settings->mode = config->collaboration_mode;
	settings->describes_mode = config->include_collaboration_mode_instructions;
	fill_plan_effort(settings, config, true);
	sandbox_of_config(settings, config);
	fill_info(settings, config);
	fill_policy(settings);
	return settings;
}

static int set_cwd(struct settings *settings, struct str cwd, struct error *err)
{
	auto_free char *text = str_dup(cwd);
	if (text[0] != '/')
		return error_set(err, ERR_invalid, "cwd is not absolute: %s", text);
	auto_free char *clean = path_normalize(text);
	if (!dir_exists(clean))
		return error_set(err, ERR_invalid, "cwd is not a folder: %s", clean);
	settings->cwd = arena_cstr(&settings->arena, str_of(clean));
	return 0;
}

static void set_environment(struct settings *settings, struct environment *environment, struct str cwd,
                            const struct environment_place *further, size_t further_count)
{
	drop_places(settings);
	settings->environment = environment ? environment_ref(environment) : NULL;
	settings->environment_cwd = environment ? arena_cstr(&settings->arena, cwd) : NULL;
	settings->further = arena_array(&settings->arena, struct environment_place, further_count);
	settings->further_count = further_count;
	for (size_t i = 0; i < further_count; i++) {
		struct environment *it = further[i].environment;
		settings->further[i] = (struct environment_place){it ? environment_ref(it) : NULL,
		                                                  arena_str(&settings->arena, further[i].cwd)};
	}
}

/* Applies a mode, whose model and effort take precedence over the plain fields. */
static void set_mode(struct settings *settings, const struct collaboration_mode *mode, const struct config *config)
{
	settings->mode = mode->mode;
	settings->model = arena_cstr(&settings->arena, mode->settings->model);
	settings->effort =
		mode->settings->has_reasoning_effort ? mode->settings->reasoning_effort : reasoning_effort_unset;
	if (settings->effort != reasoning_effort_unset)
		settings->effort_word = NULL;
	if (settings->effort == reasoning_effort_unset)
		fill_plan_effort(settings, config, false);
	struct str text = mode->settings->developer_instructions;
	settings->mode_instructions = text.ptr ? arena_cstr(&settings->arena, text) : NULL;
}

struct str settings_default_mode_text(enum mode_kind mode)
{
	return mode == mode_kind_plan ? prompt_mode_plan : prompt_mode_default;
}

struct str settings_mode_text(const struct settings *settings)
{
	if (settings->mode_instructions)
		return str_of(settings->mode_instructions);
	return settings->describes_mode ? settings_default_mode_text(settings->mode) : STR_NONE;
}

static struct settings *settings_copy(const struct settings *base)
{
	struct settings *settings = settings_alloc();
	struct arena arena = settings->arena;
	*settings = *base;
	settings->refs = 1;
	settings->arena = arena;
	settings->model = arena_cstr(&settings->arena, str_of(base->model));
	settings->cwd = arena_cstr(&settings->arena, str_of(base->cwd));
	settings->environment = NULL;
	settings->further_count = 0;
	set_environment(settings, base->environment, str_of(base->environment_cwd), base->further, base->further_count);
	settings->sandbox_policy.home = arena_cstr(&settings->arena, str_of(base->sandbox_policy.home));
	if (base->effort_word)
		settings->effort_word = arena_cstr(&settings->arena, str_of(base->effort_word));
	if (base->mode_instructions)
		settings->mode_instructions = arena_cstr(&settings->arena, str_of(base->mode_instructions));
	settings->approval_policy = approval_copy(base->approval_policy, &settings->arena);
	set_sandbox(settings, base->sandbox);
	return settings;
}

/* Checks what the change sets against the administrator's requirements. */
static int check_permitted(const struct settings *settings, const struct settings *base, const struct config *config,
                           const struct settings_change *change, struct error *err)
{
	const struct config_required *required = config_required(config);
	if (change->approval_policy && config_required_check_approval(required, settings->approval_policy, err) != 0)
		return -ERR_denied;
	if (change->has_reviewer && config_required_check_reviewer(required, settings->reviewer, err) != 0)
		return -ERR_denied;
	/* together with another model the reviewer is replaced */
	if (change->has_reviewer && strcmp(settings->model, base->model) == 0 &&
	    config_required_check_review(required, settings->model, settings->reviewer, err) != 0)
		return -ERR_denied;
	return change->sandbox ? config_required_check_policy(required, change->sandbox, err) : 0;
}

struct settings_change settings_change_of(const struct op_configure_session *op)
{
	return (struct settings_change){
		.model = op->model,
		.cwd = op->cwd,
		.approval_policy = op->approval_policy,
		.has_reviewer = op->has_approvals_reviewer,
		.reviewer = op->approvals_reviewer,
		.sandbox = op->sandbox_policy,
		.has_effort = op->has_model_reasoning_effort,
		.effort = op->model_reasoning_effort,
		.has_summary = op->has_model_reasoning_summary,
		.summary = op->model_reasoning_summary,
	};
}

struct settings *settings_with(const struct settings *base, const struct config *config,
                               const struct settings_change *change, struct error *err)
{
	struct settings *settings = settings_copy(base);
	if (change->model.ptr)
		settings->model = arena_cstr(&settings->arena, change->model);
	if (change->approval_policy)
		settings->approval_policy = approval_copy(change->approval_policy, &settings->arena);
	if (change->has_reviewer)
		settings->reviewer = change->reviewer;
	if (change->has_effort) {
		settings->effort = change->effort;
		settings->effort_word = NULL;
	}
	if (change->has_summary) {
		settings->has_summary = true;
		settings->summary = change->summary;
	}
	if (change->has_personality && config->features.personality)
		settings->personality = change->personality;
	if (change->sandbox)
		set_sandbox(settings, change->sandbox);
	if (change->has_environment)
		set_environment(settings, change->environment, change->environment_cwd, change->further,
		                change->further_count);
	if (change->mode)
		set_mode(settings, change->mode, config);
	if (change->cwd.ptr && set_cwd(settings, change->cwd, err) != 0) {
		settings_unref(settings);
		return NULL;
	}
	for (size_t i = 0; i < settings->further_count; i++)
		if (!settings->further[i].environment)
			settings->further[i].cwd = str_of(settings->cwd);
	if (strcmp(settings->model, base->model) != 0)
		settings->served_window = 0;
	fill_info(settings, config);
	fill_policy(settings);
	if (check_permitted(settings, base, config, change, err) != 0) {
		settings_unref(settings);
		return NULL;
	}
	require_review(settings, config);
	return settings;
}

enum reasoning_effort settings_shown_effort(const struct settings *settings)
{
	if (settings->effort != reasoning_effort_unset)
		return settings->effort;
	enum reasoning_effort own = settings->info.default_effort;
	return own != reasoning_effort_unset ? own : reasoning_effort_medium;
}
