/* model_catalog.h — what we know of each model: the rows of model.def, and a fallback for every other name.
 *
 * Owns: nothing; rows are static. A model_info is a plain value: whoever asks may change his copy (a config file
 * overrides windows and limits). Thread: any. Errors: none, an unknown name is an answer (is_known is false).
 * Source: core 1.2, 1.5, 12.2; app-server-wire 16, 19. */
#ifndef MODEL_MODEL_CATALOG_H
#define MODEL_MODEL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/text.h"
#include "protocol/record/enum.h"

/* How apply_patch is offered: as a JSON function, which every server of the Responses API can relay, or as a
 * free-form tool with a grammar, which saves the model from escaping a patch into JSON. */
enum model_patch_form { MODEL_PATCH_function, MODEL_PATCH_freeform, MODEL_PATCH_none };

struct model_info {
	struct str slug; /* the name as it goes out */
	const char *name;
	const char *about;
	int64_t context_window; /* tokens; what is told to users is model_info_window */
	int64_t max_output;
	uint32_t efforts;                     /* bit 1 << enum reasoning_effort */
	enum reasoning_effort default_effort; /* unset: the field is not sent */
	enum reasoning_summary default_summary;
	enum verbosity default_verbosity;
	enum model_patch_form patch_form;
	struct text_budget output_budget; /* of one tool output */
	bool is_known;                    /* false: a fallback, worth one warning a session */
	bool is_default;
	bool is_hidden;     /* usable, not listed */
	bool has_reasoning; /* takes `reasoning` */
	bool has_verbosity; /* takes `text.verbosity` */
	bool has_parallel_calls;
	bool has_image_input;
	bool has_personality; /* we have words for how it talks */
};

/* The model of that name. A row also answers for its variants: after the longest matching slug may follow
 * "-…", ":…" or "@…" (dates, sizes), and before it "…/" (a provider's namespace). The result's slug is
 * the asked name and borrows from it. */
struct model_info model_catalog_get(struct str slug);
/* The default model. */
struct model_info model_catalog_default(void);
/* The index-th row in picker order, hidden ones included; false past the end. */
bool model_catalog_at(size_t index, struct model_info *ret_info);

bool model_info_has_effort(const struct model_info *info, enum reasoning_effort effort);
/* The context window as reported and budgeted: 95 % of the model's own. */
int64_t model_info_window(const struct model_info *info);

#endif
