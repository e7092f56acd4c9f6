/* model_catalog_priv.h — the two parts of the catalog: its rows, and the models of a file. Private to model_catalog*.c.
 */
#ifndef MODEL_MODEL_CATALOG_PRIV_H
#define MODEL_MODEL_CATALOG_PRIV_H

#include "model/model_catalog.h"

/* As model_catalog_get, among the rows alone. */
struct model_info model_catalog_built_in(struct str slug);
/* Returns the models of the file, which live as long as the process. */
const struct model_info *model_catalog_loaded(size_t *ret_count);

#endif
