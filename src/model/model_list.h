/* model_list.h — the list of models that OpenAI has for the user's account. A kept list counts at the start of a
 * process; a list that is older than MODEL_LIST_FRESH_MS is requested in the background and kept for the next start.
 * The list is untrusted: it names models and their properties, within the limits of model_catalog.h.
 *
 * Owns: its request. Borrows: loop and HTTP client. Loop thread only. */
#ifndef MODEL_MODEL_LIST_H
#define MODEL_MODEL_LIST_H

struct account_token;
struct http_client;
struct loop;
struct model_list;
struct model_provider;

#define MODEL_LIST_FILE "models_cache.json" /* beside auth.json; that of codex 0.169 */
enum { MODEL_LIST_FRESH_MS = 300 * 1000 };

/* Adds the kept list of the provider to the catalog, once per process. No-op for a provider that has none: a list
 * belongs to the ChatGPT login, and only the built-in provider openai has it. */
void model_list_load(const struct model_provider *provider);
/* Requests the list with the token of a request to the model, once per process and only after model_list_load. NULL:
 * the kept one is fresh, or the provider has no list. */
struct model_list *model_list_ask(struct loop *loop, struct http_client *http, const struct model_provider *provider,
                                  const struct account_token *token);
/* Drops a request without an answer. NULL is fine. */
void model_list_end(struct model_list *list);

#endif
