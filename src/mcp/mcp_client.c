/* The connection and what arrives on it: answers, notifications, and requests of the server. */
#define LOG_MODULE "mcp"
#include "mcp/mcp_client.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client_priv.h"

/* ---- sending ---- */

void mcp_client_send(struct mcp_client *client, struct str json)
{
	struct error err;
	if (client->link && client->link->ops->send(client->link, json, MCP_NO_REQUEST, &err) != 0)
		mcp_start_failed(client, &err);
}

static struct json_writer answer_begin(struct buf *out, struct str id)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "jsonrpc", "2.0");
	jw_member_raw(&w, "id", id);
	return w;
}

static void answer_result(struct mcp_client *client, struct str id, struct str result)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_MCP_MESSAGE);
	struct json_writer w = answer_begin(&out, id);
	jw_member_raw(&w, "result", result);
	jw_object_end(&w);
	mcp_client_send(client, buf_str(&out));
}

static void answer_unknown(struct mcp_client *client, struct str id, struct str method)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_MCP_MESSAGE);
	struct json_writer w = answer_begin(&out, id);
	jw_key(&w, "error");
	jw_object(&w);
	jw_member_i64(&w, "code", -32601);
	jw_key(&w, "message");
	jw_strf(&w, "Method not found: %.*s", STR_ARG(method));
	jw_object_end(&w);
	jw_object_end(&w);
	mcp_client_send(client, buf_str(&out));
}

/* ---- requests and notifications of the server ---- */

static void on_request(struct mcp_client *client, const struct json *message, struct str id)
{
	struct str method = json_get_str(message, "method");
	if (str_is(method, "ping"))
		answer_result(client, id, STR("{}"));
	else if (str_is(method, "roots/list"))
		answer_result(client, id, STR("{\"roots\":[]}"));
	else if (str_is(method, "elicitation/create"))
		mcp_elicitation_ask(client, message);
	else
		answer_unknown(client, id, method);
}

/* Text that explains the progress; a server may send numbers alone. */
static void on_progress(struct mcp_client *client, const struct json *params)
{
	uint64_t token = 0;
	struct str message = json_get_str(params, "message");
	if (!message.len || !json_to_u64(json_get(params, "progressToken"), &token))
		return;
	const struct mcp_request *request = mcp_request_find(client, token);
	if (request && request->events->on_progress)
		request->events->on_progress(message, request->self);
}

static void on_notification(struct mcp_client *client, const struct json *message)
{
	struct str method = json_get_str(message, "method");
	const struct json *params = json_get(message, "params"), *id = json_get(params, "requestId");
	if (str_is(method, "notifications/tools/list_changed"))
		mcp_start_list_again(client);
	else if (str_is(method, "notifications/progress"))
		on_progress(client, params);
	else if (str_is(method, "notifications/cancelled") && id)
		mcp_elicitation_withdraw(client, id->span);
}

/* ---- answers of the server ---- */

static void describe_error(const struct json *error, struct mcp_reply *answer, struct error *err)
{
	answer->is_remote = true;
	answer->code = json_get_i64(error, "code", 0);
	answer->message = json_get_str(error, "message");
	answer->data = json_get(error, "data");
	answer->err = err;
	error_set(err, ERR_invalid, "Mcp error: %lld: %.*s", (long long)answer->code, STR_ARG(answer->message));
}

/* An answer to an unknown id is ignored: it is late, or a second one. */
static void on_answer(struct mcp_client *client, const struct json *message)
{
	uint64_t id = 0;
	struct error err;
	struct mcp_reply answer = {.result = json_get(message, "result")};
	const struct json *error = json_get(message, "error");
	if (error && error->type == JSON_null)
		error = NULL;
	if (!json_to_u64(json_get(message, "id"), &id) || (!answer.result && !error))
		return;
	if (error) {
		answer.result = NULL;
		describe_error(error, &answer, &err);
	}
	struct mcp_request *request = mcp_request_find(client, id);
	if (request)
		mcp_request_finish(request, &answer);
	else
		mcp_start_answered(client, id, &answer);
}

static void on_object(struct mcp_client *client, const struct json *message)
{
	const struct json *id = json_get(message, "id");
	bool has_id = json_is(id, JSON_string) || json_is(id, JSON_number);
	if (!json_get_str(message, "method").ptr)
		on_answer(client, message);
	else if (has_id)
		on_request(client, message, id->span);
	else
		on_notification(client, message);
}

/* ---- events of the link ---- */

static void on_open(void *self)
{
	mcp_start_begin(self);
}

/* Lines that are not JSON are skipped: many servers print to stdout what belongs to stderr. */
static void on_message(struct str json, void *self)
{
	auto_arena struct arena arena = {0};
	struct mcp_client *client = mcp_client_ref(self);
	const struct json *message = json_parse(&arena, json, NULL);
	if (json_is(message, JSON_object)) {
		on_object(client, message);
	} else if (json_is(message, JSON_array) && client->latest && mcp_start_batches(client->latest->version)) {
		json_for_each(it, message) {
			if (it->type == JSON_object)
				on_object(client, it);
		}
	} else {
		log_debug("%s: skipped %zu bytes that are not a message", client->name, json.len);
	}
	mcp_client_unref(client);
}

static void on_request_failed(uint64_t id, const struct error *err, void *self)
{
	struct mcp_client *client = mcp_client_ref(self);
	struct mcp_reply answer = {.err = err};
	struct mcp_request *request = mcp_request_find(client, id);
	if (request)
		mcp_request_finish(request, &answer);
	else if (id != MCP_NO_REQUEST)
		mcp_start_answered(client, id, &answer);
	else if (client->state == MCP_READY)
		mcp_requests_fail(client, err, false);
	else
		mcp_start_failed(client, err);
	mcp_client_unref(client);
}

static void on_closed(const struct error *err, void *self)
{
	struct mcp_client *client = mcp_client_ref(self);
	mcp_start_failed(client, err);
	mcp_client_unref(client);
}

/* ---- the work that is never done inside a call ---- */

static void connect_link(struct mcp_client *client)
{
	static const struct mcp_link_events events = {
		.on_open = on_open,
		.on_message = on_message,
		.on_request_failed = on_request_failed,
		.on_closed = on_closed,
	};
	struct error err;
	struct mcp_watcher *it;
	client->state = MCP_STARTING;
	list_for_each(it, &client->watchers, link)
		it->on_change(it);
	loop_timer_start(client->timer, client->options.startup_timeout_ms);
	client->link = client->options.open(client->options.self, &events, client, &err);
	if (!client->link)
		mcp_start_failed(client, &err);
}

static void on_work(void *self)
{
	struct mcp_client *client = mcp_client_ref(self);
	bool is_down = client->state == MCP_IDLE || client->state == MCP_FAILED;
	if (is_down && (client->is_wanted || !list_empty(&client->waiting)))
		connect_link(client);
	else if (client->state == MCP_READY)
		mcp_requests_send(client);
	client->is_wanted = false;
	mcp_client_unref(client);
}

static void on_timeout(void *self)
{
	struct error err;
	struct mcp_client *client = mcp_client_ref(self);
	if (client->is_pausing) {
		client->is_pausing = false;
		mcp_start_list_again(client);
		mcp_client_unref(client);
		return;
	}
	if (client->listing)
		error_set(&err, ERR_timeout, "timed out awaiting tools/list after %llums",
		          (unsigned long long)client->options.startup_timeout_ms);
	else
		error_set(&err, ERR_timeout, "timed out");
	mcp_start_failed(client, &err);
	mcp_client_unref(client);
}

/* ---- lifetime ---- */

struct mcp_client *mcp_client_create(struct loop *loop, const struct mcp_client_options *options,
                                     struct mcp_catalog *catalog)
{
	struct mcp_client *client = xnew(struct mcp_client);
	*client = (struct mcp_client){
		.options = *options, .refs = 1, .loop = loop, .latest = catalog, .is_stored = catalog};
	client->name = xstrdup(options->name);
	client->timer = loop_timer_create(loop, on_timeout, client);
	loop_deferred_init(&client->work, loop, on_work, client);
	list_init(&client->watchers);
	list_init(&client->waiting);
	list_init(&client->unanswered);
	return client;
}

struct mcp_client *mcp_client_ref(struct mcp_client *client)
{
	client->refs++;
	return client;
}

void mcp_client_unref(struct mcp_client *client)
{
	if (!client || --client->refs)
		return;
	if (client->link)
		client->link->ops->close(client->link);
	loop_deferred_finish(&client->work);
	loop_timer_destroy(client->timer);
	mcp_catalog_unref(client->latest);
	mcp_catalog_unref(client->next);
	free(client->cursor);
	free(client->failure);
	free(client->name);
	client->options.on_destroy(client->options.self);
	free(client);
}

void mcp_client_watch(struct mcp_client *client, struct mcp_watcher *watcher)
{
	list_append(&client->watchers, &watcher->link);
}

void mcp_client_unwatch(struct mcp_watcher *watcher)
{
	list_remove(&watcher->link);
}

void mcp_client_start(struct mcp_client *client)
{
	client->is_wanted = true;
	loop_defer(&client->work);
}

enum mcp_state mcp_client_state(const struct mcp_client *client)
{
	return client->state;
}

const char *mcp_client_failure(const struct mcp_client *client, bool *ret_needs_login)
{
	*ret_needs_login = client->needs_login;
	return client->failure;
}

struct mcp_catalog *mcp_client_catalog(const struct mcp_client *client)
{
	return client->latest;
}
