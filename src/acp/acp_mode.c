/* A mode is a pair of approval policy and sandbox. The mode at the start is the one that config.toml amounts to.
 * Writable folders and network access of `workspace-write` are those of [sandbox_workspace_write]. */
#include "acp/acp_mode.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_required.h"
#include "model/model_catalog.h"

static const struct {
	struct str id, name, doc;
	enum ask_for_approval_tag approval;
	enum approvals_reviewer reviewer;
	enum sandbox_tag sandbox;
} modes[ACP_MODE_count] = {
#define MODE(tag, id, name, approval, reviewer, sandbox, doc)                                \
	{{id, sizeof(id) - 1},        {name, sizeof(name) - 1},      {doc, sizeof(doc) - 1}, \
	 ask_for_approval_##approval, approvals_reviewer_##reviewer, sandbox_##sandbox},
#include "acp/acp_mode.def"
#undef MODE
};

static struct acp_option_value value_of(struct str value, struct str name, struct str description)
{
	return (struct acp_option_value){value, name, description};
}

void acp_choices_finish(struct acp_choices *choices)
{
	free(choices->model);
	free(choices->configured_model);
}

static enum acp_mode find_mode(const struct ev_session_configured *event)
{
	for (int i = ACP_MODE_config + 1; i < ACP_MODE_count; i++) {
		if (modes[i].approval == event->approval_policy->tag &&
		    modes[i].sandbox == event->sandbox_policy->tag && modes[i].reviewer == event->approvals_reviewer)
			return (enum acp_mode)i;
	}
	return ACP_MODE_config;
}

void acp_choices_init(struct acp_choices *choices, const struct ev_session_configured *event,
                      enum mode_kind collaboration)
{
	*choices = (struct acp_choices){
		.mode = find_mode(event),
		.collaboration = collaboration,
		.model = str_dup(event->model),
		.configured_model = str_dup(event->model),
		.has_effort = event->has_reasoning_effort,
		.effort = event->reasoning_effort,
	};
	choices->active_mode = choices->mode;
	choices->has_config_mode = choices->mode == ACP_MODE_config;
}

static bool is_offered(const struct acp_choices *choices, int mode)
{
	return mode != ACP_MODE_config || choices->has_config_mode;
}

struct acp_mode_state *acp_mode_state_make(const struct acp_choices *choices, struct arena *arena)
{
	struct acp_mode_state *ret = arena_new(arena, struct acp_mode_state);
	ret->current_mode_id = modes[choices->mode].id;
	ret->available_modes = arena_array(arena, struct acp_mode_info, ACP_MODE_count);
	for (int i = 0; i < ACP_MODE_count; i++) {
		if (is_offered(choices, i))
			ret->available_modes[ret->available_modes_count++] =
				(struct acp_mode_info){modes[i].id, modes[i].name, modes[i].doc};
	}
	return ret;
}

/* ---- options ---- */

static struct acp_option_info mode_option(const struct acp_choices *choices, struct arena *arena)
{
	struct acp_option_info ret = {STR("mode"),
	                              STR("Mode"),
	                              STR("mode"),
	                              STR("select"),
	                              modes[choices->mode].id,
	                              arena_array(arena, struct acp_option_value, ACP_MODE_count),
	                              0};
	for (int i = 0; i < ACP_MODE_count; i++) {
		if (is_offered(choices, i))
			ret.options[ret.options_count++] = value_of(modes[i].id, modes[i].name, modes[i].doc);
	}
	return ret;
}

static struct acp_option_info collaboration_option(const struct acp_choices *choices, struct arena *arena)
{
	struct acp_option_value *values = arena_array(arena, struct acp_option_value, 2);
	values[0] = value_of(STR("default"), STR("Default"), STR("The model does the work."));
	values[1] = value_of(STR("plan"), STR("Plan"), STR("The model asks, explores and proposes a plan first."));
	return (struct acp_option_info){STR("collaboration_mode"),
	                                STR("Collaboration"),
	                                STR("collaboration_mode"),
	                                STR("select"),
	                                values[choices->collaboration == mode_kind_plan].value,
	                                values,
	                                2};
}

static size_t count_models(void)
{
	struct model_info info;
	size_t count = 0;
	while (model_catalog_at(count, &info))
		count++;
	return count;
}

static bool has_value(const struct acp_option_info *option, struct str value)
{
	for (size_t i = 0; i < option->options_count; i++) {
		if (str_eq(option->options[i].value, value))
			return true;
	}
	return false;
}

static struct acp_option_info model_option(const struct acp_choices *choices, struct arena *arena)
{
	struct model_info info;
	struct acp_option_info ret = {STR("model"),
	                              STR("Model"),
	                              STR("model"),
	                              STR("select"),
	                              str_of(choices->model),
	                              arena_array(arena, struct acp_option_value, count_models() + 2),
	                              0};
	for (size_t i = 0; model_catalog_at(i, &info); i++) {
		if (!info.is_hidden)
			ret.options[ret.options_count++] = value_of(info.slug, str_of(info.name), str_of(info.about));
	}
	const char *others[] = {choices->configured_model, choices->model};
	for (size_t i = 0; i < countof(others); i++) {
		if (!has_value(&ret, str_of(others[i])))
			ret.options[ret.options_count++] = value_of(str_of(others[i]), str_of(others[i]), STR_NONE);
	}
	return ret;
}

static struct str effort_word(int effort)
{
	return str_of(enum_wire(&enum_reasoning_effort, effort));
}

/* Returns false if the model is unknown or takes no effort. */
static bool effort_option(const struct acp_choices *choices, struct arena *arena, struct acp_option_info *ret)
{
	struct model_info info = model_catalog_get(str_of(choices->model));
	if (!info.is_known || !info.efforts)
		return false;
	bool is_chosen = choices->has_effort && choices->effort != reasoning_effort_unset;
	*ret = (struct acp_option_info){
		.id = STR("reasoning_effort"),
		.name = STR("Reasoning effort"),
		.category = STR("thought_level"),
		.type = STR("select"),
		.current_value = effort_word(is_chosen ? (int)choices->effort : (int)info.default_effort),
		.options = arena_array(arena, struct acp_option_value, reasoning_effort_count + 1),
	};
	for (int i = reasoning_effort_none; i < reasoning_effort_count; i++) {
		if (model_info_has_effort(&info, (enum reasoning_effort)i))
			ret->options[ret->options_count++] = value_of(effort_word(i), effort_word(i), STR_NONE);
	}
	if (!has_value(ret, ret->current_value)) /* of config.toml: the provider decides whether it is valid */
		ret->options[ret->options_count++] = value_of(ret->current_value, ret->current_value, STR_NONE);
	return true;
}

struct acp_option_info *acp_options_make(const struct acp_choices *choices, struct arena *arena, size_t *ret_count)
{
	struct acp_option_info *ret = arena_array(arena, struct acp_option_info, 4);
	ret[0] = mode_option(choices, arena);
	ret[1] = collaboration_option(choices, arena);
	ret[2] = model_option(choices, arena);
	*ret_count = effort_option(choices, arena, &ret[3]) ? 4 : 3;
	return ret;
}

/* ---- changes ---- */

bool acp_mode_set(struct acp_choices *choices, struct str id)
{
	for (int i = 0; i < ACP_MODE_count; i++) {
		if (!is_offered(choices, i) || !str_eq(modes[i].id, id))
			continue;
		choices->is_policy_changed |= choices->mode != (enum acp_mode)i;
		choices->mode = (enum acp_mode)i;
		return true;
	}
	return false;
}

static void set_model(struct acp_choices *choices, struct str value)
{
	struct model_info info = model_catalog_get(value);
	char *model = str_dup(value);
	free(choices->model);
	choices->model = model;
	choices->is_model_changed = true;
	if (choices->has_effort && !model_info_has_effort(&info, choices->effort)) {
		choices->has_effort = true; /* the engine must forget it, too */
		choices->effort = reasoning_effort_unset;
	}
}

bool acp_option_set(struct acp_choices *choices, struct str id, struct str value, const char **ret_wrong)
{
	auto_arena struct arena arena = {0};
	size_t count;
	int word;
	const struct acp_option_info *options = acp_options_make(choices, &arena, &count), *option = NULL;
	for (size_t i = 0; i < count; i++) {
		if (str_eq(options[i].id, id))
			option = &options[i];
	}
	*ret_wrong = option ? "value" : "option";
	if (!option || !value.ptr || !has_value(option, value))
		return false;
	if (str_is(id, "mode"))
		return acp_mode_set(choices, value);
	if (str_is(id, "model")) {
		set_model(choices, value);
	} else if (str_is(id, "reasoning_effort") && enum_parse(&enum_reasoning_effort, value, &word)) {
		choices->has_effort = choices->is_model_changed = true;
		choices->effort = (enum reasoning_effort)word;
	} else if (enum_parse(&enum_mode_kind, value, &word)) {
		choices->is_collaboration_changed = true;
		choices->collaboration = (enum mode_kind)word;
	}
	return true;
}

/* ---- for the engine ---- */

static enum ask_for_approval_tag approval_tag(enum acp_mode mode, const struct config *config)
{
	return mode == ACP_MODE_config ? config->approval_policy->tag : modes[mode].approval;
}

const char *acp_choices_approval(const struct acp_choices *choices, const struct config *config)
{
	return union_find_tag(&union_ask_for_approval, (int)approval_tag(choices->mode, config))->wire;
}

bool acp_choices_may_ask(const struct acp_choices *choices, const struct config *config)
{
	return approval_tag(choices->active_mode, config) != ask_for_approval_never;
}

static struct str *join_roots(const struct config *config, const struct str *roots, size_t count, struct arena *arena,
                              size_t *ret_count)
{
	const struct config_strings *own = &config->sandbox_workspace_write.writable_roots;
	struct str *ret = arena_array(arena, struct str, own->count + count + 1);
	for (size_t i = 0; i < own->count; i++)
		ret[i] = own->items[i];
	for (size_t i = 0; i < count; i++)
		ret[own->count + i] = roots[i];
	*ret_count = own->count + count;
	return ret;
}

struct sandbox *acp_mode_sandbox(enum acp_mode mode, const struct config *config, const struct str *roots,
                                 size_t root_count, struct arena *arena)
{
	static const enum sandbox_tag tags[] = {
		[sandbox_mode_read_only] = sandbox_read_only,
		[sandbox_mode_workspace_write] = sandbox_workspace_write,
		[sandbox_mode_danger_full_access] = sandbox_danger_full_access,
		[sandbox_mode_external_sandbox] = sandbox_external_sandbox,
	};
	const struct config_sandbox *own = &config->sandbox_workspace_write;
	struct sandbox *ret = arena_new(arena, struct sandbox);
	ret->tag = mode == ACP_MODE_config ? tags[config->sandbox_mode] : modes[mode].sandbox;
	if (ret->tag == sandbox_external_sandbox)
		ret->external_sandbox = arena_new(arena, struct external_sandbox);
	if (ret->tag != sandbox_workspace_write)
		return ret;
	ret->workspace_write = arena_new(arena, struct workspace_write);
	*ret->workspace_write = (struct workspace_write){
		.network_access = own->network_access,
		.exclude_tmpdir_env_var = own->exclude_tmpdir_env_var,
		.exclude_slash_tmp = own->exclude_slash_tmp,
	};
	ret->workspace_write->writable_roots =
		join_roots(config, roots, root_count, arena, &ret->workspace_write->writable_roots_count);
	return ret;
}

static struct ask_for_approval *approval_of(enum acp_mode mode, const struct config *config, struct arena *arena)
{
	struct ask_for_approval *ret = arena_new(arena, struct ask_for_approval);
	ret->tag = modes[mode].approval;
	if (mode == ACP_MODE_config)
		union_copy(&union_ask_for_approval, config->approval_policy, arena, ret);
	return ret;
}

int acp_mode_check(const struct acp_choices *choices, const struct config *config, struct str id, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct config_required *required = config_required(config);
	int mode = ACP_MODE_config + 1;
	while (mode < ACP_MODE_count && !str_eq(modes[mode].id, id))
		mode++;
	if (mode == ACP_MODE_count) /* the settings of the configuration are within the requirements */
		return 0;
	int status = config_required_check_review(required, choices->model, modes[mode].reviewer, err);
	if (status == 0)
		status = config_required_check_reviewer(required, modes[mode].reviewer, err);
	if (status == 0)
		status = config_required_check_approval(required, approval_of(mode, config, &arena), err);
	return status == 0
	               ? config_required_check_policy(required, acp_mode_sandbox(mode, config, NULL, 0, &arena), err)
	               : status;
}

static struct collaboration_mode *collaboration_of(const struct acp_choices *choices, struct arena *arena)
{
	struct collaboration_mode *ret = arena_new(arena, struct collaboration_mode);
	struct mode_settings *settings = arena_new(arena, struct mode_settings);
	*settings = (struct mode_settings){
		.model = str_of(choices->model),
		.has_reasoning_effort = choices->has_effort,
		.reasoning_effort = choices->effort,
	};
	*ret = (struct collaboration_mode){choices->collaboration, settings};
	return ret;
}

bool acp_choices_take(struct acp_choices *choices, const struct config *config, const struct str *roots,
                      size_t root_count, struct arena *arena, struct op_override_turn_context *ret)
{
	*ret = (struct op_override_turn_context){0};
	choices->active_mode = choices->mode;
	if (choices->is_policy_changed) {
		ret->approval_policy = approval_of(choices->mode, config, arena);
		ret->has_approvals_reviewer = true;
		ret->approvals_reviewer =
			choices->mode == ACP_MODE_config ? config->approvals_reviewer : modes[choices->mode].reviewer;
		ret->sandbox_policy = acp_mode_sandbox(choices->mode, config, roots, root_count, arena);
	}
	if (choices->is_model_changed) {
		ret->model = str_of(choices->model);
		ret->has_effort = choices->has_effort;
		ret->effort = choices->effort;
	}
	if (choices->is_collaboration_changed ||
	    (choices->is_model_changed && choices->collaboration != mode_kind_default))
		ret->collaboration_mode = collaboration_of(choices, arena);
	bool is_changed = choices->is_policy_changed || choices->is_model_changed || choices->is_collaboration_changed;
	choices->is_policy_changed = choices->is_model_changed = choices->is_collaboration_changed = false;
	return is_changed;
}

void acp_choices_repeat(struct acp_choices *choices)
{
	choices->is_policy_changed = choices->is_model_changed = choices->is_collaboration_changed = true;
}
