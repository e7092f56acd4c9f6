/* The results of command_parse.h and command_safety.h for shell scripts, for tests that know the shell's grammar.
 * In: scripts, a NUL after each. Out: a line for each, {"commands":[["ls","-l"]] or null,"safe":…,"dangerous":…}. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "../../command_read.h"

static void write_commands(struct json_writer *w, const struct command_list *list)
{
	jw_array(w);
	for (size_t i = 0; i < list->count; i++) {
		jw_array(w);
		for (size_t at = 0; at < list->commands[i].count; at++)
			jw_str(w, str_of(list->commands[i].words[at].text));
		jw_array_end(w);
	}
	jw_array_end(w);
}

static void answer(const char *script)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf line;
	struct command_list list;
	const char *argv[] = {"bash", "-lc", script, NULL};
	buf_init(&line, 16 * MIB);
	struct json_writer w = json_writer(&line);
	jw_object(&w);
	jw_key(&w, "commands");
	if (script_read(script, &arena, &list))
		write_commands(&w, &list);
	else
		jw_null(&w);
	jw_key(&w, "safe");
	jw_bool(&w, argv_is_safe(argv));
	jw_key(&w, "dangerous");
	jw_bool(&w, command_is_dangerous(argv));
	jw_object_end(&w);
	puts(line.data);
}

int main(void)
{
	char *script = NULL;
	size_t size = 0;
	while (getdelim(&script, &size, '\0', stdin) >= 0)
		answer(script);
	free(script);
	return 0;
}
