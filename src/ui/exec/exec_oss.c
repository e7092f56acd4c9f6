/* Every server is asked in its own words: Ollama and LM Studio have interfaces besides that of OpenAI, the others add
 * the length of the context to their list of models. A server that answers something else is used as it is, because it
 * may be a proxy that forwards only requests to the model. */
#include "ui/exec/exec_oss.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "net/http_client.h"

enum { CONNECT_MS = 2000, IDLE_MS = 10 * 1000, PULL_IDLE_MS = 10 * 60 * 1000, WINDOW_MIN = 32768, PROGRESS_STEP = 10 };

/* ---- one request ---- */

struct fetch {
	struct http_call *call;
	int status;
	struct buf body;
	struct buf line; /* of a pull: the incomplete line */
	bool is_pull;
	const char *model;
	int percent; /* that was printed last */
	bool is_done;
	struct error err, *failure; /* of the connection; NULL: none */
	char refusal[256];          /* the error in a line of a pull */
	bool is_success;
};

static bool on_head(int status, const struct http_head *head, void *self)
{
	struct fetch *fetch = self;
	(void)head;
	fetch->status = status;
	return true;
}

/* Prints a line such as "gpt-oss:20b: pulling 9f3 40 %". */
static void print_progress(struct fetch *fetch, struct str line)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, line, NULL);
	struct str status = json_get_str(json, "status"), error = json_get_str(json, "error");
	int64_t total = json_get_i64(json, "total", 0), completed = json_get_i64(json, "completed", 0);
	int percent = total > 0 && completed >= 0 && completed <= total ? (int)(completed * 100.0 / (double)total) : -1;
	if (error.ptr)
		snprintf(fetch->refusal, sizeof(fetch->refusal), "%.*s", STR_ARG(error));
	fetch->is_success |= str_is(status, "success");
	if (!status.ptr || (percent >= 0 && percent / PROGRESS_STEP == fetch->percent / PROGRESS_STEP))
		return;
	fetch->percent = percent;
	auto_buf struct buf clean;
	buf_init(&clean, KIB);
	text_append_line(&clean, str_n(status.ptr, text_floor_boundary(status, 100)));
	fprintf(stderr, percent >= 0 ? "%s: %s %d %%\n" : "%s: %s\n", fetch->model, buf_str(&clean).ptr, percent);
}

static void on_data(struct str bytes, void *self)
{
	struct fetch *fetch = self;
	if (!fetch->is_pull) {
		buf_append_str(&fetch->body, bytes);
		if (fetch->body.over) /* it may never end */
			http_call_cancel(steal(fetch->call));
		return;
	}
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.ptr[i] != '\n') {
			buf_append_char(&fetch->line, bytes.ptr[i]);
			continue;
		}
		print_progress(fetch, buf_str(&fetch->line));
		buf_clear(&fetch->line);
	}
}

static void on_done(const struct error *err, void *self)
{
	struct fetch *fetch = self;
	if (err) {
		fetch->err = *err;
		fetch->failure = &fetch->err;
	}
	if (fetch->is_pull && fetch->line.len)
		print_progress(fetch, buf_str(&fetch->line));
	fetch->is_done = true;
}

/* Sends a request and waits for its answer. */
static void fetch_run(struct fetch *fetch, const char *url, struct str body)
{
	static const struct http_handler handler = {on_head, on_data, on_done};
	static const struct str headers[] = {{"Content-Type: application/json", 30}};
	struct error err;
	struct loop *loop = loop_create(&err);
	buf_init(&fetch->body, LIMIT_SERVER_LIST);
	buf_init(&fetch->line, LIMIT_HTTP_HEAD);
	fetch->percent = -1;
	if (!loop) {
		on_done(&err, fetch);
		return;
	}
	struct http_client_options options = {.ca_file = config_env_ca_file()};
	struct http_client *http = http_client_create(loop, &options);
	struct http_request request = {
		.method = body.ptr ? "POST" : "GET",
		.url = url,
		.headers = headers,
		.header_count = body.ptr ? 1 : 0,
		.body = &body,
		.body_count = body.ptr ? 1 : 0,
		.connect_timeout_ms = CONNECT_MS,
		.idle_timeout_ms = fetch->is_pull ? PULL_IDLE_MS : IDLE_MS,
	};
	fetch->call = http_call_start(http, &request, &handler, fetch);
	loop_run(loop);
	http_client_destroy(http);
	loop_destroy(loop);
}

static void fetch_finish(struct fetch *fetch)
{
	buf_finish(&fetch->body);
	buf_finish(&fetch->line);
}
#define auto_fetch __attribute__((cleanup(fetch_finish)))

/* ---- what a server says ---- */

struct probe {
	const struct model_provider *provider;
	const char *root;  /* the address without /v1, from the arena */
	const char *model; /* that is wanted; NULL: any */
	struct oss_server *to;
	struct arena arena;
	struct error *err;
};

/* Gets JSON from a path below the root; NULL if there is no such answer. */
static const struct json *get_json(struct probe *probe, const char *path, struct str body)
{
	auto_fetch struct fetch fetch = {0};
	fetch_run(&fetch, arena_printf(&probe->arena, "%s%s", probe->root, path), body);
	bool is_answer = !fetch.failure && fetch.status == 200 && !fetch.body.over;
	return is_answer ? json_parse_copy(&probe->arena, buf_str(&fetch.body), NULL) : NULL;
}

static struct str name_body(struct probe *probe)
{
	struct buf body;
	buf_init(&body, LIMIT_HTTP_HEAD);
	struct json_writer w = json_writer(&body);
	jw_object(&w);
	jw_member_cstr(&w, "model", probe->model);
	jw_member_bool(&w, "stream", true);
	jw_object_end(&w);
	struct str text = arena_str(&probe->arena, buf_str(&body));
	buf_finish(&body);
	return text;
}

/* Finds the entry of a list whose member `key` is the wanted model. */
static const struct json *find_model(const struct probe *probe, const struct json *list, const char *key)
{
	json_for_each(it, list) {
		struct str name = json_get_str(it, key);
		if (probe->model && str_is(name, probe->model))
			return it;
	}
	return NULL;
}

static bool is_older(struct str version, const int64_t least[3])
{
	struct str part;
	for (size_t i = 0; i < 3 && str_next_part(&version, '.', &part); i++) {
		int64_t number;
		if (!str_to_i64(part, &number))
			return false;
		if (number != least[i])
			return number < least[i];
	}
	return false;
}

static int pull(struct probe *probe)
{
	auto_fetch struct fetch fetch = {.is_pull = true, .model = probe->model};
	fprintf(stderr, "%s is not there yet: fetching it from Ollama\n", probe->model);
	fetch_run(&fetch, arena_printf(&probe->arena, "%s/api/pull", probe->root), name_body(probe));
	if (fetch.is_success && !fetch.refusal[0])
		return 0;
	return error_set(probe->err, ERR_not_found, "Ollama could not fetch %s: %s; see `ollama pull %s`", probe->model,
	                 fetch.refusal[0] ? fetch.refusal
	                 : fetch.failure  ? fetch.err.text
	                                  : "the transfer ended early",
	                 probe->model);
}

static int64_t shown_window(const struct json *show)
{
	json_for_each(member, json_get(show, "model_info")) {
		int64_t window;
		if (str_has_suffix(member->key, ".context_length") && json_to_i64(member, &window))
			return window;
	}
	return 0;
}

static int probe_ollama(struct probe *probe)
{
	static const int64_t responses_since[3] = {0, 13, 4};
	const struct json *version = get_json(probe, "/api/version", STR_NONE);
	const struct json *tags = get_json(probe, "/api/tags", STR_NONE);
	if (is_older(json_get_str(version, "version"), responses_since)) {
		probe->to->speaks_chat = true;
		fprintf(stderr, "Ollama %.*s does not speak the Responses API: Chat Completions is used\n",
		        STR_ARG(json_get_str(version, "version")));
	}
	if (json_get(tags, "models") && !find_model(probe, json_get(tags, "models"), "name") && pull(probe) < 0)
		return -(int)probe->err->code;
	const struct json *running =
		find_model(probe, json_get(get_json(probe, "/api/ps", STR_NONE), "models"), "name");
	probe->to->window = json_get_i64(running, "context_length", 0);
	if (probe->to->window > 0 && probe->to->window < WINDOW_MIN)
		fprintf(stderr,
		        "warning: Ollama runs %s with a context of %lld tokens and cuts longer prompts off silently; "
		        "set "
		        "OLLAMA_CONTEXT_LENGTH=64000 for the server\n",
		        probe->model, (long long)probe->to->window);
	if (!probe->to->window)
		probe->to->window = shown_window(get_json(probe, "/api/show", name_body(probe)));
	return 0;
}

static int probe_lmstudio(struct probe *probe)
{
	const struct json *models = get_json(probe, "/v1/models", STR_NONE);
	if (json_get(models, "data") && !find_model(probe, json_get(models, "data"), "id"))
		return error_set(probe->err, ERR_not_found,
		                 "LM Studio does not have %s; fetch it with `lms get --yes %s`", probe->model,
		                 probe->model);
	const struct json *list = get_json(probe, "/api/v0/models", STR_NONE);
	const struct json *entry = find_model(probe, json_get(list, "data"), "id");
	int64_t loaded = json_get_i64(entry, "loaded_context_length", 0);
	probe->to->window = loaded ? loaded : json_get_i64(entry, "max_context_length", 0);
	return 0;
}

/* llama-server, vLLM and SGLang serve the models with which they were started. */
static int probe_other(struct probe *probe)
{
	const struct json *data = json_get(get_json(probe, "/v1/models", STR_NONE), "data");
	const struct json *entry = find_model(probe, data, "id");
	if (!entry && !probe->model)
		entry = json_at(data, 0);
	struct str id = json_get_str(entry, "id"), first = json_get_str(json_at(data, 0), "id");
	if (!entry && first.ptr)
		return error_set(probe->err, ERR_not_found,
		                 "%s does not serve %s; use `--model %.*s`, or start it with %s", probe->provider->name,
		                 probe->model, STR_ARG(first), probe->model);
	if (id.ptr)
		probe->to->model = str_dup(id);
	probe->to->window = json_get_i64(entry, "max_model_len", 0);
	if (!probe->to->window)
		json_to_i64(json_path(get_json(probe, "/props", STR_NONE), "default_generation_settings.n_ctx"),
		            &probe->to->window);
	return 0;
}

static const struct {
	const char *id;
	int (*probe)(struct probe *probe);
	const char *absent; /* what is reported if it does not answer */
} rows[] = {
	{"ollama", probe_ollama,
         "No running Ollama server detected. Start it with: `ollama serve` (after installing), and fetch a model with "
         "`ollama pull gpt-oss:20b`. Install instructions: https://github.com/ollama/ollama?tab=readme-ov-file#ollama"},
	{"lmstudio", probe_lmstudio,
         "LM Studio is not responding. Install from https://lmstudio.ai/ and run `lms server start`; fetch a model "
         "with "
         "`lms get openai/gpt-oss-20b`."},
	{"llamacpp", probe_other,
         "llama-server is not responding. Start it with `llama-server --jinja -m MODEL.gguf`."},
	{"vllm", probe_other,
         "vLLM is not responding. Start it with `vllm serve MODEL --enable-auto-tool-choice --tool-call-parser NAME`."},
	{"sglang", probe_other,
         "SGLang is not responding. Start it with `python -m sglang.launch_server --model MODEL`."},
};

/* ---- which server ---- */

static bool is_model_list(const struct fetch *fetch)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, buf_str(&fetch->body), NULL);
	return fetch->status == 200 && json_is(json_get(json, "data"), JSON_array);
}

/* Asks for a list of models. A server that the user has named may answer anything; without a name, any program may
 * listen there, and only one with a list of models gets the prompt. */
static int knock(const struct model_provider *provider, const char *absent, bool is_named, struct error *err)
{
	auto_fetch struct fetch fetch = {0};
	auto_free char *url = xasprintf("%s/models", provider->base_url);
	fetch_run(&fetch, url, STR_NONE);
	if (fetch.failure)
		return error_set(err, ERR_connect, "%s (%s)", absent, fetch.err.text);
	if (!is_named && !is_model_list(&fetch))
		return error_set(err, ERR_connect, "%s (%s has no list of models)", absent, provider->base_url);
	return 0;
}

static int try_server(const struct config *config, size_t row, const char *model, struct oss_server *to,
                      struct error *err)
{
	struct model_provider *provider = model_provider_create(config, rows[row].id, err);
	if (!provider)
		return -(int)err->code;
	struct probe probe = {.provider = provider, .to = to, .err = err};
	struct str root = str_of(provider->base_url);
	if (str_has_suffix(root, "/v1"))
		root.len -= 3;
	probe.root = arena_cstr(&probe.arena, root);
	probe.model = model ? model : provider->oss_model;
	bool is_named = config->oss_provider || row == 0; /* Ollama is the default */
	int status = knock(provider, rows[row].absent, is_named, err);
	if (status == 0)
		status = rows[row].probe(&probe);
	if (status == 0)
		to->provider = xstrdup(rows[row].id);
	arena_finish(&probe.arena);
	model_provider_destroy(provider);
	return status;
}

static int find_any(const struct config *config, const char *model, struct oss_server *to, struct error *err)
{
	struct error later;
	int status = try_server(config, 0, model, to, err);
	for (size_t i = 1; i < countof(rows) && status == -ERR_connect; i++) {
		int next = try_server(config, i, model, to, &later);
		if (next == -ERR_connect)
			continue;
		status = next;
		if (next < 0)
			*err = later;
		else
			fprintf(stderr, "using %s\n", rows[i].id);
	}
	return status;
}

int oss_server_find(const struct config *config, const char *model, struct oss_server *ret_server, struct error *err)
{
	*ret_server = (struct oss_server){0};
	if (!config->oss_provider)
		return find_any(config, model, ret_server, err);
	for (size_t i = 0; i < countof(rows); i++) {
		if (strcmp(rows[i].id, config->oss_provider) == 0)
			return try_server(config, i, model, ret_server, err);
	}
	return error_set(err, ERR_config,
	                 "`%s` is not a local server; --local-provider and oss_provider are `ollama`, `lmstudio`, "
	                 "`llamacpp`, `vllm` or `sglang`",
	                 config->oss_provider);
}

void oss_server_finish(struct oss_server *server)
{
	free(server->provider);
	free(server->model);
	*server = (struct oss_server){0};
}
