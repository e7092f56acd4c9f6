/* Everything before the terminal is opened may fail with a plain message; from then on, all is shown as a cell. */
#include "ui/tui/tui.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_inert.h"
#include "config/config_env.h"
#include "config/toml/toml.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "term/term_tty.h"
#include "ui/cli/terminal.h"
#include "ui/exec/exec_worktree.h"
#include "ui/exec/exec.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_child.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_pager.h"
#include "ui/tui/tui_git.h"
#include "ui/tui/tui_priv.h"

enum { EXIT_FAILED = 1, EXIT_SIGNAL = 128, TICK_MS = 1000 };

static const char *originator(void)
{
	const char *wished = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	return wished ? wished : "codex_cli_rs";
}

/* ---- before the loop ---- */

static int check_terminal(struct error *err)
{
	const char *term = config_env("TERM");
	if (!isatty(STDIN_FILENO))
		return error_set(err, ERR_invalid, "stdin is not a terminal; `codex exec` works without one");
	if (!isatty(STDOUT_FILENO))
		return error_set(err, ERR_invalid, "stdout is not a terminal; `codex exec` works without one");
	if (!term || !*term || strcmp(term, "dumb") == 0)
		return error_set(err, ERR_unsupported,
		                 "TERM is \"%s\": the terminal cannot move its cursor; use `codex exec`",
		                 term ? term : "");
	return 0;
}

/* A terminal that says nothing about itself may still be able to do all: the user knows. */
static int ask_dumb(struct error *err)
{
	char answer[16];
	const char *term = config_env("TERM");
	printf("WARNING: TERM is set to \"%s\". The terminal may not be able to move its cursor.\n"
	       "Continue anyway? [y/N]: ",
	       term ? term : "");
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin))
		putchar('\n');
	else if (answer[0] == 'y' || answer[0] == 'Y')
		return 0;
	return error_set(err, ERR_invalid, "Refusing to start: set TERM, or use `codex exec`");
}

static int find_session(struct tui *tui, struct error *err)
{
	if (tui->options.remote)
		tui->guest_address = xstrdup(tui->options.remote);
	if (tui->options.attaches)
		return tui_attach_find(tui, err);
	if (tui->options.in_daemon)
		return tui_attach_daemon(tui, err);
	return tui->guest_address ? 0 : tui_session_find(tui, err);
}

static int prepare(struct tui *tui, struct error *err)
{
	struct exec_options *run = &tui->options.run;
	const char *want = run->cwd ? run->cwd : ".";
	int status = check_terminal(err);
	if (status == -ERR_unsupported)
		status = ask_dumb(err);
	if (status != 0)
		return status;
	tui->cwd = realpath(want, NULL);
	if (!tui->cwd)
		return error_sys(err, errno, "cannot work in %s", want);
	if (!dir_exists(tui->cwd))
		return error_set(err, ERR_invalid, "cannot work in %s: it is not a folder", tui->cwd);
	if (run->worktree && exec_worktree_enter(&tui->cwd, err) != 0)
		return -(int)err->code;
	status = exec_config_load(run, tui->cwd, &tui->config, err);
	if (status == 0)
		status = find_session(tui, err);
	exec_images_init(&tui->images, &run->images);
	return status;
}

/* ---- callbacks ---- */

static void on_escape(void *self)
{
	struct tui *tui = self;
	term_keys_flush(&tui->keys);
}

static void on_bytes(struct str bytes, void *self)
{
	struct tui *tui = self;
	loop_timer_stop(tui->escape);
	term_keys_feed(&tui->keys, bytes);
	if (term_keys_is_pending(&tui->keys))
		loop_timer_start(tui->escape, TERM_ESCAPE_MS);
}

static void on_drained(void *self)
{
	struct tui *tui = self;
	if (tui->is_held)
		tui_engine_hold(tui, false);
	tui->is_held = false;
	tui_frame_drained(tui->frame);
}

static void on_resize(void *self)
{
	struct tui *tui = self;
	tui_view_measure(tui);
	tui_frame_resized(tui->frame);
}

static void on_continued(void *self)
{
	struct tui *tui = self;
	tui_view_measure(tui);
	tui_frame_restart(tui->frame);
}

/* The engine denies what is pending when it shuts down: closing the terminal approves nothing. */
static void on_signal(int number, void *self)
{
	struct tui *tui = self;
	tui->signal = number;
	tui_quit(tui);
}

void tui_tick_start(struct tui *tui)
{
	if (!tui->is_calm)
		loop_timer_start(tui->tick, TICK_MS);
}

/* Stops when the working line is gone. */
static void on_tick(void *self)
{
	struct tui *tui = self;
	if (!tui_shows_running(tui))
		return;
	tui_frame_change(tui->frame);
	tui_tick_start(tui);
}

static void on_ask_change(void *self)
{
	struct tui *tui = self;
	tui_title_update(tui);
	tui_frame_echo(tui->frame);
}

/* ---- the run ---- */

static void greet(struct tui *tui)
{
	auto_buf struct buf text;
	size_t count;
	buf_init(&text, LIMIT_LINE);
	if (tui->options.moved) { /* its conversation is on the screen */
		tui_cells_begin(tui->cells)->has_rows = true;
		return;
	}
	buf_printf(&text, ">_ Codex in C (v" CODEX_VERSION ")\n%s", tui->cwd);
	tui_cells_note(tui->cells, buf_str(&text));
	const char *const *warnings = config_warnings(tui->config, &count);
	for (size_t i = 0; i < count; i++) {
		tui_cells_note(tui->cells, str_of(warnings[i]));
		tui_warning_add(tui, str_of(warnings[i]));
	}
	buf_clear(&text);
	const char *const *keys = config_inert(tui->config, &count);
	if (config_inert_report(config_home(tui->config), keys, count, &text))
		tui_cells_note(tui->cells, buf_str(&text));
}

/* True if the key is in the configuration and has this value. */
static bool is_set(const struct tui *tui, const char *key, bool expected)
{
	const struct toml *value = config_find(tui->config, key);
	return toml_is(value, TOML_bool) && value->boolean == expected;
}

static void open_view(struct tui *tui)
{
	tui->has_color = terminal_has_color(tui->options.run.color, STDOUT_FILENO);
	tui->frame = tui_frame_create(tui->loop, tui->tty, tui_view_draw, tui);
	tui->cells = tui_cells_create(tui_frame_paint(tui->frame), tui->has_color, tui->cwd);
	if (tui->config->hide_agent_reasoning)
		tui_cells_hide_thoughts(tui->cells);
	tui->ask = tui_ask_create(tui->loop, on_ask_change, tui);
	tui->escape = loop_timer_create(tui->loop, on_escape, tui);
	tui->tick = loop_timer_create(tui->loop, on_tick, tui);
	term_keys_init(&tui->keys, tui_on_key, tui);
	tui->keeps_bursts = is_set(tui, "disable_paste_burst", true);
	tui->is_calm = is_set(tui, "tui.animations", false);
	buf_init(&tui->shown, LIMIT_TUI_GIT_OUTPUT + 1 * KIB);
	buf_init(&tui->warnings, MIB);
	composer_set_vim(&tui->composer, is_set(tui, "tui.vim_mode_default", true));
	tui_view_measure(tui);
	tui_theme_apply(tui);
	greet(tui);
	tui_keys_apply(tui);
	tui_status_check(tui);
	tui_status_look(tui);
	if (is_set(tui, "tui.raw_output_mode", true))
		tui_raw_set(tui, true);
	tui_session_replay(tui);
	tui_frame_echo(tui->frame);
	tui_theme_ask(tui);
}

static void close_view(struct tui *tui)
{
	tui_frame_destroy(tui->frame);
	tui_pager_destroy(tui->pager);
	tui_cells_destroy(tui->cells);
	tui_ask_destroy(tui->ask);
	loop_timer_destroy(tui->escape);
	loop_timer_destroy(tui->tick);
	term_keys_finish(&tui->keys);
	term_row_finish(&tui->row);
}

void tui_begin(struct tui *tui)
{
	if (tui->options.run.picks)
		tui_pick_first(tui);
	else
		tui_open_session(tui);
}

void tui_open_session(struct tui *tui)
{
	tui_restart_open(tui);
	tui_send_first(tui);
}

void tui_send_first(struct tui *tui)
{
	struct exec_images images = tui->images;
	tui->images = (struct exec_images){0};
	if (tui->options.run.prompt) {
		tui_send(tui, str_of(tui->options.run.prompt), images);
		return;
	}
	vec_for_each(image, &images)
		composer_attach(&tui->composer, image->path.ptr);
	exec_images_finish(&images);
}

static int run(struct tui *tui, struct error *err)
{
	static const struct term_tty_events events = {.on_bytes = on_bytes,
	                                              .on_drained = on_drained,
	                                              .on_resize = on_resize,
	                                              .on_continued = on_continued,
	                                              .on_signal = on_signal};
	tui->loop = loop_create(err);
	if (!tui->loop)
		return -1;
	tui->tty = term_tty_open(tui->loop, &events, tui, err);
	if (tui->tty) {
		composer_init(&tui->composer);
		open_view(tui);
		tui->services = services_create(tui->loop, originator());
		tui_restart_init(tui);
		tui_keys_init(tui);
		if (tui->guest_address)
			tui_attach_begin(tui);
		else
			tui_first_run(tui);
		if (!tui->guest_end) {
			tui_history_load(tui);
			loop_run(tui->loop);
		}
		codex_close(tui->codex);
		tui_attach_leave(tui);
		services_destroy(tui->services);
		process_reaper_stop();
		loop_deferred_finish(&tui->restart);
		loop_deferred_finish(&tui->preload);
		tui_title_clear(tui);
		tui_git_cancel(tui->git);
		tui_folder_leave(tui);
		tui_child_cancel(steal(tui->child));
		tui_save_leave(tui);
		tui_manage_leave(tui);
		tui_pick_leave(tui);
		tui_history_leave(tui);
		tui_complete_finish(tui);
		tui_editor_finish(tui);
		close_view(tui);
		term_tty_close(tui->tty);
		composer_finish(&tui->composer);
	}
	loop_hurry(tui->loop); /* an attached terminal may have stopped reading */
	loop_destroy(tui->loop);
	return tui->tty ? 0 : -1;
}

static void print_count(const char *name, int64_t count)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%lld", (long long)count);
	printf("%s", name);
	for (int i = 0; i < len; i++)
		printf(i && (len - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
}

static void print_usage(const struct token_usage *usage)
{
	print_count("Token usage: total=", usage->total_tokens);
	print_count(" input=", usage->input_tokens - usage->cached_input_tokens);
	if (usage->cached_input_tokens) {
		print_count(" (+ ", usage->cached_input_tokens);
		printf(" cached)");
	}
	print_count(" output=", usage->output_tokens);
	if (usage->reasoning_output_tokens) {
		print_count(" (reasoning ", usage->reasoning_output_tokens);
		putchar(')');
	}
	putchar('\n');
}

static void print_farewell(const struct tui *tui)
{
	if (tui->has_turn)
		putchar('\n');
	if (tui->guest_end)
		puts(tui->guest_end);
	if (!tui->session_id)
		return;
	if (tui->options.attaches && !tui->guest_end) {
		printf("Detached; the session continues. To attach again, run:\n  codex attach %s\n", tui->session_id);
		return;
	}
	if (!tui->has_turn && !tui->guest_end) {
		printf("Session ID: %s\n", tui->session_id);
		return;
	}
	if (tui->usage.total_tokens)
		print_usage(&tui->usage);
	printf("To continue this session, run:\n  codex resume %s\n", tui->session_id);
}

static void tui_finish(struct tui *tui)
{
	char *const texts[] = {tui->cwd,         tui->resume_path,  tui->guest_address, tui->guest_end,
	                       tui->session_id,  tui->model,        tui->effort,        tui->branch,
	                       tui->thread_name, tui->rollout_path, tui->wished_model,  tui->preset_text,
	                       tui->plugin_list, tui->plugin,       tui->next_path,     tui->next_prompt,
	                       tui->plan,        tui->doomed,       tui->preview,       tui->workspace};
	while (tui->waiting.count)
		tui_remove_waiting(tui, tui->waiting.count - 1);
	vec_finish(&tui->waiting);
	vec_for_each(event, &tui->early)
		event_destroy(*event);
	vec_finish(&tui->early);
	config_unref(tui->config);
	exec_images_finish(&tui->images);
	for (size_t i = 0; i < countof(texts); i++)
		free(texts[i]);
	buf_finish(&tui->shown);
	buf_finish(&tui->warnings);
	tui_keymap_finish(&tui->keymap);
	tui_terminal_ended(tui, NULL);
	vec_finish(&tui->terminals);
	tui_agents_forget(tui);
	tui_denied_forget(tui);
	vec_finish(&tui->agents);
}

static int print_list(struct tui *tui)
{
	struct error err;
	if (exec_config_load(&tui->options.run, "/", &tui->config, &err) != 0) {
		terminal_complain("Error: ", str_of(err.text));
		return EXIT_FAILED;
	}
	tui_attach_print(config_home(tui->config));
	config_unref(tui->config);
	return 0;
}

static int main_with_options(struct tui *tui);

/* Shows the session that has ended here in the background server. */
static int move(const struct tui *tui)
{
	struct tui next = {0};
	char *params = tui_attach_moved(tui, &next.options);
	int status = main_with_options(&next);
	free(params);
	if (status != 0 && !next.is_configured)
		printf("To continue this session, run:\n  codex resume %s\n", tui->session_id);
	return status;
}

static int main_with_options(struct tui *tui)
{
	struct error err;
	if (tui->options.lists)
		return print_list(tui);
	int status = prepare(tui, &err);
	if (status == 0)
		status = run(tui, &err);
	if (status != 0)
		terminal_complain("Error: ", str_of(err.text));
	else if (tui->is_moving && !tui->signal)
		tui->has_failed = move(tui) != 0;
	else if (tui->signal != SIGHUP)
		print_farewell(tui);
	tui_finish(tui);
	if (status != 0)
		return EXIT_FAILED;
	return tui->signal ? EXIT_SIGNAL + tui->signal : tui->has_failed ? EXIT_FAILED : 0;
}

/* Without a terminal on both sides `otherwise` runs; NULL: the terminal is refused. */
static int main_of(const struct cli_command *command, int (*otherwise)(int argc, char **argv), int argc, char **argv)
{
	struct tui tui = {0};
	struct cli_result words;
	int checked = check_terminal(NULL);
	bool has_terminal = !otherwise || checked == 0 || checked == -ERR_unsupported; /* the user is asked */
	int status = tui_options_read(command, &tui.options, &words, argc, argv);
	bool is_read = status < 0;
	if (is_read && has_terminal)
		status = main_with_options(&tui);
	tui_options_finish(command, &tui.options, &words);
	return is_read && !has_terminal ? otherwise(argc, argv) : status;
}

int tui_main(int argc, char **argv)
{
	return main_of(&tui_command_line, NULL, argc, argv);
}

int tui_resume_main(int argc, char **argv)
{
	return main_of(&tui_resume_command, resume_main, argc, argv);
}

int tui_attach_main(int argc, char **argv)
{
	return main_of(&tui_attach_command, NULL, argc, argv);
}

int tui_fork_main(int argc, char **argv)
{
	return main_of(&tui_fork_command, fork_main, argc, argv);
}
