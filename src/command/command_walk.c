/* Scripts that can be read as plain commands are read so; the others are scanned. A word of a scanned script may be the
 * script of a further shell, with COMMAND_EXPANSION in it; such text is always scanned, because the parser would take
 * that byte for itself. */
#include "command/command_walk.h"

#include "base/limits.h"
#include "command/command_limits.h"
#include "command/command_scan.h"
#include "command/command_wrapper.h"

struct walk {
	command_walk_fn fn;
	void *self;
	int depth;
	size_t visits;
	bool is_cut; /* not all was visited */
};

static void walk_script(struct walk *walk, struct str script);

/* Visits the command and what it wraps. */
static void walk_command(const struct plain_command *command, void *self)
{
	struct walk *walk = self;
	auto_arena struct arena arena = {0};
	struct plain_command inner = *command;
	bool is_searched = false;
	const char *script = NULL;
	do {
		walk->is_cut = walk->is_cut || walk->visits == LIMIT_COMMAND_VISITS;
		if (walk->is_cut)
			return;
		walk->visits++;
		if (inner.count > 0)
			walk->fn(&inner, walk->self);
		if (script)
			walk_script(walk, str_of(script));
		const char *nested = command_nested_script(&inner);
		if (nested)
			walk_script(walk, str_of(nested));
	} while (inner.count > 0 && command_unwrap(&inner, &is_searched, &arena, &script));
}

static bool read_script(struct str script, struct arena *arena, struct command_list *ret)
{
	const char *argv[] = {"sh", "-c", arena_cstr(arena, script), NULL};
	return str_find_char(script, COMMAND_EXPANSION) < 0 && str_find_char(script, '\0') < 0 &&
	       command_parse_argv(argv, arena, ret);
}

static void walk_script(struct walk *walk, struct str script)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	if (walk->depth == LIMIT_COMMAND_SHELLS || script.len > LIMIT_COMMAND_PARSE) {
		walk->is_cut = true;
		return;
	}
	walk->depth++;
	if (read_script(script, &arena, &list)) {
		for (size_t i = 0; i < list.count; i++)
			walk_command(&list.commands[i], walk);
	} else if (!command_scan(script, walk_command, walk)) {
		walk->is_cut = true;
	}
	walk->depth--;
}

bool command_walk(const struct plain_command *command, command_walk_fn fn, void *self)
{
	struct walk walk = {.fn = fn, .self = self};
	walk_command(command, &walk);
	return !walk.is_cut;
}

bool command_walk_script(struct str script, command_walk_fn fn, void *self)
{
	struct walk walk = {.fn = fn, .self = self};
	walk_script(&walk, script);
	return !walk.is_cut;
}
