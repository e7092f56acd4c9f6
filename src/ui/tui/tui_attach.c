/* Both ends of an attached session: the terminal in which it runs, and a guest, which has no engine of its own. */

#include <stdio.h>

#include "app_server/app_server_daemon.h"
#include "app_server/app_server_proxy.h"
#include "attach/attach_find.h"
#include "attach/attach_link.h"
#include "attach/attach_point.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "protocol/message/message.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

static const char too_late[] = "Another terminal has answered already";
static const char ended[] = "The session has ended there.";

/* ---- the terminal in which the session runs ---- */

static int submit_for_guest(struct str id, const struct op *op, void *asker, void *self, struct error *err)
{
	struct tui *tui = self;
	(void)asker;
	return codex_submit_op(tui->codex, id, op, err);
}

static void withdraw(const struct attach_answered *answered, void *self)
{
	struct tui *tui = self;
	tui_ask_withdraw(tui->ask, answered);
	tui_cells_note(tui->cells, STR("Answered in another terminal"));
	tui_title_update(tui);
	tui_frame_change(tui->frame);
}

static void on_answered(const struct event *request, uint64_t seq, void *asker, void *self)
{
	(void)asker;
	withdraw(&(struct attach_answered){attach_request_id(request), request->id, seq}, self);
}

static void on_count(size_t count, void *self)
{
	struct tui *tui = self;
	char text[96];
	snprintf(text, sizeof(text),
	         count > tui->guests ? "Another terminal is attached (%zu)" : "A terminal was detached (%zu left)",
	         count);
	tui->guests = count;
	tui_cells_note(tui->cells, str_of(text));
	tui_frame_change(tui->frame);
}

void tui_attach_offer(struct tui *tui)
{
	static const struct attach_owner owner = {
		.submit = submit_for_guest, .on_answered = on_answered, .on_count = on_count};
	attach_point_destroy(tui->point);
	tui->guests = 0;
	tui->point = attach_point_create(tui->loop, tui->options.run.ephemeral ? NULL : config_home(tui->config), "tui",
	                                 &owner, tui);
}

void tui_attach_describe(const struct tui *tui, struct buf *out)
{
	const struct error *failure = tui->point ? attach_point_failure(tui->point) : NULL;
	if (tui->guest_address)
		buf_printf(out, "Attached to: %s\n", tui->guest_address);
	else if (failure)
		buf_printf(out, "Attached terminals: none can be, %s\n", failure->text);
	else
		buf_printf(out, "Attached terminals: %zu\n", tui->guests);
}

void tui_on_engine_event(const struct event *event, void *self)
{
	struct tui *tui = self;
	auto_buf struct buf name;
	buf_init(&name, LIMIT_LINE);
	if (attach_request_id(event).ptr)
		codex_write_asker(tui->codex, event->id, &name);
	tui->asker = buf_str(&name);
	tui_ask_number(tui->ask, attach_point_event(tui->point, event, &(struct attach_asker){.name = tui->asker}));
	tui_on_event(event, tui);
	tui->asker = STR_NONE;
}

/* ---- both ---- */

bool tui_has_session(const struct tui *tui)
{
	return tui->codex || tui->link;
}

int tui_engine_submit(struct tui *tui, const struct op *op, struct error *err)
{
	uint64_t seq = attach_is_answer(op) ? tui_ask_answers(tui->ask) : 0;
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	if (tui->link) {
		attach_link_submit(tui->link, str_of(id), op, seq);
		return 0;
	}
	if (!attach_point_answer(tui->point, op, seq))
		return error_set(err, ERR_invalid, too_late);
	return codex_submit_op(tui->codex, str_of(id), op, err);
}

void tui_engine_hold(struct tui *tui, bool is_held)
{
	if (tui->link)
		attach_link_hold(tui->link, is_held);
	else if (is_held)
		codex_hold(tui->codex);
	else
		codex_release(tui->codex);
}

const char *tui_engine_path(const struct tui *tui)
{
	return tui->codex ? codex_record_path(tui->codex) : tui->rollout_path;
}

void tui_attach_leave(struct tui *tui)
{
	attach_point_destroy(steal(tui->point));
	attach_link_destroy(steal(tui->link));
}

/* ---- a guest ---- */

static void replay(struct tui *tui, const struct attach_greeting *greeting)
{
	auto_free char *path = greeting->rollout.ptr ? str_dup(greeting->rollout) : NULL;
	struct error err;
	if (path && greeting->recorded &&
	    tui_replay_end(path, greeting->recorded, false, tui_cells_begin(tui->cells), &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
}

static void add_agents(struct tui *tui, struct str agents)
{
	auto_arena struct arena arena = {0};
	const struct json *list = agents.ptr ? json_parse(&arena, agents, NULL) : NULL;
	json_for_each(it, list) {
		struct ev_collab_spawn_end spawn = {.new_thread_id = json_get_str(it, "id"),
		                                    .new_agent_nickname = json_get_str(it, "name")};
		if (spawn.new_thread_id.ptr)
			tui_agent_spawned(tui, &spawn);
	}
}

static void on_greeting(const struct attach_greeting *greeting, void *self)
{
	struct tui *tui = self;
	auto_buf struct buf text;
	replay(tui, greeting);
	add_agents(tui, greeting->agents);
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "Attached to a session that runs in %s",
	           str_is(greeting->program, "exec")         ? "codex exec"
	           : str_is(greeting->program, "app-server") ? "the background server"
	                                                     : "another terminal");
	tui_cells_note(tui->cells, buf_str(&text));
}

static void on_guest_event(const struct event *event, uint64_t seq, struct str from, void *self)
{
	struct tui *tui = self;
	tui->asker = from;
	tui_ask_number(tui->ask, seq);
	if (event->msg.tag == EV_shutdown_complete && !tui->guest_end && !tui->is_over)
		tui->guest_end = xstrdup(ended);
	tui_on_event(event, tui);
	tui->asker = STR_NONE;
}

static void on_end(const struct error *err, void *self)
{
	struct tui *tui = self;
	tui->has_failed |= err && !tui->is_configured;
	if (!tui->guest_end)
		tui->guest_end = err ? xasprintf("The connection was lost: %s", err->text) : xstrdup(ended);
	loop_stop(tui->loop);
}

int tui_attach_find(struct tui *tui, struct error *err)
{
	struct attach_list list;
	const struct attach_found *found = NULL;
	const char *word = tui->options.run.resume_id;
	attach_list_read(config_home(tui->config), &list);
	if (word)
		found = attach_list_find(&list, word, err);
	else if (list.items.count == 1)
		found = &list.items.items[0];
	else if (list.items.count)
		error_set(err, ERR_usage, "%zu sessions run: name one; `codex attach --list` lists them",
		          list.items.count);
	else
		error_set(err, ERR_not_found, "no session runs that could be attached");
	if (found) {
		tui->guest_address = xasprintf("unix://%s", found->path);
		free(tui->cwd);
		tui->cwd = str_dup(found->greeting.cwd);
	}
	attach_list_finish(&list);
	return found ? 0 : -(int)err->code;
}

/* Appends parameters of thread/start. */
static void append_params(const struct tui *tui, struct buf *out)
{
	const struct exec_options *run = &tui->options.run;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "cwd", tui->cwd);
	if (run->model)
		jw_member_cstr(&w, "model", run->model);
	if (run->sandbox)
		jw_member_cstr(&w, "sandbox", run->sandbox);
	if (tui->options.approval)
		jw_member_cstr(&w, "approvalPolicy", tui->options.approval);
	jw_object_end(&w);
}

int tui_attach_daemon(struct tui *tui, struct error *err)
{
	const char *home = config_home(tui->config);
	auto_free char *socket = app_server_daemon_socket(home);
	struct app_server_daemon daemon = {.home = home, .socket = socket};
	auto_buf struct buf params, id;
	bool was_running;
	buf_init(&params, LIMIT_LINE);
	buf_init(&id, LIMIT_LINE);
	append_params(tui, &params);
	int status = app_server_daemon_start(&daemon, &was_running, err);
	if (status == 0)
		status = app_server_open_thread(&(struct app_server_peer){.address = socket}, "thread/start",
		                                buf_str(&params), &id, err);
	auto_free char *path = attach_path(home, buf_str(&id));
	tui->guest_address = xasprintf("unix://%s", path);
	tui->options.attaches = true; /* the session stays when this terminal goes */
	return status;
}

void tui_attach_begin(struct tui *tui)
{
	static const struct attach_link_events events = {on_greeting, on_guest_event, withdraw, on_end};
	struct error err;
	tui->link = attach_link_open(tui->loop, tui->guest_address, !tui->options.remote, &events, tui, &err);
	if (!tui->link) {
		tui->guest_end = xstrdup(err.text);
		tui->has_failed = true;
		return;
	}
	tui_send_first(tui);
}

void tui_attach_configured(struct tui *tui, const struct ev_session_configured *session)
{
	if (!tui->options.remote)
		return;
	free(tui->cwd);
	tui->cwd = str_dup(session->cwd);
	tui_cells_set_folder(tui->cells, tui->cwd);
}

bool tui_attach_refuses(struct tui *tui)
{
	if (tui->guest_address)
		tui_cells_fail(tui->cells,
		               STR("this terminal is attached to a session that runs elsewhere: do this there, or "
		                   "start `codex` in another terminal"));
	return tui->guest_address != NULL;
}

int tui_attach_print(const char *home)
{
	struct attach_list list;
	attach_list_read(home, &list);
	vec_for_each(found, &list.items) {
		const struct attach_greeting *greeting = &found->greeting;
		auto_buf struct buf line;
		buf_init(&line, LIMIT_LINE);
		buf_printf(&line, "%.*s  %-10.*s  ", STR_ARG(greeting->session_id), STR_ARG(greeting->program));
		terminal_text_append(&line, greeting->cwd);
		if (greeting->name.len) {
			buf_append_c(&line, "  ");
			terminal_text_append(&line, greeting->name);
		}
		puts(buf_str(&line).ptr);
	}
	if (!list.items.count)
		fputs("No session runs that could be attached.\n", stderr);
	attach_list_finish(&list);
	return 0;
}
