/* Models come from the built-in catalogue only, so that a list needs no network. */
#include <stdio.h>

#include "app_server/rpc/rpc_request.h"
#include "base/mem.h"
#include "base/vec.h"
#include "model/model_catalog.h"

static const char *const effort_docs[reasoning_effort_count] = {
	[reasoning_effort_none] = "No reasoning",
	[reasoning_effort_minimal] = "Minimal reasoning",
	[reasoning_effort_low] = "Fast responses with little reasoning",
	[reasoning_effort_medium] = "Balances speed and depth for everyday work",
	[reasoning_effort_high] = "More reasoning for harder problems",
	[reasoning_effort_xhigh] = "Extensive reasoning for the hardest problems",
	[reasoning_effort_max] = "Maximum reasoning",
	[reasoning_effort_ultra] = "Maximum reasoning, with subagents that work in parallel",
};

static void fill_efforts(struct app_model *model, const struct model_info *info, struct arena *arena)
{
	struct app_reasoning_effort_option *options =
		arena_array(arena, struct app_reasoning_effort_option, reasoning_effort_count);
	size_t count = 0;
	for (int effort = reasoning_effort_none; effort < reasoning_effort_count; effort++) {
		if (model_info_has_effort(info, (enum reasoning_effort)effort))
			options[count++] = (struct app_reasoning_effort_option){(enum reasoning_effort)effort,
			                                                        str_of(effort_docs[effort])};
	}
	model->supported_reasoning_efforts = options;
	model->supported_reasoning_efforts_count = count;
}

static struct app_model make_model(const struct model_info *info, struct arena *arena)
{
	static enum app_input_modality modalities[] = {app_input_modality_text, app_input_modality_image};
	bool has_effort = info->default_effort != reasoning_effort_unset;
	struct app_model model = {
		.id = info->slug,
		.model = info->slug,
		.display_name = str_of(info->name),
		.description = str_of(info->about),
		.hidden = info->is_hidden,
		.default_reasoning_effort = has_effort ? info->default_effort : reasoning_effort_none,
		.supports_personality = info->has_personality,
		.input_modalities = modalities,
		.input_modalities_count = info->has_image_input ? 2 : 1,
		.is_default = info->is_default,
	};
	fill_efforts(&model, info, arena);
	return model;
}

/* The cursor is a decimal offset, as in codex 0.169. */
static bool read_cursor(struct str cursor, size_t count, size_t *ret)
{
	uint64_t offset = 0;
	if (cursor.ptr && (!str_to_u64(cursor, &offset) || offset > count))
		return false;
	*ret = (size_t)offset;
	return true;
}

static size_t page_size(const struct app_model_list_params *params, size_t left)
{
	if (!params->has_limit || params->limit < 0 || (uint64_t)params->limit >= left)
		return left;
	return params->limit ? (size_t)params->limit : 1;
}

enum rpc_verdict on_rpc_model_list(struct rpc_request *request, const struct app_model_list_params *params)
{
	VEC(struct app_model) models = {0};
	struct model_info info;
	size_t start = 0;
	char next[32];
	bool with_hidden = params->has_include_hidden && params->include_hidden;
	for (size_t i = 0; model_catalog_at(i, &info); i++) {
		if (with_hidden || !info.is_hidden)
			vec_push(&models, make_model(&info, &request->arena));
	}
	if (!read_cursor(params->cursor, models.count, &start)) {
		vec_finish(&models);
		return rpc_fail(request, APP_INVALID_REQUEST, "invalid cursor: %.*s", STR_ARG(params->cursor));
	}
	struct app_model_list_response response = {
		.data = models.items + start,
		.data_count = page_size(params, models.count - start),
	};
	snprintf(next, sizeof(next), "%zu", start + response.data_count);
	if (start + response.data_count < models.count)
		response.next_cursor = str_of(next);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	vec_finish(&models);
	return verdict;
}
