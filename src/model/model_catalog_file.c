/* The form of the file is that of the provider's list of models and of `codex debug models`. A member that is absent
 * keeps the value of the built-in row of that slug, or of an unknown model. */
#include "model/model_catalog.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/model_catalog_priv.h"

/* The models of the file that was read last; a process uses one file. */
static struct {
	char *path;
	struct arena arena;
	struct model_info *infos;
	size_t count;
	int64_t kept_ms; /* when the provider's list was requested */
} loaded;

const struct model_info *model_catalog_loaded(size_t *ret_count)
{
	*ret_count = loaded.count;
	return loaded.infos;
}

static void read_enum(const struct enum_type *type, const struct json *model, const char *key, int *ret)
{
	int value;
	if (enum_parse(type, json_get_str(model, key), &value))
		*ret = value;
}

static void read_efforts(struct model_info *info, const struct json *model)
{
	int effort = (int)info->default_effort;
	const struct json *levels = json_get(model, "supported_reasoning_levels");
	read_enum(&enum_reasoning_effort, model, "default_reasoning_level", &effort);
	info->default_effort = (enum reasoning_effort)effort;
	info->has_reasoning |= effort != reasoning_effort_unset;
	if (!json_is(levels, JSON_array))
		return;
	info->efforts = 0;
	json_for_each(level, levels) {
		if (enum_parse(&enum_reasoning_effort, json_get_str(level, "effort"), &effort))
			info->efforts |= 1u << effort;
	}
}

static void read_output(struct model_info *info, const struct json *model)
{
	int verbosity = (int)info->default_verbosity, summary = (int)info->default_summary;
	const struct json *cut = json_get(model, "truncation_policy");
	read_enum(&enum_verbosity, model, "default_verbosity", &verbosity);
	read_enum(&enum_reasoning_summary, model, "default_reasoning_summary", &summary);
	info->default_verbosity = (enum verbosity)verbosity;
	info->default_summary = (enum reasoning_summary)summary;
	info->has_verbosity = json_get_bool(model, "support_verbosity", info->has_verbosity);
	int64_t limit = json_get_i64(cut, "limit", 0);
	if (limit > 0 && limit <= MODEL_CATALOG_OUTPUT_MAX)
		info->output_budget.limit = (size_t)limit;
	if (json_get_str(cut, "mode").ptr)
		info->output_budget.unit = str_is(json_get_str(cut, "mode"), "tokens") ? TEXT_TOKENS : TEXT_BYTES;
}

static void read_tools(struct model_info *info, const struct json *model)
{
	struct str patch = json_get_str(model, "apply_patch_tool_type"), mode = json_get_str(model, "tool_mode");
	const struct json *modalities = json_get(model, "input_modalities");
	if (patch.ptr)
		info->patch_form = str_is(patch, "freeform") ? MODEL_PATCH_freeform : MODEL_PATCH_function;
	if (mode.ptr)
		info->is_code_only = str_is(mode, "code_mode_only");
	info->is_lite = json_get_bool(model, "use_responses_lite", info->is_lite);
	info->has_parallel_calls = json_get_bool(model, "supports_parallel_tool_calls", info->has_parallel_calls);
	info->has_tool_search = json_get_bool(model, "supports_search_tool", info->has_tool_search);
	info->has_effort_updates = json_get_bool(model, "supports_reasoning_effort_updates", info->has_effort_updates);
	if (!json_is(modalities, JSON_array))
		return;
	info->has_image_input = false;
	json_for_each(it, modalities)
		info->has_image_input |= json_is(it, JSON_string) && str_is(it->text, "image");
}

static void read_model(struct model_info *info, const struct json *model)
{
	struct str name = json_get_str(model, "display_name"), about = json_get_str(model, "description");
	struct str slug = arena_str(&loaded.arena, json_get_str(model, "slug")),
		   hash = json_get_str(model, "comp_hash");
	*info = model_catalog_built_in(slug);
	info->is_known = true;
	info->name = arena_cstr(&loaded.arena, name.ptr ? name : slug);
	if (about.ptr)
		info->about = arena_cstr(&loaded.arena, about);
	if (hash.ptr)
		info->comp_hash = arena_str(&loaded.arena, hash);
	int64_t window = json_get_i64(model, "context_window", info->context_window);
	if (window >= MODEL_CATALOG_WINDOW_MIN && window <= MODEL_CATALOG_NUMBER_MAX)
		info->context_window = window;
	int64_t percent = json_get_i64(model, "effective_context_window_percent", 0);
	info->window_percent = percent > 0 && percent <= 100 ? (unsigned)percent : info->window_percent;
	if (json_get_str(model, "visibility").ptr)
		info->is_hidden = !str_is(json_get_str(model, "visibility"), "list");
	read_efforts(info, model);
	read_output(info, model);
	read_tools(info, model);
}

/* ---- files ---- */

static bool has_control(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return true;
	}
	return false;
}

bool model_catalog_is_list(const struct json *models)
{
	if (!json_is(models, JSON_array) || models->count > MODEL_CATALOG_MODELS_MAX)
		return false;
	json_for_each(model, models) {
		struct str slug = json_get_str(model, "slug");
		if (!slug.len || slug.len > LIMIT_MODEL_NAME || has_control(slug) ||
		    has_control(json_get_str(model, "display_name")))
			return false;
	}
	return true;
}

static void take(const char *path, const struct json *models)
{
	size_t count = 0;
	loaded.infos = arena_array(&loaded.arena, struct model_info, models->count + 1);
	json_for_each(model, models)
		read_model(&loaded.infos[count++], model);
	loaded.count = count;
	free(loaded.path);
	loaded.path = xstrdup(path);
}

int model_catalog_load(const char *path, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text = {0};
	if (!path || (loaded.path && strcmp(path, loaded.path) == 0))
		return 0;
	buf_init(&text, MODEL_CATALOG_FILE_MAX);
	if (file_read_regular(path, &text, err) != 0)
		return error_wrap(err, "model_catalog_json");
	const struct json *root = json_parse(&arena, buf_str(&text), err);
	if (!root)
		return error_wrap(err, "model_catalog_json: %s", path);
	const struct json *models = json_get(root, "models");
	if (!model_catalog_is_list(models))
		return error_set(err, ERR_invalid,
		                 "model_catalog_json: %s has no list \"models\" of at most %d models, each with a "
		                 "\"slug\"",
		                 path, MODEL_CATALOG_MODELS_MAX);
	take(path, models);
	return 0;
}

void model_catalog_load_kept(const char *path, struct str source)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text = {0};
	int64_t when;
	if (loaded.path)
		return;
	buf_init(&text, LIMIT_SERVER_LIST + 4 * (size_t)KIB);
	if (file_read_regular(path, &text, NULL) != 0)
		return;
	const struct json *root = json_parse(&arena, buf_str(&text), NULL), *models = json_get(root, "models");
	if (!model_catalog_is_list(models) || !str_is(json_get_str(root, "client_version"), CODEX_VERSION) ||
	    !str_eq(json_get_str(root, "identity"), source) ||
	    !clock_parse_rfc3339(json_get_str(root, "fetched_at"), &when))
		return;
	take(path, models);
	loaded.kept_ms = when;
}

int64_t model_catalog_kept_ms(void)
{
	return loaded.kept_ms;
}
