/* Applying a patch needs neither loop nor configuration. Messages and exit codes are those of the program that scripts
 * and models already use. */
#include "patch/patch_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/patch_apply.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"

enum { FAILED = 1, MISUSED = 2 };

static const char hidden_flag[] = "--codex-run-as-apply-patch";

static bool is_hidden(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], hidden_flag) == 0;
}

bool patch_main_wants(int argc, char **argv)
{
	if (argc < 1)
		return false;
	struct str name = path_name(argv[0]);
	return str_is(name, "apply_patch") || str_is(name, "applypatch") || is_hidden(argc, argv);
}

static int say(int status, const char *line)
{
	fprintf(stderr, "%s\n", line);
	return status;
}

static int say_cause(const char *line, int sys)
{
	fprintf(stderr, "%s\n%s (os error %d)\n", line, strerror(sys), sys);
	return FAILED;
}

/* Reads all of stdin; returns 0 or an exit status. */
static int read_stdin(struct buf *patch)
{
	static const char failed[] = "Error: Failed to read PATCH from stdin.";
	for (;;) {
		char *room = buf_reserve(patch, 64 * KIB);
		if (!room)
			return say(FAILED, "Error: the PATCH on stdin is too large; send it in parts.");
		ssize_t got = read(STDIN_FILENO, room, 64 * KIB);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return say_cause(failed, errno);
		if (got == 0)
			break;
		patch->len += (size_t)got;
	}
	if (patch->len == 0)
		return say(MISUSED, "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch");
	if (!text_is_utf8(buf_str(patch)))
		return say(FAILED, "Error: Failed to read PATCH from stdin.\nstream did not contain valid UTF-8");
	return 0;
}

static int fail(const struct patch_error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PATCH_ERROR + KIB);
	patch_error_for_terminal(err, &text);
	buf_append_char(&text, '\n');
	best_effort(fd_write_all(STDERR_FILENO, text.data, text.len, NULL));
	return FAILED;
}

static int succeed(const struct patch *patch)
{
	auto_buf struct buf text;
	buf_init(&text, 2 * (size_t)LIMIT_PATCH_TEXT);
	patch_summary(patch, &text);
	/* A closed stdout is not an error, because the files have been written. */
	best_effort(fd_write_all(STDOUT_FILENO, text.data, text.len, NULL));
	return 0;
}

static int run(struct str text)
{
	auto_patch_error struct patch_error err = {0};
	auto_patch struct patch patch = {0};
	auto_free char *cwd = getcwd(NULL, 0);
	if (!cwd)
		return say_cause("Error: Failed to determine current directory.", errno);
	if (patch_parse(&patch, text, &err) != 0 || patch_apply(&patch, cwd, &err) != 0)
		return fail(&err);
	return succeed(&patch);
}

static int run_argument(const char *argument, const char *missing)
{
	struct str text = str_of(argument);
	return text.ptr && text_is_utf8(text) ? run(text) : say(FAILED, missing);
}

static int run_stdin(void)
{
	auto_buf struct buf patch;
	buf_init(&patch, LIMIT_PATCH_TEXT + 64 * KIB);
	int status = read_stdin(&patch);
	return status ? status : run(buf_str(&patch));
}

int patch_main(int argc, char **argv)
{
	if (is_hidden(argc, argv))
		return run_argument(argc > 2 ? argv[2] : NULL,
		                    "Error: --codex-run-as-apply-patch requires a UTF-8 PATCH argument.");
	if (argc < 2)
		return run_stdin();
	if (argc > 2)
		return say(MISUSED, "Error: apply_patch accepts exactly one argument.");
	return run_argument(argv[1], "Error: apply_patch requires a UTF-8 PATCH argument.");
}
