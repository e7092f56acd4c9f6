/* Commands of codex in children, and what is on this machine: /daemon, the background server of this CODEX_HOME and the
 * sessions that a terminal can be attached to; /import, what `codex import` finds, which is imported after a yes. */
#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_child.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_priv.h"

/* ---- children ---- */

void tui_run_show(struct tui *tui, struct str output, bool is_ok)
{
	struct str text = str_trim_end(output);
	if (text.len > LIMIT_TUI_ANSWER)
		text.len = LIMIT_TUI_ANSWER;
	if (is_ok && text.len)
		tui_cells_note(tui->cells, text);
	else if (!is_ok)
		tui_cells_fail(tui->cells, text);
}

void tui_run_ask(struct tui *tui, struct tui_panel *panel)
{
	panel->is_late = true;
	tui_ask_add(tui->ask, panel);
}

static void on_ran(struct str output, bool is_ok, void *self)
{
	struct tui *tui = self;
	tui->child = NULL;
	tui->on_ran(tui, output, is_ok);
	tui_frame_change(tui->frame);
}

void tui_run(struct tui *tui, const struct tui_child_call *call, tui_ran_fn on_end)
{
	if (tui->child) {
		auto_free char *fault = xasprintf("%s has not ended yet; esc cancels it", tui_child_name(tui->child));
		tui_cells_fail(tui->cells, str_of(fault));
		return;
	}
	tui->on_ran = on_end;
	/* the folder may be gone, or on another machine */
	tui->child = tui_child_start(tui->loop, dir_exists(tui->cwd) ? tui->cwd : "/", call, on_ran, tui);
}

bool tui_run_cancel(struct tui *tui)
{
	if (!tui->child)
		return false;
	auto_free char *note = xasprintf("%s was cancelled", tui_child_name(tui->child));
	tui_child_cancel(steal(tui->child));
	tui_cells_note(tui->cells, str_of(note));
	return true;
}

/* ---- the background server ---- */

static void add_member(struct buf *out, const char *name, struct str value)
{
	if (value.len)
		buf_printf(out, "%s%.*s", name, STR_ARG(value));
}

/* The result is one line of JSON, or a sentence; after a failure there may be more. */
enum daemon_state { DAEMON_absent, DAEMON_runs, DAEMON_unknown };

static enum daemon_state describe(struct str output, struct buf *out)
{
	auto_arena struct arena arena = {0};
	struct str rest = output, line = STR("");
	str_next_line(&rest, &line);
	const struct json *state = json_parse_copy(&arena, line, &(struct error){0});
	struct str status = json_get_str(state, "status");
	long long pid = json_get_i64(state, "pid", 0);
	if (!status.len) {
		buf_printf(out, "Background server: %.*s", STR_ARG(str_trim(output)));
		return DAEMON_unknown;
	}
	buf_append_c(out, pid ? "Background server: running" : "Background server: not running");
	if (pid)
		buf_printf(out, ", process %lld", pid);
	add_member(out, ", version ", json_get_str(state, "appServerVersion"));
	add_member(out, "\nSocket: ", json_get_str(state, "socketPath"));
	return pid > 0 ? DAEMON_runs : DAEMON_absent;
}

static void on_changed(struct tui *tui, struct str output, bool is_ok)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	free(steal(tui->guest_end));
	describe(output, &text);
	tui_run_show(tui, buf_str(&text), is_ok);
}

static void on_sessions(struct tui *tui, struct str output, bool is_ok)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (!output.len)
		output = STR("No session runs that could be attached.");
	buf_printf(&text, "%.*s\nIn another terminal: codex attach ID; codex --daemon begins a session in the server",
	           STR_ARG(str_trim_end(output)));
	tui_run_show(tui, is_ok ? buf_str(&text) : output, is_ok);
}

static const struct tui_child_call start = {"app-server daemon start", NULL, LIMIT_TUI_DAEMON_MS},
				   stop = {"app-server daemon stop", NULL, LIMIT_TUI_DAEMON_MS},
				   restart = {"app-server daemon restart", NULL, LIMIT_TUI_DAEMON_MS},
				   sessions = {"attach --list", NULL, 0};

/* ---- the choices ---- */

#define MOVE "Move this session there"

static void on_stop_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	if (chosen->at != 0 && chosen->at != 1)
		return;
	if (tui->guest_address && !tui->guest_end) /* this terminal may end before the child */
		tui->guest_end = xstrdup("/daemon has ended the background server and its sessions.");
	tui_run(tui, chosen->at == 0 ? &stop : &restart, on_changed);
}

static struct tui_panel *choice(struct tui *tui, struct str title, const struct tui_choice *items, size_t count,
                                tui_chosen_fn on_chosen)
{
	struct tui_choices what = {.title = title,
	                           .items = items,
	                           .count = count,
	                           .current = on_chosen == on_stop_chosen ? count - 1 : 0,
	                           .hint = "  enter select · esc back",
	                           .on_chosen = on_chosen,
	                           .self = tui};
	return tui_choice_create(&what, STR_NONE, NULL);
}

static void on_running_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct tui_choice items[] = {
		{"Yes, stop it", NULL, 's'}, {"Yes, restart it", NULL, 'r'}, {"No", NULL, 'n'}};
	struct tui *tui = self;
	if (chosen->at == 0)
		tui_run(tui, &sessions, on_sessions);
	else if (chosen->at == 2)
		tui_attach_move(tui);
	else if (chosen->at == 1)
		tui_ask_add(tui->ask, choice(tui,
		                             STR("Stop the background server?\nIts sessions end, also in the middle of "
		                                 "a turn; they can be resumed.\n"),
		                             items, countof(items), on_stop_chosen));
}

static void on_absent_chosen(const struct tui_chosen *chosen, void *self)
{
	if (chosen->at == 0)
		tui_run(self, &start, on_changed);
	else if (chosen->at == 1)
		tui_run(self, &sessions, on_sessions);
	else if (chosen->at == 2)
		tui_attach_move(self);
}

static void on_status(struct tui *tui, struct str output, bool is_ok)
{
	static const struct tui_choice running[] = {
		{"List the sessions", "those that a terminal can be attached to", 0},
		{"Stop or restart it …", NULL, 0},
		{MOVE, "it continues there, and this terminal is attached to it", 0}};
	static const struct tui_choice absent[] = {{"Start it", NULL, 0},
	                                           {"List the sessions", "those that a terminal can be attached to", 0},
	                                           {MOVE, "the server is started; this terminal is attached to it", 0}};
	auto_buf struct buf title;
	(void)is_ok; /* it ends with 1 if no server runs */
	buf_init(&title, LIMIT_LINE);
	bool is_absent = describe(output, &title) == DAEMON_absent; /* one that hangs can be stopped */
	buf_append_c(&title, "\n");
	size_t count = countof(running) - (tui->guest_address != NULL); /* the session of a guest is not here */
	tui_run_ask(tui, is_absent ? choice(tui, buf_str(&title), absent, count, on_absent_chosen)
	                           : choice(tui, buf_str(&title), running, count, on_running_chosen));
}

void on_slash_daemon(struct tui *tui, struct str text)
{
	static const struct tui_child_call status = {"app-server daemon status", NULL, 0};
	(void)text;
	tui_run(tui, &status, on_status);
}

/* ---- /import ---- */

/* The last line of a list that is not empty. */
static const char advice[] = "To import this, run `codex import --apply`.";

static void on_imported(struct tui *tui, struct str output, bool is_ok)
{
	tui_run_show(tui, output, is_ok);
	tui_reload(tui);
}

static void on_import_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct tui_child_call call = {.words = "import --apply", .wait_ms = LIMIT_TUI_IMPORT_MS};
	if (chosen->at == 0)
		tui_run(self, &call, on_imported);
}

static void on_found(struct tui *tui, struct str output, bool is_ok)
{
	static const struct tui_choice items[] = {{"Yes, import it", NULL, 'y'}, {"No", NULL, 'n'}};
	struct tui_choices what = {
		.title = STR("Import this from Claude Code?\nNothing that exists is overwritten; it counts from the "
	                     "next session on, hooks after `codex hooks trust`.\n"),
		.items = items,
		.count = countof(items),
		.current = 1,
		.hint = "  enter select · esc back",
		.on_chosen = on_import_chosen,
		.self = tui};
	struct str list = str_trim_end(output);
	bool has_items = is_ok && str_has_suffix(list, advice);
	if (has_items)
		list.len -= sizeof(advice) - 1;
	tui_run_show(tui, list, is_ok);
	if (has_items)
		tui_run_ask(tui, tui_choice_create(&what, STR_NONE, NULL));
}

void on_slash_import(struct tui *tui, struct str text)
{
	static const struct tui_child_call call = {.words = "import"};
	(void)text;
	tui_run(tui, &call, on_found);
}
