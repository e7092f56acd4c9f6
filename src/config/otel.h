/* otel.h — [otel] of config.toml: where log records are sent. Owns nothing; results refer to the tree. Any thread. */
#ifndef CONFIG_OTEL_H
#define CONFIG_OTEL_H

#include <stdbool.h>

#include "base/error.h"
#include "config/config_layer.h"
#include "config/toml/toml.h"

struct otel {
	struct str endpoint; /* the URL of the logs; STR_NONE: nothing is sent */
	struct str environment;
	const struct toml *headers; /* a table of strings, or NULL */
	bool logs_prompts;          /* the text of prompts, commands and outputs is sent as well */
};

/* Reads the table; NULL: nothing is sent. ERR_config: a value of the wrong type, or an exporter that this version
 * does not have. */
must_check int otel_read(const struct toml *table, struct otel *ret, struct error *err);
/* As otel_read, for its errors, and warns of parts without effect. */
must_check int otel_check(struct config_layers *layers, const struct toml *table, struct error *err);

#endif
