/* The client tracks only whether a task is running and which requests are pending. Both follow from events of any wire
 * profile. Each line of a script waits until no task runs or a request is pending, because a script cannot react to
 * events; lines typed by a user are sent at once. */
#include "ui/debug/debug_client.h"

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "ui/debug/debug_event.h"
#include "ui/debug/debug_input.h"
#include "ui/debug/debug_peer.h"
#include "ui/cli/terminal.h"

struct question {
	char *id;
	bool is_patch;
};

struct debug_client {
	struct debug_client_options options;
	struct debug_peer peer;
	struct debug_input *input;
	VEC(struct question) questions; /* oldest first */
	struct buf out;
	unsigned last_id;
	bool is_busy;   /* a task is running, or input that was sent has not ended */
	bool has_begun; /* the task has started, so an error is not its end */
	bool was_interrupted;
	/* the warning was printed that another Ctrl-C ends the session; reset by a typed line or a new task */
	bool was_warned;
	bool has_said_all;  /* the input has ended */
	bool is_leaving;    /* shutdown was sent */
	bool has_shut_down; /* shutdown_complete was received */
	bool has_ended;
};

/* ---- out ---- */

static void print(struct debug_client *client)
{
	best_effort(fd_write_all(STDOUT_FILENO, client->out.data, client->out.len, NULL));
	buf_reuse(&client->out);
}

static void note(const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static void send_line(struct debug_client *client, struct str line)
{
	auto_buf struct buf frame;
	buf_init(&frame, (size_t)LIMIT_LINE * 8);
	buf_append_str(&frame, line);
	buf_append_char(&frame, '\n');
	transport_send(client->peer.transport, buf_str(&frame));
}

/* Begins {"id":"…","op":{"type":"…"; the members of the Op and submit_end must follow. */
static struct json_writer submit_begin(struct debug_client *client, struct buf *line, const char *type)
{
	buf_init(line, (size_t)LIMIT_LINE * 8);
	struct json_writer w = json_writer(line);
	jw_object(&w);
	jw_key(&w, "id");
	jw_strf(&w, "%u", ++client->last_id);
	jw_key(&w, "op");
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	return w;
}

static void submit_end(struct debug_client *client, struct json_writer *w, struct buf *line)
{
	jw_object_end(w);
	jw_object_end(w);
	send_line(client, buf_str(line));
	buf_finish(line);
}

static void submit_plain(struct debug_client *client, const char *type)
{
	struct buf line;
	struct json_writer w = submit_begin(client, &line, type);
	submit_end(client, &w, &line);
}

static void submit_text(struct debug_client *client, struct str text)
{
	struct buf line;
	struct json_writer w = submit_begin(client, &line, "user_input");
	jw_key(&w, "items");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "text");
	jw_member_str(&w, "text", text);
	jw_object_end(&w);
	jw_array_end(&w);
	submit_end(client, &w, &line);
	client->is_busy = true;
	client->has_begun = false;
}

static void leave(struct debug_client *client)
{
	if (client->is_leaving)
		return;
	client->is_leaving = true;
	submit_plain(client, "shutdown");
}

/* Called after a change: reads the next line of a script, or ends the session after the last one. */
static void continue_input(struct debug_client *client)
{
	bool may_go_on = !client->is_busy || client->questions.count;
	if (client->has_said_all && may_go_on)
		leave(client);
	else if (client->options.is_script && may_go_on && !client->is_leaving)
		debug_input_resume(client->input);
}

/* ---- questions ---- */

static void drop_question(struct debug_client *client, size_t at)
{
	free(client->questions.items[at].id);
	for (client->questions.count--; at < client->questions.count; at++)
		client->questions.items[at] = client->questions.items[at + 1];
}

static void drop_questions(struct debug_client *client)
{
	while (client->questions.count)
		drop_question(client, client->questions.count - 1);
}

static void ask(struct debug_client *client, const struct json *msg, bool is_patch)
{
	struct str id = json_get_str(msg, "call_id");
	if (client->questions.count >= LIMIT_DEBUG_QUESTIONS || !id.ptr)
		return;
	vec_push(&client->questions, (struct question){str_dup(id), is_patch});
	if (!client->options.is_script)
		note(client->questions.count == 1
		             ? "    allow? y, n, or a (for the session)"
		             : "    allow? y, n or a answers the oldest request; /y ID a certain one");
}

static void answer(struct debug_client *client, struct str id, const char *decision)
{
	struct buf line;
	size_t at = 0;
	while (id.len && at < client->questions.count && !str_is(id, client->questions.items[at].id))
		at++;
	if (at >= client->questions.count) {
		note(id.len ? "no pending request has that id" : "no request is pending");
		return;
	}
	const struct question *question = &client->questions.items[at];
	struct json_writer w = submit_begin(client, &line, question->is_patch ? "patch_approval" : "exec_approval");
	jw_member_cstr(&w, "id", question->id);
	jw_member_cstr(&w, "decision", decision);
	submit_end(client, &w, &line);
	drop_question(client, at);
}

/* ---- what is typed ---- */

static void on_typed_yes(struct debug_client *client, struct str argument)
{
	answer(client, argument, "approved");
}

static void on_typed_no(struct debug_client *client, struct str argument)
{
	answer(client, argument, "denied");
}

static void on_typed_always(struct debug_client *client, struct str argument)
{
	answer(client, argument, "approved_for_session");
}

static void on_typed_interrupt(struct debug_client *client, struct str argument)
{
	(void)argument;
	client->was_interrupted = true;
	submit_plain(client, "interrupt");
}

static void on_typed_op(struct debug_client *client, struct str argument)
{
	auto_free char *type = str_dup(argument);
	if (argument.len)
		submit_plain(client, type);
	else
		note("usage: /op TYPE; docs/protocol.md lists the types");
}

/* A raw line that brings user input is waited for like any other input. */
static void on_typed_raw(struct debug_client *client, struct str argument)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, argument, NULL);
	struct str type = json_get_str(json_get(json, "op"), "type");
	send_line(client, argument);
	if (str_is(type, "user_input") || str_is(type, "user_turn")) {
		client->is_busy = true;
		client->has_begun = false;
	}
}

static void on_typed_help(struct debug_client *client, struct str argument);

static void on_typed_quit(struct debug_client *client, struct str argument)
{
	(void)argument;
	leave(client);
}

static const struct typed {
	const char *word, *argument, *doc;
	void (*run)(struct debug_client *client, struct str argument);
} typed_words[] = {
#define TYPED(function, word, argument, doc) {word, argument, doc, on_typed_##function},
#include "ui/debug/debug_client.def"
#undef TYPED
};

static void on_typed_help(struct debug_client *client, struct str argument)
{
	(void)client, (void)argument;
	note("A line of text is sent to the model as a prompt. Commands begin with a slash:");
	for (size_t i = 0; i < countof(typed_words); i++)
		fprintf(stderr, "  /%-9s %-5s %s\n", typed_words[i].word, typed_words[i].argument, typed_words[i].doc);
	note("  //…              Send a prompt that begins with a slash");
}

static const struct typed *find_typed(struct str word)
{
	for (size_t i = 0; i < countof(typed_words); i++) {
		if (str_is(word, typed_words[i].word))
			return &typed_words[i];
	}
	return NULL;
}

static void run_typed(struct debug_client *client, struct str line)
{
	struct str word, rest = line;
	str_next_part(&rest, ' ', &word);
	const struct typed *typed = find_typed(word);
	if (typed)
		typed->run(client, rest.ptr ? str_trim(rest) : STR(""));
	else
		fprintf(stderr, "unknown command /%.*s; /help lists the commands\n", STR_ARG(word));
}

/* Finds an answer without a slash: y, n, a, yes or no. */
static const struct typed *find_answer(struct str line)
{
	if (str_is(line, "yes") || str_is(line, "no"))
		line.len = 1;
	return line.len == 1 ? find_typed(line) : NULL;
}

/* Refuses other text while a request is pending, because its author may have meant an answer; it must not become a
 * prompt. */
static void answer_or_refuse(struct debug_client *client, struct str line)
{
	const struct typed *typed = find_answer(str_trim(line));
	if (typed)
		typed->run(client, STR(""));
	else
		note("a request is pending: answer y, n or a, or /interrupt the task");
}

static void on_line(struct str line, void *self)
{
	struct debug_client *client = self;
	client->was_interrupted = client->was_warned = false;
	if (client->is_leaving)
		return;
	if (str_has_prefix(line, "/") && !str_has_prefix(line, "//"))
		run_typed(client, str_skip(line, 1));
	else if (client->questions.count)
		answer_or_refuse(client, line);
	else
		submit_text(client, str_skip(line, str_has_prefix(line, "//") ? 1 : 0));
	if (client->options.is_script && client->is_busy && !client->questions.count)
		debug_input_pause(client->input);
}

static void on_input_end(void *self)
{
	struct debug_client *client = self;
	client->has_said_all = true;
	if (!client->options.is_script)
		leave(client);
	else
		continue_input(client);
}

void debug_client_interrupt(struct debug_client *client)
{
	if (!client->is_leaving && !client->was_warned) {
		note(client->is_busy ? "interrupted; Ctrl-C again ends the session" : "Ctrl-C again ends the session");
		if (client->is_busy)
			on_typed_interrupt(client, STR_NONE);
		client->was_warned = true;
	} else if (!client->is_leaving) {
		leave(client);
	} else if (!client->has_ended) {
		client->has_ended = true;
		client->options.on_end(false, client->options.self);
	}
}

/* ---- what comes back ---- */

static void on_task_begin(struct debug_client *client, const struct json *msg)
{
	(void)msg;
	if (!client->is_busy)
		client->was_warned = false;
	client->is_busy = client->has_begun = true;
}

static void on_task_end(struct debug_client *client, const struct json *msg)
{
	(void)msg;
	client->is_busy = client->has_begun = client->was_interrupted = false;
	drop_questions(client);
}

/* Input that was refused starts no task; for clients of early 2025 an interrupted task ends with an error, too. */
static void on_error(struct debug_client *client, const struct json *msg)
{
	if (!client->has_begun || client->was_interrupted)
		on_task_end(client, msg);
}

static void on_shut_down(struct debug_client *client, const struct json *msg)
{
	(void)msg;
	client->has_shut_down = true;
}

static void on_exec_question(struct debug_client *client, const struct json *msg)
{
	ask(client, msg, false);
}

static void on_patch_question(struct debug_client *client, const struct json *msg)
{
	ask(client, msg, true);
}

static const struct heard {
	const char *type;
	void (*run)(struct debug_client *client, const struct json *msg);
} heard_types[] = {
	{"task_started", on_task_begin},
	{"turn_started", on_task_begin},
	{"task_complete", on_task_end},
	{"turn_complete", on_task_end},
	{"turn_aborted", on_task_end},
	{"error", on_error},
	{"exec_approval_request", on_exec_question},
	{"apply_patch_approval_request", on_patch_question},
	{"shutdown_complete", on_shut_down},
};

static void hear(struct debug_client *client, const struct json *msg)
{
	struct str type = json_get_str(msg, "type");
	for (size_t i = 0; i < countof(heard_types); i++) {
		if (str_is(type, heard_types[i].type))
			heard_types[i].run(client, msg);
	}
}

static void print_json(struct debug_client *client, struct str frame)
{
	if (isatty(STDOUT_FILENO))
		terminal_text_append(&client->out, frame);
	else
		buf_append_str(&client->out, frame);
	buf_append_char(&client->out, '\n');
}

static void on_frame(struct str frame, void *self)
{
	struct debug_client *client = self;
	auto_arena struct arena arena = {0};
	const struct json *event = json_parse(&arena, frame, NULL);
	if (client->options.shows_json || !event)
		print_json(client, frame);
	else
		debug_event_append(&client->out, event, client->options.shows_all, client->options.color);
	print(client);
	hear(client, json_get(event, "msg"));
	continue_input(client);
}

static void on_long_frame(struct str head, void *self)
{
	(void)head, (void)self;
	note("an event is too long to be printed");
}

static void on_peer_end(const struct error *err, void *self)
{
	struct debug_client *client = self;
	if (client->has_ended)
		return;
	client->has_ended = true;
	if (err && !client->has_shut_down)
		note(err->text);
	if (!client->has_shut_down)
		note("the engine closed the connection");
	client->options.on_end(client->has_shut_down, client->options.self);
}

/* ---- begin and end ---- */

static void show_token(struct debug_client *client)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_TOKEN_LINE);
	struct json_writer w = json_writer(&line);
	jw_object(&w);
	jw_member_cstr(&w, "token", client->options.token);
	jw_object_end(&w);
	send_line(client, buf_str(&line));
}

static int open_peer(struct debug_client *client, struct error *err)
{
	static const struct transport_events events = {on_frame, on_long_frame, on_peer_end, NULL};
	const struct debug_client_options *own = &client->options;
	if (own->address)
		return debug_peer_connect(&client->peer, own->loop, own->address, &events, client, err);
	return debug_peer_spawn(&client->peer, own->loop, own->path, own->argv, &events, client, err);
}

struct debug_client *debug_client_create(const struct debug_client_options *options, struct error *err)
{
	static const struct debug_input_events events = {on_line, on_input_end};
	struct debug_client *client = xnew(struct debug_client);
	client->options = *options;
	buf_init(&client->out, (size_t)LIMIT_LINE * 4);
	if (open_peer(client, err) != 0) {
		debug_client_destroy(client);
		return NULL;
	}
	if (options->token)
		show_token(client);
	client->input = debug_input_create(options->loop, STDIN_FILENO, &events, client);
	return client;
}

void debug_client_destroy(struct debug_client *client)
{
	if (!client)
		return;
	debug_input_destroy(client->input);
	debug_peer_finish(&client->peer);
	drop_questions(client);
	vec_finish(&client->questions);
	buf_finish(&client->out);
	free(client);
}
