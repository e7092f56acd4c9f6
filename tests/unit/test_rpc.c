/* The JSON-RPC layer without a program around it: the envelope, the order of requests, questions to clients. Clients
 * are connections on a transport that records what is sent. */
#include "test.h"

#include "app_server/app_server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/threads.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "transport/transport.h"

/* ---- a client ---- */

struct client {
	struct transport transport;
	struct connection *connection;
	struct buf sent;
	bool is_paused, is_full;
	size_t taken; /* large bodies */
};

static bool client_send(struct transport *transport, struct str frames)
{
	struct client *client = container_of(transport, struct client, transport);
	buf_append_str(&client->sent, frames);
	return !client->is_full;
}

static const char *large_body; /* address of the body that was sent last */

static bool client_send_large(struct transport *transport, struct str head, struct buf *body, struct str tail)
{
	large_body = body->data;
	container_of(transport, struct client, transport)->taken++;
	client_send(transport, head);
	client_send(transport, buf_str(body));
	buf_finish(body);
	return client_send(transport, tail);
}

static void client_pause(struct transport *transport)
{
	container_of(transport, struct client, transport)->is_paused = true;
}

static void client_resume(struct transport *transport)
{
	container_of(transport, struct client, transport)->is_paused = false;
}

static void client_gone(struct transport *transport, bool flush)
{
	(void)transport, (void)flush;
}

static const struct transport_kind client_kind = {
	.send = client_send,
	.send_large = client_send_large,
	.pause = client_pause,
	.resume = client_resume,
	.destroy = client_gone,
};

struct fixture {
	struct loop *loop;
	struct services *services;
	struct config *config;
	struct app_server *server;
	struct client clients[2];
	size_t ended;
};

static void on_client_end(size_t left, void *self)
{
	(void)left;
	((struct fixture *)self)->ended++;
}

static void tell(struct fixture *f, int which, const char *line)
{
	connection_events.on_frame(str_of(line), f->clients[which].connection);
}

/* Returns the messages sent to the client since the last call. */
static const char *heard(struct fixture *f, int which)
{
	static struct buf last;
	buf_finish(&last);
	last = f->clients[which].sent;
	buf_init(&f->clients[which].sent, LIMIT_LINE);
	return last.data ? last.data : "";
}

static void connect_client(struct fixture *f, int which)
{
	struct client *client = &f->clients[which];
	buf_init(&client->sent, LIMIT_LINE);
	client->connection = app_server_add_client(f->server);
	client->transport = (struct transport){&client_kind, &connection_events, client->connection};
	connection_attach(client->connection, &client->transport);
	tell(f, which,
	     "{\"id\":0,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"},"
	     "\"capabilities\":{\"experimentalApi\":true}}}");
	heard(f, which);
}

static int set_up(void **state)
{
	struct error err;
	struct fixture *f = xnew(struct fixture);
	char home[] = "/tmp/codex-test-rpc-XXXXXX";
	assert_non_null(mkdtemp(home));
	f->loop = loop_create(&err);
	f->services = services_create(f->loop, "test");
	struct config_source source = {.codex_home = home, .cwd = "/"};
	f->config = config_load(&source, &err);
	assert_non_null(f->config);
	struct app_server_options options = {
		.loop = f->loop,
		.services = f->services,
		.config = f->config,
		.cwd = "/",
		.on_client_end = on_client_end,
		.self = f,
	};
	f->server = app_server_create(&options);
	connect_client(f, 0);
	connect_client(f, 1);
	*state = f;
	return 0;
}

static void spin(struct fixture *f)
{
	for (int i = 0; i < 3; i++)
		uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	auto_free char *id = xasprintf("%s/installation_id", config_home(f->config));
	unlink(id);
	rmdir(config_home(f->config));
	app_server_destroy(f->server);
	config_unref(f->config);
	services_destroy(f->services);
	loop_destroy(f->loop);
	for (int i = 0; i < 2; i++)
		buf_finish(&f->clients[i].sent);
	free(f);
	return 0;
}

/* ---- the envelope ---- */

static struct rpc_request *make_request(struct fixture *f, enum app_method_tag tag, const char *thread_id)
{
	struct arena arena = {0};
	struct rpc_request *request = arena_new(&arena, struct rpc_request);
	request->arena = arena;
	request->server = f->server;
	request->method = &app_methods[tag];
	request->params = arena_alloc(&request->arena, request->method->params->size);
	if (thread_id)
		*(struct str *)request->params = str_of(thread_id); /* thread_id is its first field */
	rpc_scope_entry_init(&request->entry);
	return request;
}

static void drop_request(struct rpc_request *request)
{
	struct arena arena = request->arena;
	arena_finish(&arena);
}

static void messages_are_distinguished(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int kind; /* -1: no message */
		bool has_bad_id;
	} rows[] = {
		{"{\"id\":1,\"method\":\"a\"}", RPC_REQUEST, false},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"a\",\"params\":{}}", RPC_REQUEST, false},
		{"{\"id\":1.0,\"method\":\"a\"}", RPC_REQUEST, true},
		{"{\"id\":1e2,\"method\":\"a\"}", RPC_REQUEST, true},
		{"{\"id\":9223372036854775808,\"method\":\"a\"}", RPC_REQUEST, true},
		{"{\"id\":null,\"method\":\"a\"}", RPC_REQUEST, true},
		{"{\"id\":{},\"method\":\"a\"}", RPC_REQUEST, true},
		{"{\"method\":\"a\"}", RPC_NOTIFICATION, false},
		{"{\"id\":1,\"result\":null}", RPC_RESULT, false},
		{"{\"id\":1,\"error\":{\"code\":1,\"message\":\"m\"}}", RPC_ERROR, false},
		{"{\"result\":{}}", -1, false},
		{"{\"id\":1}", -1, false},
		{"{\"method\":1}", -1, false},
		{"[]", -1, false},
		{"\"x\"", -1, false},
		{"", -1, false},
		{"{\"id\":1,\"method\":\"a\"} x", -1, false},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct rpc_message message;
		struct error err;
		int status = rpc_read(str_of(rows[i].text), &arena, &message, &err);
		if ((status == 0) != (rows[i].kind >= 0))
			fail_msg("%s: %d", rows[i].text, status);
		if (status != 0)
			continue;
		assert_int_equal(message.kind, rows[i].kind);
		assert_int_equal(message.has_bad_id, rows[i].has_bad_id);
	}
}

static void a_frame_is_one_line(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, LIMIT_LINE);
	rpc_write_result_json(&out, STR("\"a\""), STR("{\n \"x\": \"\\n\"\n}"));
	assert_string_equal(out.data, "{\"id\":\"a\",\"result\":{  \"x\": \"\\n\" }}\n");
	buf_clear(&out);
	const struct rpc_error error = {APP_INVALID_REQUEST, STR("no"), STR("{\"why\":1}")};
	rpc_write_error(&out, STR_NONE, &error);
	assert_string_equal(out.data,
	                    "{\"error\":{\"code\":-32600,\"message\":\"no\",\"data\":{\"why\":1}},\"id\":null}\n");
	buf_finish(&out);
}

/* The loop's work does not depend on the size of the list: neither is it encoded there nor copied. */
static void a_list_that_was_encoded_before_is_sent_as_it_is(void **state)
{
	struct fixture *f = *state;
	struct app_thread_loaded_list_response response = {.next_cursor = STR("\"data\":[]")};
	struct rpc_request *request = make_request(f, METHOD_thread_loaded_list, NULL);
	struct buf items;
	buf_init(&items, KIB);
	buf_append_c(&items, "\"a\",\"b\"");
	const char *was_at = items.data;
	request->id = STR("7");
	request->connection = f->clients[0].connection;
	rpc_reply_with_items(request, &response, "result.data", &items);
	assert_ptr_equal(large_body, was_at);
	assert_string_equal(heard(f, 0), "{\"id\":7,\"result\":{\"data\":[\"a\",\"b\"],"
	                                 "\"nextCursor\":\"\\\"data\\\":[]\"}}\n");
	buf_finish(&items);
	drop_request(request);
}

static void notify_later(struct fixture *f, size_t size)
{
	struct arena arena = {0};
	auto_free char *text = xmalloc(size + 1);
	memset(text, 'x', size);
	struct app_agent_message_delta_notification *params =
		arena_new(&arena, struct app_agent_message_delta_notification);
	params->delta = arena_str(&arena, (struct str){text, size});
	app_server_notify_later(f->server, NOTIFY_item_agent_message_delta, params, &arena, size, NULL, NULL);
	assert_null(arena.blocks);
}

static void a_large_notification_is_encoded_once_for_all_sockets(void **state)
{
	struct fixture *f = *state;
	notify_later(f, LIMIT_SHARED_TEXT);
	size_t len = f->clients[0].sent.len;
	assert_true(len > LIMIT_SHARED_TEXT);
	assert_int_equal(f->clients[1].sent.len, len);
	assert_memory_equal(f->clients[0].sent.data, f->clients[1].sent.data, len);
	assert_int_equal(f->clients[0].taken, 0); /* it got a copy of the frame that the last one took */
	assert_int_equal(f->clients[1].taken, 1);
}

static void a_large_notification_that_nobody_wants_is_freed(void **state)
{
	struct fixture *f = *state;
	connection_opt_out(f->clients[0].connection, NOTIFY_item_agent_message_delta);
	notify_later(f, LIMIT_SHARED_TEXT);
	assert_int_equal(f->clients[0].sent.len, 0);
	assert_true(f->clients[1].sent.len > LIMIT_SHARED_TEXT);
	connection_opt_out(f->clients[1].connection, NOTIFY_item_agent_message_delta);
	heard(f, 1);
	notify_later(f, LIMIT_SHARED_TEXT);
	assert_int_equal(f->clients[1].sent.len, 0);
}

static void a_list_that_outgrew_its_limit_is_refused(void **state)
{
	struct fixture *f = *state;
	struct app_thread_loaded_list_response response = {0};
	struct rpc_request *request = make_request(f, METHOD_thread_loaded_list, NULL);
	struct buf items;
	buf_init(&items, 4);
	buf_append_c(&items, "\"a\",\"b\"");
	request->id = STR("7");
	request->connection = f->clients[0].connection;
	assert_int_equal(rpc_reply_with_items(request, &response, "result.data", &items), RPC_FAIL);
	assert_non_null(strstr(heard(f, 0), "{\"error\":{\"code\":-32603,"));
	buf_finish(&items);
	drop_request(request);
}

static void every_method_can_be_found_by_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < METHOD_count; i++)
		assert_ptr_equal(app_method_find(app_methods[i].wire), &app_methods[i]);
	for (int i = 0; i < NOTIFY_count; i++)
		assert_int_equal(app_notification_find(app_notifications[i].wire), i);
	assert_null(app_method_find(STR("thread")));
	assert_int_equal(app_notification_find(STR("")), NOTIFY_count);
}

static void a_response_that_is_too_large_is_replaced_by_an_error(void **state)
{
	struct fixture *f = *state;
	f->server->out.max = 512; /* in place of LIMIT_STREAM_QUEUE_HARD; a list of the models has more */
	tell(f, 0, "{\"id\":\"big\",\"method\":\"model/list\",\"params\":{}}");
	assert_string_equal(heard(f, 0),
	                    "{\"error\":{\"code\":-32603,\"message\":\"The response is larger than 256 MiB and "
	                    "cannot be sent. Request less at a time.\"},\"id\":\"big\"}\n");
	assert_int_equal(f->clients[0].connection->request_count, 0);
	tell(f, 0, "{\"id\":\"small\",\"method\":\"mock/experimentalMethod\",\"params\":{}}");
	assert_non_null(strstr(heard(f, 0), "{\"id\":\"small\",\"result\":"));
}

static void a_long_error_message_is_truncated_between_characters(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_free char *text = xcalloc(LIMIT_RPC_ERROR + 32, 1);
	memset(text, 'x', LIMIT_RPC_ERROR - 1);
	strcpy(text + LIMIT_RPC_ERROR - 1, "\xc3\xa9 and more");
	const struct rpc_error *error = rpc_error(&arena, APP_INVALID_REQUEST, "%s", text);
	assert_int_equal(error->message.len, LIMIT_RPC_ERROR - 1);
	text[LIMIT_RPC_ERROR - 2] = 0;
	assert_int_equal(rpc_error(&arena, APP_INVALID_REQUEST, "%s", text)->message.len, LIMIT_RPC_ERROR - 2);
}

/* ---- the order of requests ---- */

static struct rpc_scope_entry *ran[8];
static size_t ran_count;

static void on_run(struct rpc_scope_entry *entry)
{
	ran[ran_count++] = entry;
}

static struct {
	struct rpc_scope_entry entry;
	struct app_thread_unsubscribe_params params; /* thread_id alone, the first field of the others */
} made[8];
static size_t made_count;

static struct rpc_scope_entry *make_entry(enum app_method_tag tag, const char *thread_id)
{
	struct rpc_scope_entry *entry = &made[made_count].entry;
	made[made_count].params.thread_id = str_of(thread_id);
	entry->method = &app_methods[tag];
	entry->params = &made[made_count++].params;
	entry->run = on_run;
	rpc_scope_entry_init(entry);
	return entry;
}

static void requests_of_one_thread_keep_their_order(void **state)
{
	struct fixture *f = *state;
	struct rpc_scopes scopes;
	ran_count = made_count = 0;
	rpc_scopes_init(&scopes, f->loop);
	struct rpc_scope_entry *first = make_entry(METHOD_turn_start, "a");
	struct rpc_scope_entry *second = make_entry(METHOD_turn_start, "a");
	struct rpc_scope_entry *third = make_entry(METHOD_thread_unsubscribe, "a");
	struct rpc_scope_entry *other = make_entry(METHOD_turn_start, "b");
	struct rpc_scope_entry *free_one = make_entry(METHOD_model_list, NULL);
	assert_true(rpc_scope_enter(&scopes, first));
	rpc_scope_hold(&scopes, first);
	assert_false(rpc_scope_enter(&scopes, second));
	assert_false(rpc_scope_enter(&scopes, third));
	assert_true(rpc_scope_enter(&scopes, other));
	assert_true(rpc_scope_enter(&scopes, free_one));
	spin(f);
	assert_int_equal(ran_count, 0);
	rpc_scope_leave(&scopes, first);
	spin(f);
	assert_int_equal(ran_count, 2);
	assert_ptr_equal(ran[0], second);
	assert_ptr_equal(ran[1], third);
	assert_true(rpc_scope_enter(&scopes, first)); /* the scope was freed */
	rpc_scopes_finish(&scopes);
}

static void a_cancelled_request_leaves_its_queue(void **state)
{
	struct fixture *f = *state;
	struct rpc_scopes scopes;
	ran_count = made_count = 0;
	rpc_scopes_init(&scopes, f->loop);
	struct rpc_scope_entry *first = make_entry(METHOD_turn_start, "a");
	struct rpc_scope_entry *second = make_entry(METHOD_turn_start, "a");
	struct rpc_scope_entry *third = make_entry(METHOD_turn_start, "a");
	rpc_scope_hold(&scopes, first);
	assert_false(rpc_scope_enter(&scopes, second));
	assert_false(rpc_scope_enter(&scopes, third));
	rpc_scope_leave(&scopes, second);
	rpc_scope_leave(&scopes, first);
	spin(f);
	assert_int_equal(ran_count, 1);
	assert_ptr_equal(ran[0], third);
	rpc_scopes_finish(&scopes);
}

static void readers_share_and_a_writer_is_alone(void **state)
{
	struct fixture *f = *state;
	struct rpc_scopes scopes;
	ran_count = made_count = 0;
	rpc_scopes_init(&scopes, f->loop);
	struct rpc_scope_entry *read_one = make_entry(METHOD_config_read, NULL);
	struct rpc_scope_entry *read_two = make_entry(METHOD_skills_list, NULL);
	struct rpc_scope_entry *write = make_entry(METHOD_config_value_write, NULL);
	struct rpc_scope_entry *read_three = make_entry(METHOD_config_read, NULL);
	rpc_scope_hold(&scopes, read_one);
	assert_true(rpc_scope_enter(&scopes, read_two));
	rpc_scope_hold(&scopes, read_two);
	assert_false(rpc_scope_enter(&scopes, write));
	assert_false(rpc_scope_enter(&scopes, read_three)); /* it would starve the writer */
	rpc_scope_leave(&scopes, read_one);
	spin(f);
	assert_int_equal(ran_count, 0);
	rpc_scope_leave(&scopes, read_two);
	spin(f);
	assert_int_equal(ran_count, 2);
	assert_ptr_equal(ran[0], write);
	assert_ptr_equal(ran[1], read_three);
	rpc_scopes_finish(&scopes);
}

static struct rpc_scopes *holding;

/* Answers later, like most requests, which wait for a worker. */
static void on_run_and_hold(struct rpc_scope_entry *entry)
{
	ran[ran_count++] = entry;
	rpc_scope_hold(holding, entry);
}

static void a_queued_request_holds_its_scope_when_it_runs(void **state)
{
	struct fixture *f = *state;
	struct rpc_scopes scopes;
	struct rpc_scope_entry *all[6];
	static const bool writes[] = {true, false, false, true, false, true};
	ran_count = made_count = 0;
	holding = &scopes;
	rpc_scopes_init(&scopes, f->loop);
	for (size_t i = 0; i < countof(all); i++) {
		all[i] = make_entry(writes[i] ? METHOD_config_value_write : METHOD_config_read, NULL);
		all[i]->run = on_run_and_hold;
		assert_int_equal(rpc_scope_enter(&scopes, all[i]), i == 0);
		if (i == 0)
			rpc_scope_hold(&scopes, all[i]);
	}
	static const size_t ran_after[] = {2, 2, 3, 4, 5, 5}; /* the n-th has left */
	for (size_t i = 0; i < countof(all); i++) {
		rpc_scope_leave(&scopes, all[i]);
		spin(f);
		assert_int_equal(ran_count, ran_after[i]);
	}
	for (size_t i = 0; i < ran_count; i++)
		assert_ptr_equal(ran[i], all[i + 1]);
	rpc_scopes_finish(&scopes);
}

/* ---- questions ---- */

struct answers {
	int count;
	enum rpc_ask_outcome outcome;
	int decision;
	bool is_undeliverable;
};

static bool on_answer(const struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result)
{
	const struct app_file_change_request_approval_response *response = result;
	struct answers *answers = ask->owner;
	answers->count++;
	answers->outcome = outcome;
	answers->decision = response ? (int)response->decision : -1;
	return !answers->is_undeliverable;
}

static struct rpc_ask *open_question(struct fixture *f, struct answers *answers)
{
	struct app_file_change_request_approval_params params = {
		.thread_id = STR("t"), .turn_id = STR("u"), .item_id = STR("i")};
	const struct rpc_ask_options options = {
		.tag = ASK_item_file_change_request_approval,
		.params = &params,
		.owner = answers,
		.key = STR("c1"),
		.on_answer = on_answer,
	};
	return rpc_ask_open(&f->server->asks, &options);
}

static int64_t put_question(struct fixture *f, struct answers *answers)
{
	struct rpc_ask *ask = open_question(f, answers);
	for (int i = 0; i < 2; i++)
		rpc_ask_send(ask, f->clients[i].connection);
	return ask->id;
}

static void the_first_answer_counts(void **state)
{
	struct fixture *f = *state;
	struct answers answers = {0};
	assert_int_equal(put_question(f, &answers), 0);
	auto_free char *first = xstrdup(heard(f, 0));
	assert_string_equal(first,
	                    "{\"method\":\"item/fileChange/requestApproval\",\"id\":0,\"params\":{\"threadId\":\"t\","
	                    "\"turnId\":\"u\",\"itemId\":\"i\",\"startedAtMs\":0,\"reason\":null,"
	                    "\"grantRoot\":null}}\n");
	assert_string_equal(heard(f, 1), first);
	tell(f, 1, "{\"id\":0,\"result\":{\"decision\":\"acceptForSession\"}}");
	tell(f, 0, "{\"id\":0,\"result\":{\"decision\":\"decline\"}}");
	tell(f, 1, "{\"id\":0,\"result\":{\"decision\":\"decline\"}}");
	assert_int_equal(answers.count, 1);
	assert_int_equal(answers.decision, app_file_change_approval_decision_accept_for_session);
	assert_int_equal(put_question(f, &answers), 1);
	rpc_ask_withdraw(rpc_asks_next(&f->server->asks, &answers, NULL));
	tell(f, 0, "{\"id\":1,\"result\":{\"decision\":\"decline\"}}");
	assert_int_equal(answers.count, 1);
}

/* One client's error must not decide for the others. */
static void only_the_failure_of_the_last_client_fails_the_question(void **state)
{
	struct fixture *f = *state;
	static const char *const lines[] = {
		"{\"id\":0,\"result\":{\"decision\":\"maybe\"}}",
		"{\"id\":1,\"result\":[]}",
		"{\"id\":2,\"error\":{\"code\":1,\"message\":\"x\"}}",
		"{\"id\":3,\"result\":null}",
	};
	for (size_t i = 0; i < countof(lines); i++) {
		struct answers answers = {0};
		put_question(f, &answers);
		tell(f, 0, "{\"id\":\"0\",\"result\":{\"decision\":\"accept\"}}"); /* a string is another id */
		assert_int_equal(answers.count, 0);
		tell(f, 0, lines[i]);
		tell(f, 0, lines[i]); /* it must not answer any more */
		assert_int_equal(answers.count, 0);
		tell(f, 1, lines[i]);
		assert_int_equal(answers.count, 1);
		assert_int_equal(answers.outcome, i == 2 ? RPC_ASK_FAILED : RPC_ASK_INVALID);
	}
}

static void a_client_answers_after_the_error_of_another(void **state)
{
	struct fixture *f = *state;
	struct answers answers = {0};
	put_question(f, &answers);
	tell(f, 0, "{\"id\":0,\"error\":{\"code\":1,\"message\":\"x\"}}");
	tell(f, 0, "{\"id\":0,\"result\":{\"decision\":\"accept\"}}"); /* this client has left */
	assert_int_equal(answers.count, 0);
	tell(f, 1, "{\"id\":0,\"result\":{\"decision\":\"acceptForSession\"}}");
	assert_int_equal(answers.count, 1);
	assert_int_equal(answers.outcome, RPC_ASK_ANSWERED);
	assert_int_equal(answers.decision, app_file_change_approval_decision_accept_for_session);
}

static void a_request_fails_when_one_client_failed_and_the_other_closed(void **state)
{
	struct fixture *f = *state;
	struct answers left = {0}, failed = {0};
	put_question(f, &left);
	put_question(f, &failed);
	tell(f, 0, "{\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"}}");
	rpc_asks_forget(&f->server->asks, f->clients[1].connection);
	assert_int_equal(failed.count, 1);
	assert_int_equal(failed.outcome, RPC_ASK_FAILED);
	rpc_asks_forget(&f->server->asks, f->clients[0].connection);
	assert_int_equal(left.count, 0); /* pending: a later client can still answer */
}

static void an_answer_that_cannot_be_delivered_leaves_the_question_open(void **state)
{
	struct fixture *f = *state;
	struct answers answers = {.is_undeliverable = true};
	put_question(f, &answers);
	tell(f, 0, "{\"id\":0,\"result\":{\"decision\":\"decline\"}}");
	assert_int_equal(answers.count, 1);
	answers.is_undeliverable = false;
	tell(f, 1, "{\"id\":0,\"result\":{\"decision\":\"accept\"}}");
	assert_int_equal(answers.count, 2);
	assert_int_equal(answers.decision, app_file_change_approval_decision_accept);
	tell(f, 1, "{\"id\":0,\"result\":{\"decision\":\"accept\"}}");
	assert_int_equal(answers.count, 2);
}

static void later_clients_are_asked_and_others_cannot_answer(void **state)
{
	struct fixture *f = *state;
	struct answers answers = {0};
	open_question(f, &answers);
	tell(f, 0, "{\"id\":0,\"result\":{\"decision\":\"accept\"}}");
	assert_int_equal(answers.count, 0);
	rpc_asks_repeat(&f->server->asks, f->clients[1].connection, &answers);
	assert_non_null(strstr(heard(f, 1), "requestApproval"));
	rpc_asks_repeat(&f->server->asks, f->clients[0].connection, f);
	assert_string_equal(heard(f, 0), "");
	tell(f, 1, "{\"id\":0,\"result\":{\"decision\":\"accept\"}}");
	assert_int_equal(answers.count, 1);
}

/* ---- flow ---- */

/* An interrupt must not wait for its reader, but answers must not accumulate without limit. */
static void a_slow_client_has_some_messages_read(void **state)
{
	struct fixture *f = *state;
	struct client *client = &f->clients[0];
	client->is_full = true;
	for (int i = 0; i <= LIMIT_UNREAD_SUBMISSIONS; i++) { /* the first one finds it full */
		assert_false(client->is_paused);
		tell(f, 0, "{\"id\":1,\"method\":\"mock/experimentalMethod\",\"params\":{}}");
	}
	assert_false(client->is_paused);
	tell(f, 0, "{\"id\":1,\"method\":\"mock/experimentalMethod\",\"params\":{}}");
	assert_true(client->is_paused);
	assert_false(f->clients[1].is_paused);
	client->is_full = false;
	connection_events.on_drain(client->connection);
	assert_false(client->is_paused);
}

static struct thread *make_thread(struct fixture *f)
{
	struct codex_options options = {.services = f->services, .config = f->config, .cwd = "/"};
	struct thread *thread = thread_create(f->server, "test", "1");
	thread->codex = codex_open(&options);
	threads_add(thread);
	return thread;
}

/* The delay is LIMIT_WATCHER_HOLD_MS if there are other subscribers, else unlimited. */
static void a_slow_subscriber_delays_the_others_for_a_limited_time(void **state)
{
	struct fixture *f = *state;
	struct client *client = &f->clients[0];
	struct thread *thread = make_thread(f);
	subscribers_add(thread, client->connection);
	subscribers_add(thread, f->clients[1].connection);
	client->is_full = true;
	uint64_t start_ms = clock_now_ms();
	tell(f, 0, "{\"id\":1,\"method\":\"mock/experimentalMethod\",\"params\":{}}");
	assert_true(thread->subscribers.items[0].is_held);
	assert_false(thread->subscribers.items[1].is_held);
	while (thread->subscribers.items[0].is_held)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_true(clock_now_ms() - start_ms + 10 >= LIMIT_WATCHER_HOLD_MS); /* clocks are coarse */
	assert_true(subscribers_remove(thread, f->clients[1].connection));
	assert_true(thread->subscribers.items[0].is_held);
	client->is_full = false;
	connection_events.on_drain(client->connection);
	assert_false(thread->subscribers.items[0].is_held);
	thread_destroy(thread);
}

static void requests_that_wait_go_with_their_client(void **state)
{
	struct fixture *f = *state;
	tell(f, 0, "{\"id\":1,\"method\":\"thread/start\",\"params\":{\"ephemeral\":true}}");
	connection_events.on_end(NULL, f->clients[0].connection);
	spin(f);
	assert_int_equal(f->ended, 1);
	tell(f, 1, "{\"id\":1,\"method\":\"thread/loaded/list\",\"params\":{}}");
	assert_string_equal(heard(f, 1), "{\"id\":1,\"result\":{\"data\":[],\"nextCursor\":null}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_distinguished),
		cmocka_unit_test(a_frame_is_one_line),
		cmocka_unit_test_setup_teardown(a_list_that_was_encoded_before_is_sent_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_large_notification_is_encoded_once_for_all_sockets, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(a_large_notification_that_nobody_wants_is_freed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_list_that_outgrew_its_limit_is_refused, set_up, tear_down),
		cmocka_unit_test(every_method_can_be_found_by_its_name),
		cmocka_unit_test_setup_teardown(a_response_that_is_too_large_is_replaced_by_an_error, set_up,
	                                        tear_down),
		cmocka_unit_test(a_long_error_message_is_truncated_between_characters),
		cmocka_unit_test_setup_teardown(requests_of_one_thread_keep_their_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cancelled_request_leaves_its_queue, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers_share_and_a_writer_is_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_queued_request_holds_its_scope_when_it_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_answer_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_the_failure_of_the_last_client_fails_the_question, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(a_client_answers_after_the_error_of_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_request_fails_when_one_client_failed_and_the_other_closed, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(an_answer_that_cannot_be_delivered_leaves_the_question_open, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(later_clients_are_asked_and_others_cannot_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_slow_client_has_some_messages_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_slow_subscriber_delays_the_others_for_a_limited_time, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(requests_that_wait_go_with_their_client, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
