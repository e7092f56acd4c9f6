/* The diff of a task (git_diff.h) from a list of changes, for tests that ask git what it thinks of it.
 * In: a line of JSON for each change, {"path","move_path","old","now","overwritten","executable","was_executable"};
 * old, now and overwritten are null where there is no file. Out: the diff. The folder of the task is /w. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "patch/git_diff.h"

static bool get_bool(const struct json *line, const char *key)
{
	bool value = false;
	json_to_bool(json_get(line, key), &value);
	return value;
}

static void note(struct git_diff *diff, struct str text)
{
	auto_arena struct arena arena = {0};
	const struct json *line = json_parse(&arena, text, NULL);
	if (!line)
		abort();
	struct str move_path = json_get_str(line, "move_path");
	git_diff_note(diff, &(struct git_diff_change){
				    .path = arena_cstr(&arena, json_get_str(line, "path")),
				    .move_path = move_path.ptr ? arena_cstr(&arena, move_path) : NULL,
				    .old = json_get_str(line, "old"),
				    .now = json_get_str(line, "now"),
				    .overwritten = json_get_str(line, "overwritten"),
				    .is_executable = get_bool(line, "executable"),
				    .was_executable = get_bool(line, "was_executable"),
			    });
}

int main(void)
{
	struct git_diff diff = {0};
	auto_buf struct buf out;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	buf_init(&out, 1024 * (size_t)MIB);
	while ((length = getline(&line, &size, stdin)) > 0)
		note(&diff, str_n(line, (size_t)length));
	git_diff_write(&diff, "/w", &out);
	fwrite(buf_str(&out).ptr, 1, out.len, stdout);
	git_diff_finish(&diff);
	free(line);
	return 0;
}
