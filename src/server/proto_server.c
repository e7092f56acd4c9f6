/* Nothing is interpreted here: submissions go in as they are, events leave as the wire profile writes them. What this
 * file knows is when a conversation over bytes is over.
 *
 * The submission queue is short, and a client may send thousands of lines at once: the line that does not fit waits
 * here and the transport with it, so that nothing is refused that only came early.
 *
 * A client that does not read what it is sent holds its Codex. LIMIT_UNREAD_SUBMISSIONS of its lines are read
 * meanwhile, whatever waits to be sent, so that it can answer and interrupt; then no more until it has caught up.
 *
 * A web page can make a browser send a request to a port of this machine, with lines of its own in the body. The lines
 * of HTTP around them are no submissions, and end the connection before any is carried out. */
#include "server/proto_server.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "net/http_head.h"
#include "server/wire_profile.h"
#include "transport/transport_stdio.h"

struct proto_server {
	struct proto_options options;
	struct wire_style style;
	struct codex *codex;
	struct transport *transport;
	struct submission *waiting;    /* for room in the queue */
	struct loop_deferred retry;    /* submits what waits */
	struct loop_deferred look;     /* whether it is over, once the client has said all */
	struct loop_deferred finished; /* tells the owner, outside the engine's callbacks */
	struct buf out;
	bool is_full;        /* the client does not read: the codex is held */
	size_t unread_count; /* lines of it since */
	bool has_been_heard; /* its first line was an object */
	bool is_refused;     /* it speaks something else: nothing of it is looked at any more */
	bool has_said_all;
	bool is_ending; /* shutdown was submitted */
};

/* ---- out ---- */

/* Reads from the client, or does not, as things stand now. */
static void choose_input(struct proto_server *server)
{
	if (server->waiting || server->is_refused || server->unread_count > LIMIT_UNREAD_SUBMISSIONS)
		transport_pause(server->transport);
	else
		transport_resume(server->transport);
}

static void send_frames(struct proto_server *server, struct str frames)
{
	bool has_room = transport_send(server->transport, frames);
	if (!has_room && !server->is_full) {
		server->is_full = true;
		codex_hold(server->codex);
	}
}

static void on_transport_drain(void *self)
{
	struct proto_server *server = self;
	server->is_full = false;
	server->unread_count = 0;
	codex_release(server->codex);
	choose_input(server);
}

static void send_event(struct proto_server *server, const struct event *event)
{
	wire_profile_write_whole(&server->style, event, &server->out);
	send_frames(server, buf_str(&server->out));
	if (server->out.cap > LIMIT_STREAM_KEEP)
		buf_finish(&server->out); /* one large event does not keep its memory */
	else
		buf_clear(&server->out);
	if (!server->out.data)
		buf_init(&server->out, LIMIT_STREAM_QUEUE_HARD);
}

static void on_event(const struct event *event, void *self)
{
	struct proto_server *server = self;
	send_event(server, event);
	if (event->msg.tag == EV_shutdown_complete)
		loop_defer(&server->finished);
	else if (server->has_said_all)
		loop_defer(&server->look);
}

static void on_finished(void *self)
{
	struct proto_server *server = self;
	transport_destroy(steal(server->transport), true);
	server->options.on_end(server->options.self);
}

/* ---- in ---- */

/* What is waiting takes its turn before anything newer is read. */
static void offer(struct proto_server *server, struct submission *submission)
{
	if (codex_submit_op(server->codex, submission->id, &submission->op, NULL) == 0) {
		submission_destroy(submission);
		return;
	}
	server->waiting = submission;
	choose_input(server);
	loop_defer(&server->retry);
}

/* Of our own accord; nothing may be waiting. */
static void submit(struct proto_server *server, const char *id, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	offer(server, submission_create(str_of(id), &op));
}

static void on_retry(void *self)
{
	struct proto_server *server = self;
	if (!server->waiting || !server->transport)
		return;
	offer(server, steal(server->waiting));
	if (!server->waiting)
		choose_input(server);
}

static void send_error(struct proto_server *server, struct str id, const char *text)
{
	struct ev_error body = {.message = str_of(text), .codex_error_info = STR("\"bad_request\"")};
	struct event *event = event_create(id, EV_error, &body);
	send_event(server, event);
	event_destroy(event);
}

static bool is_object(struct str frame)
{
	auto_arena struct arena arena = {0};
	return json_is(json_parse(&arena, frame, NULL), JSON_object);
}

static void refuse(struct proto_server *server)
{
	server->is_refused = true;
	transport_pause(server->transport);
	send_error(server, STR(""), "A line is not a submission but looks like another protocol, such as HTTP; the "
	                            "connection is closed.");
	proto_server_shut_down(server);
}

/* Whether the client may go on after this line; only of a socket can it not be known who is there. */
static bool admit(struct proto_server *server, struct str frame)
{
	if (server->is_refused)
		return false;
	if (!server->options.is_socket)
		return true;
	if (http_line_is(frame) || (!server->has_been_heard && !is_object(frame))) {
		refuse(server);
		return false;
	}
	if (!server->has_been_heard && server->options.on_heard)
		server->options.on_heard(server->options.self);
	server->has_been_heard = true;
	return true;
}

/* One more line of a client that may not be reading. */
static void count_unread(struct proto_server *server)
{
	if (!server->is_full)
		return;
	server->unread_count++;
	choose_input(server);
}

static void on_frame(struct str frame, void *self)
{
	struct error err;
	struct proto_server *server = self;
	if (!admit(server, frame))
		return;
	count_unread(server);
	struct submission *submission = submission_decode(frame, &err);
	if (!submission) {
		fprintf(stderr, "invalid submission: %s\n", err.text);
		return;
	}
	wire_profile_hear(&server->style, submission);
	offer(server, submission);
}

static void on_long_frame(struct str head, void *self)
{
	auto_arena struct arena arena = {0};
	struct proto_server *server = self;
	struct str id;
	char text[128];
	if (server->is_refused)
		return;
	if (server->options.is_socket && (http_line_is(head) || !json_peek_is_object(head))) {
		refuse(server);
		return;
	}
	count_unread(server);
	const struct json *json = json_peek_member(head, "id", &id) ? json_parse(&arena, id, NULL) : NULL;
	snprintf(text, sizeof(text), "A line longer than %d MiB was skipped.", LIMIT_LINE / MIB);
	send_error(server, json_is(json, JSON_string) ? json->text : STR(""), text);
}

/* ---- the end ---- */

void proto_server_shut_down(struct proto_server *server)
{
	if (server->is_ending)
		return;
	server->is_ending = true;
	submission_destroy(steal(server->waiting));
	submit(server, "", OP_shutdown, NULL);
}

static void on_look(void *self)
{
	struct proto_server *server = self;
	enum codex_state state = codex_get_state(server->codex);
	if (state == CODEX_QUEUED)
		loop_defer(&server->look); /* the queues empty themselves in the loop's next round */
	else if (state != CODEX_RUNNING)
		proto_server_shut_down(server);
}

static void on_transport_end(const struct error *err, void *self)
{
	struct proto_server *server = self;
	server->has_said_all = true;
	if (err)
		proto_server_shut_down(server);
	else
		loop_defer(&server->look);
}

static const struct transport_events transport_events = {on_frame, on_long_frame, on_transport_end,
                                                         on_transport_drain};

static void open_codex(struct proto_server *server)
{
	const struct proto_options *own = &server->options;
	struct codex_options options = {
		.services = own->services,
		.config = own->config,
		.source = session_source_cli,
		.cwd = own->cwd,
		.is_interactive = true,
		.serves_tools = true,
		.begins_once_allowed = wire_profile_begins_once_allowed(own->config->wire_profile),
		.on_event = on_event,
		.self = server,
	};
	server->codex = codex_open(&options);
	struct op_configure_session configure = {.resume_path = str_of(own->resume_path)};
	bool is_legacy = server->style.profile == wire_profile_legacy2025; /* it counted this submission as its first */
	if (!own->no_auto_configure)
		submit(server, is_legacy ? "0" : "", OP_configure_session, &configure);
}

struct proto_server *proto_server_create(const struct proto_options *options, struct error *err)
{
	const struct config *config = options->config;
	struct proto_server *server = xnew(struct proto_server);
	server->options = *options;
	server->style = (struct wire_style){.profile = config->wire_profile,
	                                    .shows_raw_reasoning = config->show_raw_agent_reasoning};
	buf_init(&server->out, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&server->retry, options->loop, on_retry, server);
	loop_deferred_init(&server->look, options->loop, on_look, server);
	loop_deferred_init(&server->finished, options->loop, on_finished, server);
	server->transport = transport_stdio_create(options->loop, options->in, options->out, &transport_events, server,
	                                           err);
	if (!server->transport) {
		proto_server_destroy(server);
		return NULL;
	}
	open_codex(server);
	return server;
}

void proto_server_destroy(struct proto_server *server)
{
	if (!server)
		return;
	codex_close(server->codex);
	transport_destroy(server->transport, false);
	submission_destroy(server->waiting);
	loop_deferred_finish(&server->retry);
	loop_deferred_finish(&server->look);
	loop_deferred_finish(&server->finished);
	buf_finish(&server->out);
	free(server);
}
