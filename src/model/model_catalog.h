/* model_catalog.h — properties of the models: those of a file, the rows of model.def, and a fallback for all other
 * names.
 *
 * Owns: the models of the file; rows are static. A model_info is a plain value that callers may change (configuration
 * overrides windows and limits). Thread: any. Errors: none; an unknown name returns the fallback (is_known is false).
 */
#ifndef MODEL_MODEL_CATALOG_H
#define MODEL_MODEL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/text.h"
#include "protocol/record/enum.h"

struct json;

/* The form of the apply_patch tool: a JSON function, which all servers of the Responses API support, or a free-form
 * tool with a grammar, which does not require the model to escape the patch as JSON. */
enum model_patch_form { MODEL_PATCH_function, MODEL_PATCH_freeform, MODEL_PATCH_none };

struct model_info {
	struct str slug; /* the name sent to the provider */
	const char *name;
	const char *about;
	int64_t context_window; /* in tokens; model_info_window is the reported size */
	unsigned window_percent;
	int64_t max_output;
	uint32_t efforts;                     /* a set of bits 1 << enum reasoning_effort */
	enum reasoning_effort default_effort; /* unset: requests omit it */
	enum reasoning_summary default_summary;
	enum verbosity default_verbosity;
	enum model_patch_form patch_form;
	struct text_budget output_budget; /* the limit of one tool output */
	bool is_known;                    /* false for the fallback, which causes one warning per session */
	bool is_default;
	bool is_hidden;     /* can be used by name, but is not listed */
	bool has_reasoning; /* accepts `reasoning` */
	bool has_verbosity; /* accepts `text.verbosity` */
	bool has_parallel_calls;
	bool has_image_input;
	bool has_personality; /* has prompts for the personalities */
	bool has_tool_search; /* searches for the tools of MCP servers, instead of having them in each request */
	bool is_lite;         /* asked in the lite form of Responses: tools and instructions are items of the history */
	bool is_code_only;    /* most tools are offered as functions of scripts alone (tool/code/) */
	bool is_gpt6;         /* its catalogue entry names the tools of the gpt-6 family */
	bool has_effort_updates;
	bool has_agents_v1;
	/* A conversation is summarised when it moves to a model with another one; STR_NONE: unknown. */
	struct str comp_hash;
};

/* Returns the model of that name. A row also matches variants of its slug: a suffix "-…", ":…" or "@…" (dates,
 * sizes) and a prefix "…/" (a provider's namespace); the longest match is used. The result's slug is the given name,
 * borrowed. */
struct model_info model_catalog_get(struct str slug);
/* Returns the default model. */
struct model_info model_catalog_default(void);
enum {
	MODEL_CATALOG_FILE_MAX = 16 * 1024 * 1024, /* bytes of model_catalog_json */
	MODEL_CATALOG_MODELS_MAX = 1024,           /* models in it */
	MODEL_CATALOG_WINDOW_MIN = 1024,           /* tokens */
	MODEL_CATALOG_OUTPUT_MAX = 1000000,        /* tokens or bytes of a tool's output */
	MODEL_CATALOG_NUMBER_MAX = 1000000000,     /* tokens or bytes in a model's numbers */
};

/* Adds the models of a JSON file, which replace rows of the same slug; NULL: no-op. A file is read once. To be called
 * before other threads use the catalog. ERR_… if it cannot be read; the catalog is then unchanged. */
must_check int model_catalog_load(const char *path, struct error *err);
/* As model_catalog_load, for a list that model_list.h has kept: only if it is of this version and source, and if no
 * file was loaded. Without effect if it cannot be read. */
void model_catalog_load_kept(const char *path, struct str source);
/* Returns when the kept list in the catalog was requested; 0 without one. */
int64_t model_catalog_kept_ms(void);
/* True for a list of models that model_catalog_load would take. */
bool model_catalog_is_list(const struct json *models);
/* Returns the row at index in picker order, including hidden ones; false past the end. */
bool model_catalog_at(size_t index, struct model_info *ret_info);

bool model_info_has_effort(const struct model_info *info, enum reasoning_effort effort);
/* Returns the context window that is reported and used as a budget: window_percent of the model's. */
int64_t model_info_window(const struct model_info *info);

/* Servers of models that the catalog does not know have the context window in an answer to GET. Returns the path of the
 * question with this index, below the address without /v1; NULL after the last. */
const char *model_catalog_window_path(unsigned index);
/* Returns what the answer to that question says about the model; 0: nothing. */
int64_t model_catalog_read_window(unsigned index, const struct json *answer, struct str model);

#endif
