/* The lines of a server at an MCP client: for any messages, each request of the client ends exactly once, every message
 * that the client sends is JSON, and nothing is left when it is released.
 *
 * The first byte of an input says whether questions are answered, whether a request is
 * cancelled in the middle and whether the connection is lost at the end. "@I" in a line is the id of the client's
 * latest request. */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"

enum { LINES_MAX = 64, REQUESTS = 3, LONG_MS = 3600 * 1000 };
enum { ANSWERS = 1, CANCELS = 2, LOSES = 4, SENDS_FAIL = 16 };

struct world {
	struct mcp_link link; /* first: the client's transport */
	const struct mcp_link_events *events;
	void *events_self;
	unsigned flags;
	uint64_t latest; /* id of a request */
	struct mcp_request *requests[REQUESTS];
	unsigned ends[REQUESTS];
	bool is_destroyed;
};

static struct loop *loop;

static void turn_loop(void)
{
	for (int i = 0; i < 4; i++)
		uv_run(loop_uv(loop), UV_RUN_NOWAIT);
}

/* ---- the transport ---- */

static int on_send(struct mcp_link *link, struct str json, uint64_t request, struct error *err)
{
	struct world *world = (struct world *)link;
	auto_arena struct arena arena = {0};
	const struct json *message = json_parse(&arena, json, NULL);
	fuzz_check(json_is(message, JSON_object) && str_is(json_get_str(message, "jsonrpc"), "2.0"));
	if (request != MCP_NO_REQUEST)
		world->latest = request;
	if ((world->flags & SENDS_FAIL) && request > 3)
		return error_set(err, ERR_limit, "too much is unsent");
	return 0;
}

static void on_close(struct mcp_link *link)
{
	((struct world *)link)->events = NULL;
}

static const struct mcp_link_ops ops = {.send = on_send, .close = on_close};

static struct mcp_link *open_link(void *self, const struct mcp_link_events *events, void *events_self,
                                  struct error *err)
{
	struct world *world = self;
	(void)err;
	world->link = (struct mcp_link){&ops, events, events_self};
	world->events = events;
	world->events_self = events_self;
	return &world->link;
}

static void on_destroy(void *self)
{
	((struct world *)self)->is_destroyed = true;
}

/* ---- requests ---- */

struct asker {
	struct world *world;
	size_t at;
};

static void on_done(const struct mcp_reply *answer, void *self)
{
	struct asker *asker = self;
	fuzz_check(!answer->err != !answer->result);
	asker->world->ends[asker->at]++;
	asker->world->requests[asker->at] = NULL;
}

static void on_progress(struct str message, void *self)
{
	(void)self;
	fuzz_check(message.len);
}

static void on_elicit(struct mcp_elicitation *elicitation, void *self)
{
	const struct asker *asker = self;
	const struct json *params = mcp_elicitation_params(elicitation);
	fuzz_check(!params || params->span.ptr);
	if (asker->world->flags & ANSWERS)
		mcp_elicitation_answer(elicitation, "accept", STR("{\"name\":\"x\"}"));
}

static void on_withdrawn(struct mcp_elicitation *elicitation, void *self)
{
	(void)elicitation, (void)self;
}

static void make_requests(struct mcp_client *client, struct world *world, struct asker *askers)
{
	static const struct mcp_request_events events = {on_done, on_progress, on_elicit, on_withdrawn};
	for (size_t i = 0; i < REQUESTS; i++) {
		askers[i] = (struct asker){world, i};
		const struct mcp_request_options options = {
			.method = "tools/call",
			.params = STR("\"name\":\"t\""),
			.timeout_ms = LONG_MS,
			.events = &events,
			.self = &askers[i],
		};
		world->requests[i] = mcp_request_create(client, &options, NULL);
		fuzz_check(world->requests[i]);
	}
}

/* ---- the server ---- */

static void say_line(struct world *world, struct str line)
{
	auto_buf struct buf out;
	char id[24];
	buf_init(&out, LIMIT_MCP_MESSAGE);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)world->latest);
	for (size_t i = 0; i < line.len; i++) {
		if (i + 1 < line.len && line.ptr[i] == '@' && line.ptr[i + 1] == 'I') {
			buf_append_c(&out, id);
			i++;
		} else {
			buf_append_char(&out, line.ptr[i]);
		}
	}
	auto_free char *copy = xmalloc(out.len + 1);
	memcpy(copy, out.data ? out.data : "", out.len);
	world->events->on_message(str_n(copy, out.len), world->events_self);
	turn_loop();
}

static void serve(struct world *world, struct str lines)
{
	struct str line;
	struct error err;
	turn_loop();
	if (world->events)
		world->events->on_open(world->events_self);
	turn_loop();
	for (size_t i = 0; i < LINES_MAX && world->events && str_next_line(&lines, &line); i++) {
		say_line(world, line);
		if (i == 4 && (world->flags & CANCELS))
			mcp_request_cancel(steal(world->requests[1]), "fuzz");
	}
	error_set(&err, ERR_transport, "the server has exited");
	if (world->events && (world->flags & LOSES))
		world->events->on_closed(&err, world->events_self);
	turn_loop();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {0};
	struct asker askers[REQUESTS];
	if (size < 1)
		return 0;
	if (!loop)
		loop = loop_create(NULL);
	world.flags = data[0];
	const struct mcp_client_options options = {
		.name = "fuzz",
		.startup_timeout_ms = LONG_MS,
		.open = open_link,
		.on_destroy = on_destroy,
		.self = &world,
	};
	struct mcp_client *client = mcp_client_create(loop, &options, NULL);
	make_requests(client, &world, askers);
	serve(&world, str_n((const char *)data + 1, size - 1));
	for (size_t i = 0; i < REQUESTS; i++) {
		fuzz_check(world.ends[i] <= 1 && !(world.ends[i] && world.requests[i]));
		mcp_request_cancel(steal(world.requests[i]), "the end");
	}
	mcp_client_unref(client);
	fuzz_check(world.is_destroyed);
	turn_loop();
	return 0;
}
