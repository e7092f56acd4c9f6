/* The first request does not wait: the catalog of a running process does not change, so a new list counts from the next
 * start on. An answer is parsed and written by a worker, which outlives the session. */
#include "model/model_list.h"

#include <stdatomic.h>
#include <string.h>

#include "account/account_token.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_catalog.h"
#include "net/http_fetch.h"
#include "net/http_head.h"

enum { ETAG_MAX = 256 };

/* The list as the worker writes it. */
struct keeping {
	struct arena arena;
	struct str body, etag, source;
	const char *path;
};

struct model_list {
	struct loop *loop;
	struct http_fetch *fetch;
	struct keeping *keeping;
};

/* Of this process, which has one catalog. */
enum { LIST_UNUSED, LIST_LOADED, LIST_ASKED };
static atomic_int state = LIST_UNUSED;

static bool has_list(const struct model_provider *provider)
{
	return provider->is_openai && provider->uses_account;
}

/* The address and, as a hash, the account whose list it is. */
static const char *identity_of(struct arena *arena, const struct model_provider *provider, struct str account_id)
{
	return arena_printf(arena, "%s#%016llx", provider->base_url, (unsigned long long)str_hash(account_id));
}

/* A keyring could hold the loop: a login that is stored there has no kept list. */
void model_list_load(const struct model_provider *provider)
{
	auto_arena struct arena arena = {0};
	auto_auth struct auth auth = {0};
	int unused = LIST_UNUSED;
	if (!has_list(provider) || !atomic_compare_exchange_strong(&state, &unused, LIST_LOADED))
		return;
	const struct auth_place place = {provider->auth_home, provider->auth_store};
	if (place.store != credentials_store_file || auth_find(place, &auth, NULL) != 0 || !auth.account_id)
		return;
	auto_free char *path = path_join(place.home, MODEL_LIST_FILE);
	model_catalog_load_kept(path, str_of(identity_of(&arena, provider, str_of(auth.account_id))));
}

/* ---- keeping a list ---- */

static void keeping_destroy(struct keeping *keeping)
{
	if (!keeping)
		return;
	arena_finish(&keeping->arena);
	free(keeping);
}

/* In the form of codex 0.169, which reads lists of its own version alone. */
static void write_kept(const struct keeping *keeping, const struct json *models, struct buf *out)
{
	char now[CLOCK_RFC3339_SIZE];
	struct json_writer w = json_writer(out);
	clock_rfc3339(clock_unix_ms(), now);
	jw_object(&w);
	jw_member_cstr(&w, "fetched_at", now);
	if (keeping->etag.ptr)
		jw_member_str(&w, "etag", keeping->etag);
	jw_member_cstr(&w, "client_version", CODEX_VERSION);
	jw_member_str(&w, "identity", keeping->source);
	jw_key(&w, "models");
	jw_value(&w, models);
	jw_object_end(&w);
}

/* A list that cannot be kept is requested again by the next start. */
static void keep(void *self)
{
	const struct keeping *keeping = self;
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	const struct json *models = json_get(json_parse(&arena, keeping->body, NULL), "models");
	buf_init(&out, LIMIT_SERVER_LIST + 4 * (size_t)KIB);
	if (!model_catalog_is_list(models))
		return;
	write_kept(keeping, models, &out);
	if (!out.over)
		best_effort(file_write_atomic(keeping->path, buf_str(&out), 0600, false, NULL));
}

static void on_kept(void *self)
{
	keeping_destroy(self);
}

/* ---- the request ---- */

static bool on_head(int status, const struct http_head *head, void *self)
{
	struct keeping *keeping = ((struct model_list *)self)->keeping;
	struct str etag = http_head_get(head, "etag");
	if (etag.len <= ETAG_MAX)
		keeping->etag = arena_str(&keeping->arena, etag);
	return status == 200;
}

static void on_answer(int status, struct str body, const struct error *err, void *self)
{
	struct model_list *list = self;
	struct keeping *keeping = list->keeping;
	list->fetch = NULL;
	if (err || status != 200)
		return;
	keeping->body = arena_str(&keeping->arena, body);
	worker_run(list->loop, keep, on_kept, steal(list->keeping));
}

static void send_request(struct model_list *list, struct http_client *http, const struct model_provider *provider,
                         const struct account_token *token)
{
	auto_arena struct arena arena = {0};
	size_t count = provider->header_count;
	struct str *headers = arena_array(&arena, struct str, count + 2);
	memcpy(headers, provider->headers, count * sizeof(*headers));
	headers[count++] = str_of(arena_printf(&arena, "Authorization: Bearer %.*s", STR_ARG(token->access_token)));
	if (token->account_id.ptr)
		headers[count++] = str_of(arena_printf(&arena, "chatgpt-account-id: %.*s", STR_ARG(token->account_id)));
	struct http_fetch_request request = {
		.method = "GET",
		.url = arena_printf(&arena, "%s/models?client_version=" CODEX_VERSION, provider->base_url),
		.headers = headers,
		.header_count = count,
		.max = LIMIT_SERVER_LIST,
		.timeout_ms = LIMIT_MODEL_LIST_MS,
		.on_head = on_head,
	};
	list->fetch = http_fetch_start(http, &request, on_answer, list);
}

struct model_list *model_list_ask(struct loop *loop, struct http_client *http, const struct model_provider *provider,
                                  const struct account_token *token)
{
	int loaded = LIST_LOADED;
	int64_t age = clock_unix_ms() - model_catalog_kept_ms();
	if (!has_list(provider) || (age >= 0 && age < MODEL_LIST_FRESH_MS) ||
	    !atomic_compare_exchange_strong(&state, &loaded, LIST_ASKED))
		return NULL;
	struct model_list *list = xnew(struct model_list);
	list->loop = loop;
	list->keeping = xnew(struct keeping);
	list->keeping->path = arena_printf(&list->keeping->arena, "%s/" MODEL_LIST_FILE, provider->auth_home);
	list->keeping->source = str_of(identity_of(&list->keeping->arena, provider, token->account_id));
	send_request(list, http, provider, token);
	return list;
}

void model_list_end(struct model_list *list)
{
	if (!list)
		return;
	http_fetch_cancel(list->fetch);
	keeping_destroy(list->keeping);
	free(list);
}
