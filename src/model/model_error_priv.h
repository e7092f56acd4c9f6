/* model_error_priv.h — shared by the files of model_error. */
#ifndef MODEL_MODEL_ERROR_PRIV_H
#define MODEL_MODEL_ERROR_PRIV_H

#include "model/model_error.h"

/* Sets the detail, truncated and as valid UTF-8. */
void model_error_set_detail(struct model_error *error, struct str detail);
/* Returns the kind of a failure by its words (model_phrase.def); MODEL_ERROR_none: no row knows it. */
enum model_error_kind model_error_kind_of(const struct model_refusal *refusal);

#endif
