/* Both ends of an attached session: the terminal in which it runs, and a guest, which has no engine of its own. */

#include <stdio.h>

#include "app_server/app_server_daemon.h"
#include "app_server/app_server_proxy.h"
#include "attach/attach_find.h"
#include "attach/attach_link.h"
#include "attach/attach_point.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "protocol/message/approval.h"
#include "protocol/message/message.h"
#include "rollout/rollout_path.h"
#include "ui/cli/terminal.h"
#include "ui/exec/exec_resume.h"
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
	tui->has_guest_settings |= op->tag == OP_override_turn_context || op->tag == OP_user_turn;
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
	tui->has_guest_settings = false;
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
	if (!tui->options.moved)
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

/* Begins the parameters of thread/resume. */
static void begin_resume(struct json_writer *w, struct str thread_id)
{
	jw_member_str(w, "threadId", thread_id);
	jw_member_bool(w, "excludeTurns", true);
}

/* A policy with parts has no name that a server takes. */
static bool is_granular(const struct ask_for_approval *policy)
{
	return policy->tag == ask_for_approval_granular || policy->tag == ask_for_approval_reject;
}

/* A server takes the mode of a sandbox, which would drop the limits of the user's own profile. */
static bool has_profile(const struct config *config)
{
	return config->is_set.default_permissions && config->default_permissions[0] != ':';
}

/* Appends parameters of thread/start; or of thread/resume, if thread_id is not STR_NONE. */
static void append_params(struct tui *tui, struct str thread_id, struct buf *out)
{
	const struct exec_options *run = &tui->options.run;
	struct ask_for_approval approval = *tui->config->approval_policy;
	struct exec_sandbox sandbox;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	if (thread_id.ptr)
		begin_resume(&w, thread_id);
	jw_member_cstr(&w, "cwd", tui->cwd);
	if (run->model)
		jw_member_cstr(&w, "model", run->model);
	if (thread_id.ptr) { /* a server restores those of the last turn otherwise, which may be wider */
		const struct ev_session_configured own = {.sandbox_policy = &sandbox.sandbox,
		                                          .approval_policy = &approval,
		                                          .approvals_reviewer = tui->config->approvals_reviewer};
		exec_config_sandbox(run, tui->config, &sandbox);
		tui_settings_show(tui, &own);
		exec_sandbox_finish(&sandbox);
		tui_settings_write(tui, &w);
	} else if (run->sandbox) {
		jw_member_cstr(&w, "sandbox", run->sandbox);
	}
	if (!thread_id.ptr && tui->options.approval)
		jw_member_cstr(&w, "approvalPolicy", tui->options.approval);
	jw_object_end(&w);
}

/* Appends the parameters that open the session: of a new one, of the one that moves, or of one that is found. */
static int find_params(struct tui *tui, struct buf *params, bool *ret_resumes, struct error *err)
{
	struct exec_resume resume = {.options = &tui->options.run, .config = tui->config, .cwd = tui->cwd};
	struct rollout_file_name name = {.thread_id = STR_NONE};
	buf_append_c(params, tui->options.moved ? tui->options.moved : "");
	*ret_resumes = tui->options.moved;
	if (tui->options.moved)
		return 0;
	if (exec_resume_find(&resume, err) != 0)
		return -(int)err->code;
	auto_free char *path = resume.path;
	if (path && !rollout_path_parse(path_name(path), &name))
		return error_set(err, ERR_invalid, "%s is not the file of a session", path);
	if (path && is_granular(tui->config->approval_policy))
		return error_set(err, ERR_unsupported,
		                 "a granular approval_policy is not handed to the background server: name one with -a");
	if (path && has_profile(tui->config))
		return error_set(err, ERR_unsupported,
		                 "the permission profile `%s` is not handed to the background server: name a sandbox "
		                 "with -s",
		                 tui->config->default_permissions);
	*ret_resumes = path != NULL;
	append_params(tui, name.thread_id, params);
	return 0;
}

void tui_attach_move(struct tui *tui)
{
	struct error err;
	if (tui_options_check_daemon(&tui->options, &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
	else if (tui->is_running || tui->is_plan_mode)
		tui_cells_fail(tui->cells, STR("a session is moved after its turn, and not in plan mode (shift-tab)"));
	else if (!tui->has_turn || tui->options.run.ephemeral)
		tui_cells_fail(tui->cells,
		               STR("nothing of this session is recorded yet: `codex --daemon` begins one there"));
	else if (tui->has_guest_settings)
		tui_cells_fail(tui->cells,
		               STR("another terminal has changed the settings of this session: end it here, "
		                   "then `codex resume SESSION --daemon` continues it there"));
	else if (has_profile(tui->config))
		tui_cells_fail(tui->cells,
		               STR("a session under a permission profile is not moved: `codex resume SESSION "
		                   "--daemon -s SANDBOX` continues it there"));
	else if (!tui->sandbox || strcmp(tui->approval, "granular") == 0 || strcmp(tui->approval, "reject") == 0)
		tui_cells_fail(tui->cells,
		               STR("a session with these permissions is not moved: /permissions has others"));
	else
		tui->is_moving = true;
	if (tui->is_moving)
		tui_quit(tui);
}

char *tui_attach_moved(const struct tui *tui, struct tui_options *options)
{
	struct buf params;
	*options = tui->options;
	options->in_daemon = true;
	options->run.cwd = tui->cwd;
	options->run.prompt = NULL;
	options->run.worktree = false;
	options->run.images = (struct cli_list){0};
	buf_init(&params, LIMIT_LINE);
	struct json_writer w = json_writer(&params);
	jw_object(&w);
	begin_resume(&w, str_of(tui->session_id));
	jw_member_cstr(&w, "cwd", tui->cwd);
	jw_member_cstr(&w, "model", tui->model);
	tui_settings_write(tui, &w);
	jw_object_end(&w);
	char *text = buf_take(&params);
	options->moved = text;
	return text;
}

int tui_attach_daemon(struct tui *tui, struct error *err)
{
	const char *home = config_home(tui->config);
	auto_free char *socket = app_server_daemon_socket(home);
	struct app_server_daemon daemon = {.home = home, .socket = socket};
	auto_buf struct buf params, id;
	bool was_running, resumes;
	buf_init(&params, LIMIT_LINE);
	buf_init(&id, LIMIT_LINE);
	int status = find_params(tui, &params, &resumes, err);
	if (status == 0)
		status = app_server_daemon_start(&daemon, &was_running, err);
	if (status == 0)
		status = app_server_open_thread(&(struct app_server_peer){.address = socket},
		                                resumes ? "thread/resume" : "thread/start", buf_str(&params), &id, err);
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
		               STR("this terminal is attached to a session of another process: Ctrl-C detaches, then "
		                   "run `codex` or `codex --daemon`"));
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
