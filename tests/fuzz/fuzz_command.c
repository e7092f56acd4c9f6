/* Any text is read as plain words or not at all. Words that were read are the same when they are quoted and read again;
 * what is known to be harmless was read, and is not dangerous. */
#include "fuzz.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "../command_read.h"
#include "command/command_action.h"
#include "command/command_walk.h"
#include "command/shell.h"

static bool is_quotable(const struct plain_command *command)
{
	for (size_t i = 0; i < command->count; i++) /* what "…" or a blank between quotes cannot hold */
		if (command->words[i].can_vary || strpbrk(command->words[i].text, "'\n"))
			return false;
	return true;
}

static void check_again(const struct plain_command *command)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf line;
	struct command_list again;
	buf_init(&line, 4 * LIMIT_COMMAND_PARSE);
	for (size_t i = 0; i < command->count; i++) {
		buf_append_c(&line, i ? " '" : "'");
		buf_append_c(&line, command->words[i].text);
		buf_append_char(&line, '\'');
	}
	if (!script_read(buf_str(&line).ptr, &arena, &again))
		return; /* a name that is no name */
	fuzz_check(again.count == 1 && again.commands[0].count == command->count);
	for (size_t i = 0; i < command->count; i++)
		fuzz_check(strcmp(again.commands[0].words[i].text, command->words[i].text) == 0);
}

static void check_read(struct str script, const struct command_list *list)
{
	fuzz_check(list->count >= 1 && str_find_char(script, '\0') < 0);
	for (size_t i = 0; i < list->count; i++) {
		fuzz_check(list->commands[i].count >= 1);
		if (is_quotable(&list->commands[i]))
			check_again(&list->commands[i]);
	}
}

static void on_command(const struct plain_command *command, void *self)
{
	(void)self;
	fuzz_check(command->count >= 1);
	for (size_t i = 0; i < command->count; i++)
		fuzz_check(command->words[i].text != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	struct str script = {(const char *)data, size};
	const char *argv[] = {"bash", "-lc", arena_cstr(&arena, script), NULL};
	bool is_read = script_read(argv[2], &arena, &list);
	if (is_read)
		check_read(str_of(argv[2]), &list);
	command_walk_script(script, on_command, NULL);
	struct command_action *actions;
	command_actions(argv, &arena, &actions);
	bool is_safe = argv_is_safe(argv), is_dangerous = command_is_dangerous(argv);
	fuzz_check(!(is_safe && is_dangerous));
	fuzz_check(!is_safe || is_read);
	return 0;
}
