/* Requests to the server, and its questions to the user, which belong to a request: the protocol does not say which, so
 * a question belongs to the latest unanswered request that can ask. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_client_priv.h"

static void send_cancelled(struct mcp_client *client, uint64_t id, const char *reason)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_cstr(&w, "jsonrpc", "2.0");
	jw_member_cstr(&w, "method", "notifications/cancelled");
	jw_key(&w, "params");
	jw_object(&w);
	jw_member_i64(&w, "requestId", (int64_t)id);
	jw_member_cstr(&w, "reason", reason);
	jw_object_end(&w);
	jw_object_end(&w);
	if (client->link && client->link->ops->forget)
		client->link->ops->forget(client->link, id);
	mcp_client_send(client, buf_str(&out));
}

/* ---- the time limit ---- */

static void on_timeout(void *self)
{
	struct error err;
	struct mcp_request *request = self;
	struct mcp_client *client = mcp_client_ref(request->client);
	struct mcp_reply answer = {.err = &err};
	error_set(&err, ERR_timeout, "timed out awaiting %s after %gs", request->method,
	          (double)request->timeout_ms / 1000);
	uint64_t id = request->id;
	mcp_request_finish(request, &answer);
	if (client->state == MCP_READY)
		send_cancelled(client, id, err.text);
	mcp_client_unref(client);
}

static void start_timer(struct mcp_request *request)
{
	if (!request->timeout_ms)
		return;
	if (!request->timer)
		request->timer = loop_timer_create(request->client->loop, on_timeout, request);
	request->since_ms = clock_now_ms();
	loop_timer_start(request->timer, request->left_ms);
}

/* Stops the time limit while a question is open. */
static void pause_timer(struct mcp_request *request)
{
	if (!request->timer || !loop_timer_is_active(request->timer))
		return;
	uint64_t spent = clock_now_ms() - request->since_ms;
	request->left_ms = spent < request->left_ms ? request->left_ms - spent : 1;
	loop_timer_stop(request->timer);
}

/* ---- questions ---- */

const struct json *mcp_elicitation_params(const struct mcp_elicitation *elicitation)
{
	return elicitation->params;
}

static void elicitation_free(struct mcp_elicitation *elicitation)
{
	struct mcp_request *request = elicitation->request;
	request->client->elicitations--;
	list_remove(&elicitation->link);
	if (list_empty(&request->elicitations))
		start_timer(request);
	arena_finish(&elicitation->arena);
	free(elicitation);
}

static bool has_member(const struct json *object, struct str key)
{
	json_for_each(it, object) {
		if (str_eq(it->key, key))
			return true;
	}
	return false;
}

/* Appends the values of an accepted form, with the schema's defaults for the fields that the user has left out. */
static void append_content(const struct mcp_elicitation *elicitation, struct str content, struct buf *out)
{
	auto_arena struct arena arena = {0};
	const struct json *values = json_parse(&arena, content, NULL);
	const struct json *fields = json_path(elicitation->params, "requestedSchema.properties");
	struct json_writer w = json_writer(out);
	jw_object(&w);
	json_for_each(it, json_is(values, JSON_object) ? values : NULL) {
		jw_key_str(&w, it->key);
		jw_value(&w, it);
	}
	json_for_each(it, json_is(fields, JSON_object) ? fields : NULL) {
		const struct json *value = json_get(it, "default");
		if (!value || has_member(values, it->key))
			continue;
		jw_key_str(&w, it->key);
		jw_value(&w, value);
	}
	jw_object_end(&w);
}

static void send_answer(struct mcp_client *client, struct str id, const char *action, struct str content)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_cstr(&w, "jsonrpc", "2.0");
	jw_member_raw(&w, "id", id);
	jw_key(&w, "result");
	jw_object(&w);
	jw_member_cstr(&w, "action", action);
	if (content.ptr && str_is(str_of(action), "accept"))
		jw_member_raw(&w, "content", content);
	jw_object_end(&w);
	jw_object_end(&w);
	mcp_client_send(client, buf_str(&out));
}

void mcp_elicitation_answer(struct mcp_elicitation *elicitation, const char *action, struct str content)
{
	struct mcp_client *client = mcp_client_ref(elicitation->request->client);
	auto_free char *id = str_dup(elicitation->id);
	auto_buf struct buf whole;
	buf_init(&whole, LIMIT_MCP_MESSAGE);
	bool is_url = str_is(json_get_str(elicitation->params, "mode"), "url");
	if (!is_url)
		append_content(elicitation, content, &whole);
	elicitation_free(elicitation);
	send_answer(client, str_of(id), action, is_url ? STR_NONE : whole.over ? content : buf_str(&whole));
	mcp_client_unref(client);
}

static struct mcp_request *find_asker(struct mcp_client *client)
{
	struct mcp_request *it, *found = NULL;
	list_for_each(it, &client->unanswered, link) {
		if (it->events->on_elicit)
			found = it;
	}
	return found;
}

void mcp_elicitation_ask(struct mcp_client *client, const struct json *message)
{
	struct mcp_request *request = find_asker(client);
	const struct json *params = json_get(message, "params");
	struct str id = json_get(message, "id")->span;
	if (!request || !json_is(params, JSON_object) || client->elicitations == LIMIT_MCP_ELICITATIONS) {
		send_answer(client, id, "decline", STR_NONE);
		return;
	}
	struct mcp_elicitation *elicitation = xnew(struct mcp_elicitation);
	elicitation->request = request;
	elicitation->id = arena_str(&elicitation->arena, id);
	elicitation->params = json_parse_copy(&elicitation->arena, params->span, NULL);
	pause_timer(request);
	client->elicitations++;
	list_append(&request->elicitations, &elicitation->link);
	request->events->on_elicit(elicitation, request->self);
}

void mcp_elicitation_withdraw(struct mcp_client *client, struct str id)
{
	struct mcp_request *request;
	struct mcp_elicitation *it;
	list_for_each(request, &client->unanswered, link) {
		list_for_each(it, &request->elicitations, link) {
			if (!str_eq(it->id, id))
				continue;
			request->events->on_withdrawn(it, request->self);
			elicitation_free(it);
			return;
		}
	}
}

/* Closes the questions of a request that ends: the server must not wait for them. */
static void drop_questions(struct mcp_request *request)
{
	struct mcp_elicitation *it;
	list_for_each(it, &request->elicitations, link) {
		request->events->on_withdrawn(it, request->self);
		mcp_elicitation_answer(it, "cancel", STR_NONE);
	}
}

/* ---- requests ---- */

static void write_frame(struct mcp_request *request, const struct mcp_request_options *options)
{
	struct json_writer w = json_writer(&request->frame);
	jw_object(&w);
	jw_member_cstr(&w, "jsonrpc", "2.0");
	jw_member_i64(&w, "id", (int64_t)request->id);
	jw_member_cstr(&w, "method", options->method);
	jw_key(&w, "params");
	buf_append_char(&request->frame, '{');
	buf_append_str(&request->frame, options->params);
	buf_printf(&request->frame, "%s\"_meta\":{\"progressToken\":%llu%s", options->params.len ? "," : "",
	           (unsigned long long)request->id, options->meta.len ? "," : "");
	buf_append_str(&request->frame, options->meta);
	buf_append_c(&request->frame, "}}}");
}

struct mcp_request *mcp_request_create(struct mcp_client *client, const struct mcp_request_options *options,
                                       struct error *err)
{
	if (client->requests == LIMIT_MCP_REQUESTS) {
		error_set(err, ERR_limit, "the server has not answered %d requests", LIMIT_MCP_REQUESTS);
		return NULL;
	}
	struct mcp_request *request = xnew(struct mcp_request);
	*request = (struct mcp_request){
		.client = client,
		.id = ++client->last_id,
		.method = options->method,
		.events = options->events,
		.self = options->self,
		.timeout_ms = options->timeout_ms,
		.left_ms = options->timeout_ms,
	};
	list_init(&request->elicitations);
	list_init(&request->link);
	buf_init(&request->frame, LIMIT_MCP_MESSAGE);
	write_frame(request, options);
	if (request->frame.over) {
		error_set(err, ERR_limit, "the request has more than %d MiB", LIMIT_MCP_MESSAGE / MIB);
		buf_finish(&request->frame);
		free(request);
		return NULL;
	}
	client->requests++;
	list_append(&client->waiting, &request->link);
	loop_defer(&client->work);
	return request;
}

static void request_free(struct mcp_request *request)
{
	list_remove(&request->link);
	request->client->requests--;
	loop_timer_destroy(request->timer);
	buf_finish(&request->frame);
	free(request);
}

/* Moves a request out of the lists first: what its owner does must not find it. */
void mcp_request_finish(struct mcp_request *request, const struct mcp_reply *answer)
{
	const struct mcp_request_events *events = request->events;
	void *self = request->self;
	list_remove(&request->link);
	drop_questions(request);
	request_free(request);
	events->on_done(answer, self);
}

void mcp_request_cancel(struct mcp_request *request, const char *reason)
{
	if (!request)
		return;
	struct mcp_client *client = request->client;
	uint64_t id = request->id;
	bool is_sent = request->frame.len == 0;
	list_remove(&request->link);
	drop_questions(request);
	request_free(request);
	if (is_sent && client->state == MCP_READY)
		send_cancelled(client, id, reason);
}

struct mcp_request *mcp_request_find(struct mcp_client *client, uint64_t id)
{
	struct mcp_request *it;
	list_for_each(it, &client->unanswered, link) {
		if (it->id == id)
			return it;
	}
	return NULL;
}

void mcp_requests_send(struct mcp_client *client)
{
	struct mcp_request *request;
	struct error err;
	while (client->state == MCP_READY && (request = list_first(&client->waiting, struct mcp_request, link))) {
		list_remove(&request->link);
		list_append(&client->unanswered, &request->link);
		if (client->link->ops->send(client->link, buf_str(&request->frame), request->id, &err) != 0) {
			struct mcp_reply answer = {.err = &err};
			mcp_request_finish(request, &answer);
			continue;
		}
		buf_finish(&request->frame);
		start_timer(request);
	}
}

void mcp_requests_fail(struct mcp_client *client, const struct error *err, bool is_all)
{
	struct mcp_request *request;
	struct mcp_reply answer = {.err = err};
	while ((request = list_first(&client->unanswered, struct mcp_request, link)))
		mcp_request_finish(request, &answer);
	while (is_all && (request = list_first(&client->waiting, struct mcp_request, link)))
		mcp_request_finish(request, &answer);
}
