/* The recorded session that is resumed, and the engine of a session. A new session gets a Codex of its own, so that
 * nothing of the old one is left. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "term/term_tty.h"
#include "ui/exec/exec_resume.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

/* ---- the recorded session that is resumed ---- */

int tui_session_find(struct tui *tui, struct error *err)
{
	const struct exec_options *run = &tui->options.run;
	struct exec_resume resume = {.options = run, .config = tui->config, .cwd = tui->cwd};
	if (run->picks) /* the user chooses once the terminal is open */
		return 0;
	int status = exec_resume_find(&resume, err);
	bool is_absent = status != 0 && run->resume_id && err->code == ERR_not_found;
	if (status == 0)
		status = exec_resume_fork(&resume, "codex_cli_rs", err);
	if (status == 0 && resume.path)
		status = exec_resume_check(resume.path, err);
	tui->resume_path = resume.path;
	if (is_absent)
		return error_set(err, ERR_not_found, "No saved session found with ID %s", run->resume_id);
	return status;
}

void tui_session_replay(struct tui *tui)
{
	struct error err;
	if (tui->resume_path &&
	    tui_replay_end(tui->resume_path, LIMIT_ROLLOUT_FILE, true, tui_cells_begin(tui->cells), &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
}

void tui_session_note_crash(const struct tui *tui)
{
	char note[160];
	int len = snprintf(note, sizeof(note), "codex crashed. To continue this session, run:\r\n  codex resume %s\r\n",
	                   tui->session_id);
	term_tty_note_crash(str_n(note, tui->options.run.ephemeral ? 0 : (size_t)len));
}

/* ---- the engine ---- */

static void configure(struct tui *tui)
{
	struct exec_sandbox sandbox;
	exec_config_sandbox(&tui->options.run, tui->config, &sandbox);
	struct op_configure_session op = {.sandbox_policy = &sandbox.sandbox, .resume_path = str_of(tui->resume_path)};
	tui_submit(tui, OP_configure_session, &op);
	exec_sandbox_finish(&sandbox);
}

void tui_restart_open(struct tui *tui)
{
	struct codex_options options = {
		.services = tui->services,
		.config = tui->config,
		.source = session_source_cli,
		.cwd = tui->cwd,
		.ephemeral = tui->options.run.ephemeral,
		.mutes_output = true,
		.begins_once_allowed = true,
		.is_unhurried = !tui->options.run.prompt,
		.reports_refusals = true,
		.is_cleared = tui->is_cleared,
		.is_interactive = true,
		.reads_record = true,
		.steers = true,
		.runs_unasked = true,
		.on_event = tui_on_engine_event,
		.on_child = tui_agents_on_child,
		.asks_for_children = true,
		.self = tui,
	};
	tui_attach_offer(tui);
	tui->codex = codex_open(&options);
	configure(tui);
}

/* Names the old session, so that it can be resumed, unless it is to be deleted. */
static void note_old(struct tui *tui)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (!tui->has_turn || !tui->session_id || (tui->doomed && tui->fate == FATE_deleted))
		return;
	buf_printf(&text, "To continue this session, run: codex resume %s", tui->session_id);
	tui_cells_note(tui->cells, buf_str(&text));
}

/* Forgets the old session, also the messages that wait for it: they were not meant for the new one. */
static void forget(struct tui *tui)
{
	tui_handle_early(tui);
	while (tui->waiting.count)
		tui_remove_waiting(tui, tui->waiting.count - 1);
	tui_ask_end_turn(tui->ask, STR_NONE);
	tui->usage = tui->earlier_usage = (struct token_usage){0};
	tui->context_used = tui->context_window = tui->filled = tui->reported_total = tui->reported_last = 0;
	tui->steps = tui->steps_done = 0;
	tui->unread = tui->half_read = 0;
	tui->is_preloaded = tui->is_configured = tui->is_running = tui->is_interrupted = tui->is_exclusive = false;
	tui->has_no_session = false;
	tui->is_plan_mode = tui->has_turn = tui->has_error = tui->is_held = tui->is_armed = false;
	free(steal(tui->plan));
	tui_terminal_ended(tui, NULL);
	tui_agents_forget(tui);
	tui_denied_forget(tui);
	tui->seen = 0;
	free(tui->thread_name);
	tui->thread_name = NULL;
}

/* Opens the session: the first one of the program with the prompt of the command line. */
static void begin(struct tui *tui)
{
	auto_free char *prompt = steal(tui->next_prompt);
	bool is_first = !tui->codex;
	codex_close(steal(tui->codex));
	tui_manage_old(tui);
	if (is_first)
		tui_open_session(tui);
	else
		tui_restart_open(tui);
	if (prompt)
		tui_say(tui, str_of(prompt));
}

static void on_restart(void *self)
{
	struct tui *tui = self;
	if (tui->is_over)
		return;
	if (tui->codex)
		forget(tui);
	free(tui->resume_path);
	tui->resume_path = steal(tui->next_path);
	if (tui->replays_next)
		tui_session_replay(tui);
	begin(tui);
	tui_frame_change(tui->frame);
}

void tui_restart_with(struct tui *tui, const char *path, bool replays)
{
	if (tui_attach_refuses(tui))
		return;
	free(tui->next_path);
	tui->is_cleared = false;
	tui->next_path = path ? xstrdup(path) : NULL;
	tui->replays_next = replays;
	if (tui->codex)
		note_old(tui);
	loop_defer(&tui->restart);
}

void tui_restart_init(struct tui *tui)
{
	loop_deferred_init(&tui->restart, tui->loop, on_restart, tui);
}

void on_slash_new(struct tui *tui, struct str text)
{
	(void)text;
	if (tui_attach_refuses(tui))
		return;
	tui_restart_with(tui, NULL, false);
	tui_cells_note(tui->cells, STR("New session"));
}

void on_slash_clear(struct tui *tui, struct str text)
{
	if (tui_attach_refuses(tui))
		return;
	tui_frame_clear(tui->frame);
	on_slash_new(tui, text);
	tui->is_cleared = true;
}
