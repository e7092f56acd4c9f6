/* Submissions are passed to the engine and events are written by the wire profile; this file decides when the
 * conversation is over.
 *
 * The submission queue is short, and a client may send thousands of lines at once. A submission that does not fit is
 * kept here and the transport is paused until the queue has room, so that none is rejected.
 *
 * A client that does not read its output holds its engine. Up to LIMIT_UNREAD_SUBMISSIONS of its lines are still read,
 * so that it can answer requests and interrupt; then reading stops until the client has caught up.
 *
 * A web page can make a browser send an HTTP request to a local port, with submissions as lines of the body. The lines
 * of the HTTP header are not submissions and end the connection before a line of the body is processed. */
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
#include "transport/transport_stdio.h"

struct proto_server {
	struct proto_options options;
	struct wire_style style;
	struct codex *codex;
	struct transport *transport;
	struct submission *waiting;    /* a submission that is kept until the queue has room */
	struct loop_deferred look;     /* after the client's end of file: checks whether to end */
	struct loop_deferred finished; /* calls on_end outside of the engine's callbacks */
	struct buf out;
	bool is_full;        /* the client does not read: the engine is held */
	size_t unread_count; /* number of lines read since is_full was set */
	bool has_first_line; /* the client's first line was an object */
	bool is_refused;     /* the peer is not a client of this protocol: its input is ignored */
	bool has_said_all;
	bool is_ending; /* shutdown was submitted */
};

/* ---- output ---- */

/* Pauses or resumes reading from the client. */
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
	wire_profile_write(&server->style, event, &server->out);
	send_frames(server, buf_str(&server->out));
	if (server->out.cap > LIMIT_STREAM_KEEP)
		buf_finish(&server->out); /* releases the memory of a large event */
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

/* ---- input ---- */

/* Submits, or keeps the submission as `waiting`, in which case nothing is read until it was submitted. */
static void offer(struct proto_server *server, struct submission *submission)
{
	if (codex_submit_op(server->codex, submission->id, &submission->op, NULL) == 0) {
		submission_destroy(submission);
		return;
	}
	server->waiting = submission;
	choose_input(server);
}

/* Submits an Op of the server itself. No submission may be waiting. */
static void submit(struct proto_server *server, const char *id, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	offer(server, submission_create(str_of(id), &op));
}

static void on_room(void *self)
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
	send_error(server, STR(""),
	           "A line is not a submission but looks like another protocol, such as HTTP; the "
	           "connection is closed.");
	proto_server_shut_down(server);
}

/* Returns false if the line ends the connection. Only clients of a socket are checked; others were started by the
 * user. */
static bool admit(struct proto_server *server, struct str frame)
{
	if (server->is_refused)
		return false;
	if (!server->options.is_socket)
		return true;
	if (http_line_is(frame) || (!server->has_first_line && !is_object(frame))) {
		refuse(server);
		return false;
	}
	if (!server->has_first_line && server->options.on_first_line)
		server->options.on_first_line(server->options.self);
	server->has_first_line = true;
	return true;
}

/* Counts a line of a client that may not be reading. */
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
	wire_profile_observe(&server->style, submission);
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
		loop_defer(&server->look); /* the queues are drained in the next round of the loop */
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

static const struct transport_events transport_events = {on_frame, on_long_frame, on_transport_end, on_transport_drain};

struct codex *proto_codex_open(const struct proto_engine *engine,
                               void (*on_emit)(const struct event *event, void *self), void (*on_space)(void *self),
                               void *self)
{
	struct codex_options options = {
		.services = engine->services,
		.config = engine->config,
		.source = session_source_cli,
		.cwd = engine->cwd,
		.is_interactive = true,
		.serves_tools = true,
		.begins_once_allowed = wire_profile_begins_once_allowed(engine->config->wire_profile),
		.on_event = on_emit,
		.on_room = on_space,
		.self = self,
	};
	return codex_open(&options);
}

struct submission *proto_configure(const struct proto_engine *engine, const char *resume_path)
{
	struct op_configure_session configure = {.resume_path = str_of(resume_path)};
	struct op op = {.tag = OP_configure_session, .body = &configure};
	/* in this profile ids start with the session */
	bool is_legacy = engine->config->wire_profile == wire_profile_legacy2025;
	return submission_create(is_legacy ? STR("0") : STR(""), &op);
}

struct wire_style proto_style(const struct config *config)
{
	return (struct wire_style){.profile = config->wire_profile,
	                           .shows_raw_reasoning = config->show_raw_agent_reasoning};
}

struct proto_server *proto_server_create(const struct proto_options *options, struct error *err)
{
	struct proto_server *server = xnew(struct proto_server);
	server->options = *options;
	server->style = proto_style(options->engine.config);
	buf_init(&server->out, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&server->look, options->loop, on_look, server);
	loop_deferred_init(&server->finished, options->loop, on_finished, server);
	server->transport =
		transport_stdio_create(options->loop, options->in, options->out, &transport_events, server, err);
	if (!server->transport) {
		proto_server_destroy(server);
		return NULL;
	}
	server->codex = proto_codex_open(&options->engine, on_event, on_room, server);
	if (!options->no_auto_configure)
		offer(server, proto_configure(&options->engine, options->resume_path));
	return server;
}

void proto_server_destroy(struct proto_server *server)
{
	if (!server)
		return;
	codex_close(server->codex);
	transport_destroy(server->transport, false);
	submission_destroy(server->waiting);
	loop_deferred_finish(&server->look);
	loop_deferred_finish(&server->finished);
	buf_finish(&server->out);
	free(server);
}
