/* The codec of an MCP client: what it writes, and what it makes of each kind of message, over a transport of the test.
 */
#include "test.h"

#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"

enum { LONG_MS = 3600 * 1000 };

struct world {
	struct mcp_link link; /* first: the client's transport */
	struct loop *loop;
	struct mcp_client *client;
	bool is_open;
	uint64_t latest; /* id of the latest request */
	char *sent;      /* all messages, each with a newline */
	/* of the request */
	unsigned ends;
	char *end;
	struct mcp_elicitation *asked;
	unsigned withdrawn;
};

static void turn(struct world *world)
{
	for (int i = 0; i < 4; i++)
		uv_run(loop_uv(world->loop), UV_RUN_NOWAIT);
}

static int on_send(struct mcp_link *link, struct str json, uint64_t request, struct error *err)
{
	struct world *world = (struct world *)link;
	char *before = world->sent;
	(void)err;
	world->sent = xasprintf("%s%.*s\n", before, STR_ARG(json));
	free(before);
	if (request != MCP_NO_REQUEST)
		world->latest = request;
	return 0;
}

static void on_close(struct mcp_link *link)
{
	((struct world *)link)->is_open = false;
}

static const struct mcp_link_ops ops = {.send = on_send, .close = on_close};

static struct mcp_link *open_link(void *self, const struct mcp_link_events *events, void *events_self,
                                  struct error *err)
{
	struct world *world = self;
	(void)err;
	world->link = (struct mcp_link){&ops, events, events_self};
	world->is_open = true;
	return &world->link;
}

static void on_destroy(void *self)
{
	(void)self;
}

static void begin(struct world *world)
{
	*world = (struct world){.loop = loop_create(NULL), .sent = xstrdup("")};
	const struct mcp_client_options options = {
		.name = "s", .startup_timeout_ms = LONG_MS, .open = open_link, .on_destroy = on_destroy, .self = world};
	world->client = mcp_client_create(world->loop, &options, NULL);
	mcp_client_start(world->client);
	turn(world);
	world->link.events->on_open(world->link.self);
	turn(world);
}

static void end(struct world *world)
{
	mcp_client_unref(world->client);
	turn(world);
	loop_destroy(world->loop);
	free(world->sent);
	free(world->end);
}

/* The server writes a line; "@" stands for the id of the client's latest request. */
static void say(struct world *world, const char *line)
{
	auto_buf struct buf out;
	buf_init(&out, MIB);
	for (; *line; line++) {
		if (*line == '@')
			buf_printf(&out, "%llu", (unsigned long long)world->latest);
		else
			buf_append_char(&out, *line);
	}
	world->link.events->on_message(buf_str(&out), world->link.self);
	turn(world);
}

/* Returns the latest message of the client. */
static const char *last(struct world *world)
{
	char *stop = strrchr(world->sent, '\n');
	if (!stop)
		return "";
	*stop = '\0';
	char *start = strrchr(world->sent, '\n');
	return start ? start + 1 : world->sent;
}

static void answer_initialize(struct world *world, const char *version)
{
	auto_free char *line =
		xasprintf("{\"jsonrpc\":\"2.0\",\"id\":@,\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":"
	                  "{\"tools\":{}},\"serverInfo\":{\"name\":\"n\",\"version\":\"1\"}}}",
	                  version);
	say(world, line);
}

static void begin_ready(struct world *world, const char *version)
{
	begin(world);
	answer_initialize(world, version);
	say(world, "{\"jsonrpc\":\"2.0\",\"id\":@,\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}}]}}");
	assert_int_equal(mcp_client_state(world->client), MCP_READY);
	free(world->sent);
	world->sent = xstrdup("");
}

/* ---- one request ---- */

static void on_done(const struct mcp_reply *reply, void *self)
{
	struct world *world = self;
	world->ends++;
	free(world->end);
	world->end = reply->err ? xstrdup(reply->err->text) : str_dup(reply->result->span);
}

static void on_elicit(struct mcp_elicitation *elicitation, void *self)
{
	((struct world *)self)->asked = elicitation;
}

static void on_withdrawn(struct mcp_elicitation *elicitation, void *self)
{
	struct world *world = self;
	(void)elicitation;
	world->asked = NULL;
	world->withdrawn++;
}

static struct mcp_request *call(struct world *world)
{
	static const struct mcp_request_events events = {
		.on_done = on_done, .on_elicit = on_elicit, .on_withdrawn = on_withdrawn};
	const struct mcp_request_options options = {.method = "tools/call",
	                                            .params = STR("\"name\":\"t\",\"arguments\":{\"n\":1.50}"),
	                                            .meta = STR("\"callId\":\"c\""),
	                                            .timeout_ms = LONG_MS,
	                                            .events = &events,
	                                            .self = world};
	struct mcp_request *request = mcp_request_create(world->client, &options, NULL);
	assert_non_null(request);
	turn(world);
	return request;
}

/* ---- the start ---- */

static void the_handshake_has_the_documented_form(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	assert_string_equal(
		last(&world),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
		"\"2025-11-25\",\"capabilities\":{\"elicitation\":{\"form\":{},\"url\":{}}},\"clientInfo\":{"
		"\"name\":\"codex-mcp-client\",\"title\":\"Codex\",\"version\":\"" CODEX_VERSION "\"}}}");
	free(world.sent);
	world.sent = xstrdup("");
	answer_initialize(&world, "2025-06-18");
	assert_string_equal(world.sent,
	                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
	                    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
	                    "\"progressToken\":2}}}\n");
	say(&world, "{\"id\":@,\"result\":{\"tools\":[],\"nextCursor\":\"a\\\"b\"}}");
	assert_non_null(strstr(last(&world), "\"cursor\":\"a\\\"b\""));
	end(&world);
}

static void every_revision_with_a_handshake_is_spoken(void **state)
{
	(void)state;
	static const struct {
		const char *version;
		enum mcp_state state;
	} rows[] = {
		{"2024-11-05", MCP_READY}, {"2025-03-26", MCP_READY}, {"2025-06-18", MCP_READY},
		{"2025-11-25", MCP_READY}, {"2099-01-01", MCP_READY}, {"2026-07-28", MCP_FAILED},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct world world;
		begin(&world);
		answer_initialize(&world, rows[i].version);
		say(&world, "{\"id\":@,\"result\":{\"tools\":[]}}");
		assert_int_equal(mcp_client_state(world.client), rows[i].state);
		assert_true(world.is_open == (rows[i].state == MCP_READY));
		end(&world);
	}
}

static void a_start_fails_with_the_reason(void **state)
{
	(void)state;
	static const struct {
		const char *line, *reason;
	} rows[] = {
		{"{\"id\":@,\"error\":{\"code\":-32000,\"message\":\"no\"}}", "JSON-RPC error: -32000: no"},
		{"{\"id\":@,\"result\":{\"tools\":[],\"nextCursor\":\"x\"}}", "repeated pagination cursor"},
		{"{\"id\":@,\"error\":{\"code\":-1,\"message\":\"gone\"}}", "Mcp error: -1: gone"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct world world;
		bool needs_login;
		begin(&world);
		if (i)
			answer_initialize(&world, "2025-06-18");
		say(&world, rows[i].line);
		if (i == 1)
			say(&world, rows[i].line);
		assert_int_equal(mcp_client_state(world.client), MCP_FAILED);
		assert_non_null(strstr(mcp_client_failure(world.client, &needs_login), rows[i].reason));
		end(&world);
	}
}

static void pages_without_end_are_refused(void **state)
{
	(void)state;
	struct world world;
	bool needs_login;
	begin(&world);
	answer_initialize(&world, "2025-06-18");
	for (int page = 1; page < LIMIT_MCP_PAGES; page++) {
		auto_free char *line = xasprintf("{\"id\":@,\"result\":{\"tools\":[],\"nextCursor\":\"%d\"}}", page);
		say(&world, line);
		assert_int_equal(mcp_client_state(world.client), MCP_STARTING);
	}
	say(&world, "{\"id\":@,\"result\":{\"tools\":[],\"nextCursor\":\"last\"}}");
	assert_int_equal(mcp_client_state(world.client), MCP_FAILED);
	assert_non_null(strstr(mcp_client_failure(world.client, &needs_login), "more than 1000 pages"));
	end(&world);
}

/* ---- messages of the server ---- */

static void requests_are_answered_under_their_ids(void **state)
{
	(void)state;
	static const struct {
		const char *line, *answer;
	} rows[] = {
		{"{\"id\":\"a\\u0001\",\"method\":\"ping\"}",
	         "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0001\",\"result\":{}}"},
		{"{\"id\":12345678901234567890123,\"method\":\"ping\"}",
	         "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"result\":{}}"},
		{"{\"id\":7,\"method\":\"roots/list\"}", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"roots\":[]}}"},
		{"{\"id\":8,\"method\":\"sampling/createMessage\"}",
	         "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":{\"code\":-32601,\"message\":\"Method not found: "
	         "sampling/createMessage\"}}"},
		{"{\"id\":9,\"method\":\"elicitation/create\",\"params\":{}}",
	         "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"action\":\"decline\"}}"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct world world;
		begin_ready(&world, "2025-06-18");
		say(&world, rows[i].line);
		assert_string_equal(last(&world), rows[i].answer);
		end(&world);
	}
}

static void what_is_no_message_is_skipped(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"",
		"hello",
		"{",
		"[]",
		"7",
		"null",
		"{}",
		"{\"id\":null,\"result\":1}",
		"{\"id\":@}",
		"{\"id\":999,\"result\":1}",
		"{\"id\":\"@\",\"result\":1}",
		"{\"id\":-@,\"result\":1}",
		"{\"method\":\"notifications/message\"}",
		"{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"x\",\"message\":\"m\"}}",
		"[{\"id\":@,\"result\":{}}]",
		"{\"method\":7,\"id\":@}",
	};
	struct world world;
	begin_ready(&world, "2025-06-18");
	struct mcp_request *request = call(&world);
	for (size_t i = 0; i < countof(lines); i++)
		say(&world, lines[i]);
	assert_int_equal(world.ends, 0);
	assert_int_equal(mcp_client_state(world.client), MCP_READY);
	mcp_request_cancel(request, "enough");
	end(&world);
}

static void batches_are_for_the_older_revisions(void **state)
{
	(void)state;
	struct world world;
	begin_ready(&world, "2025-03-26");
	call(&world);
	say(&world, "[{\"method\":\"x\"},{\"id\":@,\"result\":{\"content\":[]}}]");
	assert_int_equal(world.ends, 1);
	end(&world);
}

/* ---- requests of the client ---- */

static void a_call_has_its_token_and_ends_once(void **state)
{
	(void)state;
	struct world world;
	begin_ready(&world, "2025-11-25");
	call(&world);
	assert_string_equal(last(&world),
	                    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"t\","
	                    "\"arguments\":{\"n\":1.50},\"_meta\":{\"progressToken\":3,\"callId\":\"c\"}}}");
	say(&world, "{\"id\":@,\"result\":{\"a\":1},\"error\":null}");
	say(&world, "{\"id\":@,\"result\":{\"a\":2}}");
	assert_int_equal(world.ends, 1);
	assert_string_equal(world.end, "{\"a\":1}");
	end(&world);
}

static void an_error_counts_more_than_a_result(void **state)
{
	(void)state;
	struct world world;
	begin_ready(&world, "2025-11-25");
	call(&world);
	say(&world, "{\"id\":@,\"result\":{},\"error\":{\"code\":-32602,\"message\":\"bad\"}}");
	assert_string_equal(world.end, "Mcp error: -32602: bad");
	end(&world);
}

static void a_cancelled_call_is_cancelled_at_the_server(void **state)
{
	(void)state;
	struct world world;
	begin_ready(&world, "2025-11-25");
	mcp_request_cancel(call(&world), "why");
	assert_string_equal(last(&world),
	                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
	                    "3,\"reason\":\"why\"}}");
	say(&world, "{\"id\":@,\"result\":{}}");
	assert_int_equal(world.ends, 0);
	end(&world);
}

static void a_lost_connection_ends_the_call(void **state)
{
	(void)state;
	struct world world;
	struct error err;
	begin_ready(&world, "2025-11-25");
	call(&world);
	error_set(&err, ERR_transport, "it has exited");
	world.link.events->on_closed(&err, world.link.self);
	turn(&world);
	assert_string_equal(world.end, "Transport closed: it has exited");
	end(&world);
}

/* ---- questions of the server ---- */

#define QUESTION                                                                                                       \
	"{\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\",\"requestedSchema\":{\"type\":" \
	"\"object\",\"properties\":{\"a\":{\"default\":3},\"b\":{\"default\":4},\"c\":{}}}}}"

static void an_accepted_form_has_the_defaults(void **state)
{
	(void)state;
	struct world world;
	begin_ready(&world, "2025-11-25");
	call(&world);
	say(&world, QUESTION);
	assert_non_null(world.asked);
	mcp_elicitation_answer(world.asked, "accept", STR("{\"b\":null}"));
	assert_string_equal(last(&world),
	                    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"action\":\"accept\",\"content\":{"
	                    "\"b\":null,\"a\":3}}}");
	say(&world, "{\"id\":@,\"result\":{}}");
	assert_int_equal(world.withdrawn, 0);
	end(&world);
}

static void a_question_ends_with_its_call_or_its_server(void **state)
{
	(void)state;
	struct world world;
	begin_ready(&world, "2025-11-25");
	call(&world);
	say(&world, QUESTION);
	say(&world, "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"q\"}}");
	assert_int_equal(world.withdrawn, 1);
	say(&world, QUESTION);
	assert_non_null(world.asked);
	say(&world, "{\"id\":@,\"result\":{}}");
	assert_int_equal(world.withdrawn, 2);
	assert_string_equal(last(&world), "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"action\":\"cancel\"}}");
	end(&world);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_handshake_has_the_documented_form),
		cmocka_unit_test(every_revision_with_a_handshake_is_spoken),
		cmocka_unit_test(a_start_fails_with_the_reason),
		cmocka_unit_test(pages_without_end_are_refused),
		cmocka_unit_test(requests_are_answered_under_their_ids),
		cmocka_unit_test(what_is_no_message_is_skipped),
		cmocka_unit_test(batches_are_for_the_older_revisions),
		cmocka_unit_test(a_call_has_its_token_and_ends_once),
		cmocka_unit_test(an_error_counts_more_than_a_result),
		cmocka_unit_test(a_cancelled_call_is_cancelled_at_the_server),
		cmocka_unit_test(a_lost_connection_ends_the_call),
		cmocka_unit_test(an_accepted_form_has_the_defaults),
		cmocka_unit_test(a_question_ends_with_its_call_or_its_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
