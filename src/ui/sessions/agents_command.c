/* Changes are followed by watching the rollout, so this works for sessions of any process. A burst of changes is
 * printed once. */
#include "ui/sessions/agents_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "loop/watch.h"
#include "rollout/rollout_list.h"
#include "ui/sessions/agents_view.h"
#include "ui/sessions/session_pick.h"

enum { REDRAW_MS = 200 };

struct agents_options {
	bool is_last, is_json, is_watching;
};

static const struct cli_option rows[] = {
	{"last", 0, CLI_FLAG, offsetof(struct agents_options, is_last), NULL, NULL,
         "The most recent session (default)"},
	{"watch", 'w', CLI_FLAG, offsetof(struct agents_options, is_watching), NULL, NULL,
         "Print the list again after each change, until interrupted"},
	{"json", 0, CLI_FLAG, offsetof(struct agents_options, is_json), NULL, NULL,
         "Print JSON, one line for each list"},
};

static const struct cli_argument arguments[] = {
	{"[SESSION]", "An id, a unique prefix of one, or a name"},
};

const struct cli_command agents_command = {
	.name = "codex agents",
	.about = "Show the subagents of a session and their states.",
	.usage = "Usage: codex agents [OPTIONS] [SESSION]",
	.details = "Reads the session file only; running sessions are not affected.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1,
};

/* ---- which session ---- */

static char *find_session(const char *home, const struct cli_result *words, struct error *err)
{
	if (words->positionals.count)
		return session_find(home, words->positionals.items[0], err);
	return rollout_list_find_latest(home, &(struct rollout_filter){0}, err);
}

/* ---- printing ---- */

struct follower {
	const struct agents_options *options;
	const char *home, *path;
	struct loop *loop;
	struct loop_timer *redraw;
	struct buf shown; /* the output that was printed last */
	int status;
};

static int print(struct follower *follower)
{
	struct error err;
	struct agents_view view;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	int status = agents_view_read(follower->home, follower->path, &view, &err);
	if (status == 0 && follower->options->is_json)
		agents_view_print_json(&view, follower->path, &text);
	else if (status == 0)
		agents_view_print(&view, clock_unix_ms(), &text);
	agents_view_finish(&view);
	if (status != 0) {
		fprintf(stderr, "codex agents: %s\n", err.text);
		return 1;
	}
	if (str_eq(buf_str(&text), buf_str(&follower->shown)))
		return 0;
	buf_clear(&follower->shown);
	buf_append_str(&follower->shown, buf_str(&text));
	bool is_redrawn = follower->options->is_watching && !follower->options->is_json && isatty(STDOUT_FILENO);
	if (is_redrawn)
		best_effort(fd_write_all(STDOUT_FILENO, "\033[H\033[J", 6, NULL));
	return fd_write_all(STDOUT_FILENO, text.data, text.len, NULL) == 0 ? 0 : 1;
}

static void on_redraw(void *self)
{
	struct follower *follower = self;
	follower->status = print(follower);
	if (follower->status != 0)
		loop_stop(follower->loop);
}

static void on_change(const char *name, void *self)
{
	struct follower *follower = self;
	const char *file = strrchr(follower->path, '/') + 1;
	if (name && strcmp(name, file) == 0 && !loop_timer_is_active(follower->redraw))
		loop_timer_start(follower->redraw, REDRAW_MS);
}

static int follow(struct follower *follower)
{
	struct error err;
	struct watch *watch = NULL;
	size_t folder_len = (size_t)(strrchr(follower->path, '/') - follower->path);
	auto_free char *folder = str_dup(str_n(follower->path, folder_len));
	follower->loop = loop_create(&err);
	if (follower->loop)
		watch = watch_create(follower->loop, folder, on_change, follower, &err);
	if (watch) {
		follower->redraw = loop_timer_create(follower->loop, on_redraw, follower);
		follower->status = print(follower); /* later changes are reported by a notification */
		if (follower->status == 0)
			loop_run(follower->loop);
	} else {
		fprintf(stderr, "codex agents: %s\n", err.text);
		follower->status = 1;
	}
	loop_timer_destroy(follower->redraw);
	watch_destroy(watch);
	if (follower->loop)
		loop_destroy(follower->loop);
	return follower->status;
}

static int show(const struct agents_options *options, const struct cli_result *words)
{
	struct error err;
	auto_free char *home = config_env_home(&err);
	auto_free char *path = home ? find_session(home, words, &err) : NULL;
	if (!path) {
		fprintf(stderr, "codex agents: %s\n", err.text);
		return 1;
	}
	struct follower follower = {.options = options, .home = home, .path = path};
	buf_init(&follower.shown, LIMIT_LINE);
	int status = options->is_watching ? follow(&follower) : print(&follower);
	buf_finish(&follower.shown);
	return status;
}

int agents_main(int argc, char **argv)
{
	struct agents_options options = {0};
	struct cli_result words;
	int status = cli_read(&agents_command, argc, argv, &options, &words);
	if (status < 0)
		status = show(&options, &words);
	cli_finish(&agents_command, &options, &words);
	return status;
}
