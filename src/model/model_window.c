/* The questions follow one another, and all of them share one limit of time. */
#include "model/model_window.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_catalog.h"
#include "net/http_fetch.h"
#include "net/http_url.h"

struct model_window {
	struct loop_timer *timer;
	struct http_client *http;
	struct http_fetch *fetch; /* NULL: the time is over */
	model_window_fn on_done;
	void *self;
	unsigned next; /* question */
	struct str root, model;
	VEC(struct str) headers;
	struct arena arena;
};

/* ---- the address ---- */

bool model_window_is_near(const struct model_provider *provider)
{
	struct http_url url;
	if (!http_url_parse(str_of(provider->base_url), &url))
		return false;
	struct str digits = url.host;
	bool is_number = str_cut_prefix(&digits, "127.");
	for (size_t i = 0; i < digits.len; i++)
		is_number &= digits.ptr[i] == '.' || (digits.ptr[i] >= '0' && digits.ptr[i] <= '9');
	return is_number || str_is(url.host, "localhost") || str_is(url.host, "[::1]");
}

static struct str root_of(struct arena *arena, const struct model_provider *provider)
{
	struct str base = str_of(provider->base_url);
	base.len -= str_has_suffix(base, "/v1") ? 3 : 0;
	return arena_str(arena, base);
}

/* ---- answers ---- */

static void end(struct model_window *window, int64_t tokens)
{
	window->on_done(tokens, window->self);
	model_window_cancel(window);
}

static void ask_next(struct model_window *window);

static void on_answer(int status, struct str body, const struct error *err, void *self)
{
	struct model_window *window = self;
	auto_arena struct arena arena = {0};
	window->fetch = NULL;
	const struct json *answer = !err && status == 200 ? json_parse(&arena, body, NULL) : NULL;
	int64_t tokens = model_catalog_read_window(window->next++, answer, window->model);
	if (tokens > 0 || err || !model_catalog_window_path(window->next))
		end(window, tokens);
	else
		ask_next(window);
}

/* The key of the provider is sent, because vLLM may demand it for its list, too. */
static void ask_next(struct model_window *window)
{
	struct http_fetch_request request = {
		.method = "GET",
		.url = arena_printf(&window->arena, "%.*s%s", STR_ARG(window->root),
	                            model_catalog_window_path(window->next)),
		.headers = window->headers.items,
		.header_count = window->headers.count,
		.max = LIMIT_SERVER_LIST,
		.timeout_ms = LIMIT_WINDOW_MS,
	};
	window->fetch = http_fetch_start(window->http, &request, on_answer, window);
}

static void on_timer(void *self)
{
	end(self, 0);
}

struct model_window *model_window_ask(struct loop *loop, struct http_client *http,
                                      const struct model_provider *provider, struct str model, model_window_fn on_done,
                                      void *self)
{
	struct model_window *window = xnew(struct model_window);
	window->http = http;
	window->on_done = on_done;
	window->self = self;
	window->root = root_of(&window->arena, provider);
	window->model = arena_str(&window->arena, model);
	for (size_t i = 0; i < provider->header_count; i++)
		vec_push(&window->headers, arena_str(&window->arena, provider->headers[i]));
	if (provider->authorization)
		vec_push(&window->headers, str_of(provider->authorization));
	window->timer = loop_timer_create(loop, on_timer, window);
	loop_timer_start(window->timer, LIMIT_WINDOW_MS);
	ask_next(window);
	return window;
}

void model_window_cancel(struct model_window *window)
{
	if (!window)
		return;
	http_fetch_cancel(window->fetch);
	loop_timer_destroy(window->timer);
	vec_finish(&window->headers);
	arena_finish(&window->arena);
	free(window);
}
