/* The catalog is compiled in, so the first prompt does not wait for a list of models. A list of the account that an
 * earlier run has kept replaces rows of it (model_list.h).
 * A lookup scans a few dozen rows once per turn; an index would cost more than it saves. */
#include "model/model_catalog.h"

#include "base/json.h"
#include "base/mem.h"
#include "model/model_catalog_priv.h"

enum model_flag {
	HIDDEN = 1,
	DEFAULT = 2,
	REASONS = 4,
	PARALLEL = 8,
	IMAGES = 16,
	PERSONALITY = 32,
	SEARCH = 64,
	CODE = 128,
	GPT6 = 256,
	UPDATES = 512,
	AGENTS_V1 = 1024,
	HASH_2911 = 2048,
};

enum { OUTPUT_BUDGET = 10000, WINDOW_PERCENT = 95, FALLBACK_WINDOW = 272000, FALLBACK_OUTPUT = 128000 };

struct model_row {
	const char *slug, *name, *about;
	int64_t window, output;
	uint32_t efforts;
	enum reasoning_effort effort;
	enum reasoning_summary summary;
	enum verbosity verbosity;
	enum model_patch_form patch;
	enum truncation_mode unit;
	unsigned flags;
};

#define EFFORT(name) (1u << reasoning_effort_##name)
/* clang-format off */
static const struct model_row rows[] = {
#define MODEL(slug, name, window, output, efforts, effort, summary, verbosity, patch, unit, flags, about) \
	{slug, name, about, window, output, efforts, reasoning_effort_##effort, reasoning_summary_##summary, \
	 verbosity_##verbosity, MODEL_PATCH_##patch, truncation_mode_##unit, flags},
#include "model/model.def"
#undef MODEL
};
/* clang-format on */
#undef EFFORT

/* Limited to parameters that every server of the Responses API accepts: no reasoning, no verbosity, no free-form
 * tools. */
static const struct model_info fallback = {
	.name = "",
	.about = "",
	.context_window = FALLBACK_WINDOW,
	.window_percent = WINDOW_PERCENT,
	.max_output = FALLBACK_OUTPUT,
	.default_summary = reasoning_summary_none,
	.patch_form = MODEL_PATCH_function,
	.output_budget = {TEXT_BYTES, OUTPUT_BUDGET},
	.has_parallel_calls = true,
	.has_image_input = true,
};

static struct str hash_of(const struct model_row *row)
{
	if (row->flags & CODE)
		return STR("3000");
	return row->flags & HASH_2911 ? STR("2911") : STR_NONE;
}

static struct model_info info_of(const struct model_row *row)
{
	return (struct model_info){
		.slug = str_of(row->slug),
		.name = row->name,
		.about = row->about,
		.context_window = row->window,
		.window_percent = WINDOW_PERCENT,
		.max_output = row->output,
		.efforts = row->efforts,
		.default_effort = row->effort,
		.default_summary = row->summary,
		.default_verbosity = row->verbosity,
		.patch_form = row->patch,
		.output_budget = {row->unit == truncation_mode_tokens ? TEXT_TOKENS : TEXT_BYTES, OUTPUT_BUDGET},
		.is_known = true,
		.is_default = row->flags & DEFAULT,
		.is_hidden = row->flags & HIDDEN,
		.has_reasoning = row->flags & REASONS,
		.has_verbosity = row->verbosity != verbosity_unset,
		.has_parallel_calls = row->flags & PARALLEL,
		.has_image_input = row->flags & IMAGES,
		.has_personality = row->flags & PERSONALITY,
		.has_tool_search = row->flags & SEARCH,
		.is_lite = row->flags & CODE,
		.is_code_only = row->flags & CODE,
		.is_gpt6 = row->flags & GPT6,
		.has_effort_updates = row->flags & UPDATES,
		.has_agents_v1 = row->flags & AGENTS_V1,
		.comp_hash = hash_of(row),
	};
}

static bool is_variant_of(struct str slug, struct str base)
{
	if (slug.len < base.len || memcmp(slug.ptr, base.ptr, base.len) != 0)
		return false;
	return slug.len == base.len || strchr("-:@", slug.ptr[base.len]) != NULL;
}

static const struct model_row *find_row(struct str slug)
{
	const struct model_row *best = NULL;
	for (size_t i = 0; i < countof(rows); i++) {
		if (is_variant_of(slug, str_of(rows[i].slug)) && (!best || strlen(rows[i].slug) > strlen(best->slug)))
			best = &rows[i];
	}
	return best;
}

static const struct model_info *find_loaded(struct str slug)
{
	size_t count;
	const struct model_info *infos = model_catalog_loaded(&count);
	for (size_t i = 0; i < count; i++) {
		if (str_eq(infos[i].slug, slug))
			return &infos[i];
	}
	return NULL;
}

struct model_info model_catalog_get(struct str slug)
{
	const struct model_info *info = find_loaded(slug);
	return info ? *info : model_catalog_built_in(slug);
}

struct model_info model_catalog_built_in(struct str slug)
{
	ptrdiff_t slash = str_rfind_char(slug, '/');
	const struct model_row *row = find_row(slash < 0 ? slug : str_skip(slug, (size_t)slash + 1));
	struct model_info info = row ? info_of(row) : fallback;
	info.slug = slug;
	return info;
}

struct model_info model_catalog_default(void)
{
	size_t i = 0;
	while (!(rows[i].flags & DEFAULT))
		i++;
	return info_of(&rows[i]);
}

bool model_catalog_at(size_t index, struct model_info *ret_info)
{
	size_t count;
	const struct model_info *infos = model_catalog_loaded(&count);
	if (index < count) {
		*ret_info = infos[index];
		return true;
	}
	index -= count;
	for (size_t i = 0; i < countof(rows); i++) {
		if (!find_loaded(str_of(rows[i].slug)) && index-- == 0) {
			*ret_info = info_of(&rows[i]);
			return true;
		}
	}
	return false;
}

bool model_info_has_effort(const struct model_info *info, enum reasoning_effort effort)
{
	return info->efforts >> effort & 1;
}

int64_t model_info_window(const struct model_info *info)
{
	int64_t window = info->context_window;
	return window / 100 * info->window_percent + window % 100 * info->window_percent / 100;
}

/* ---- servers of other models ---- */

/* vLLM and SGLang name the window in their list of models, llama-server in its properties, LM Studio and Ollama in
 * lists of their own. The window with which the model runs counts, not the one that it was trained for. */
static const struct window_question {
	const char *path; /* below the address without /v1 */
	const char *list; /* the member with the models; NULL: the window is that of the server */
	const char *key;  /* names the model of an entry */
	const char *windows[2];
} questions[] = {
	{"/v1/models", "data", "id", {"max_model_len", "context_length"}},
	{"/props", NULL, NULL, {"default_generation_settings.n_ctx"}},
	{"/api/v0/models", "data", "id", {"loaded_context_length"}},
	{"/api/ps", "models", "name", {"context_length"}},
};

const char *model_catalog_window_path(unsigned index)
{
	return index < countof(questions) ? questions[index].path : NULL;
}

int64_t model_catalog_read_window(unsigned index, const struct json *answer, struct str model)
{
	const struct window_question *question = &questions[index];
	const struct json *place = question->list ? NULL : answer;
	int64_t window = 0;
	json_for_each(entry, question->list ? json_get(answer, question->list) : NULL) {
		if (str_eq(json_get_str(entry, question->key), model))
			place = entry;
	}
	for (size_t i = 0; i < countof(question->windows) && question->windows[i] && window <= 0; i++) {
		if (!json_to_i64(json_path(place, question->windows[i]), &window))
			window = 0;
	}
	return window > 0 ? window : 0;
}
