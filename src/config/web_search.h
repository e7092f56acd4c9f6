/* web_search.h — the provider's web search: its mode, and the details of [tools.web_search].
 *
 * The mode follows, in this order, from web_search, the features web_search_request and web_search_cached,
 * tools.web_search as a bool, and a default: live where the sandbox is off, else cached, for models of OpenAI, also
 * of a gateway; disabled for local servers and unknown models, which may refuse the tool. requirements.toml limits
 * the result. */
#ifndef CONFIG_WEB_SEARCH_H
#define CONFIG_WEB_SEARCH_H

#include "base/error.h"
#include "base/json.h"
#include "config/config_record.h"

struct config_required;

/* Checks the value of tools.web_search, which may be NULL. Errors name file, line and key (ERR_config). */
must_check int web_search_check(const struct toml *value, struct error *err);

/* tool: the value of tools.web_search, or NULL. required: the administrator's requirements, or NULL. */
struct web_search {
	const struct config *config;
	const struct toml *tool;
	const struct config_required *required;
	bool has_images; /* the model reads images, too, among the results */
};

/* serves_openai: the provider serves models of OpenAI. */
enum web_search_mode web_search_mode_of(const struct web_search *search, bool serves_openai, enum sandbox_mode sandbox);

/* Writes the tool of a request. mode: any but disabled and unset. */
void web_search_write(const struct web_search *search, enum web_search_mode mode, struct json_writer *w);

#endif
