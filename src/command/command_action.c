/* Every known program is a row: how it is described, and which of its options take a value. Programs that only
 * transform text in a pipeline (head, sort, wc) or print (echo) are omitted from the description unless nothing else
 * remains. */
#include "command/command_action.h"

#include "base/buf.h"
#include "base/limits.h"
#include "command/command_parse.h"
#include "command/shell.h"

struct program;

struct describing {
	const struct plain_command *command;
	const struct program *program;
	size_t at; /* index of the first word after the program's name */
};

typedef bool (*describe_fn)(const struct describing *d, struct command_action *ret);

struct program {
	const char *name;
	describe_fn describe; /* returns false if it cannot describe the command */
	const char *valued;   /* options whose value is the next word, separated by blanks */
};

/* --- operands -------------------------------------------------------------------------------------------- */

static const char *word(const struct describing *d, size_t at)
{
	return at < d->command->count ? d->command->words[at].text : NULL;
}

static bool takes_value(const struct describing *d, const char *option)
{
	size_t length = strlen(option);
	const char *valued = d->program->valued;
	for (const char *at = valued ? strstr(valued, option) : NULL; at; at = strstr(at + 1, option))
		if (at > valued && at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

/* Returns the nth word that is neither an option nor an option's value; NULL if there are fewer. */
static const char *operand(const struct describing *d, size_t nth)
{
	bool are_options_over = false;
	for (size_t i = d->at; i < d->command->count; i++) {
		const char *text = word(d, i);
		if (!are_options_over && strcmp(text, "--") == 0)
			are_options_over = true;
		else if (!are_options_over && text[0] == '-' && text[1])
			i += takes_value(d, text);
		else if (nth-- == 0)
			return text;
	}
	return NULL;
}

/* Returns the word after one of these options, or NULL. */
static const char *value_of(const struct describing *d, const char *const *options)
{
	for (size_t i = d->at; i + 1 < d->command->count; i++)
		for (const char *const *option = options; *option; option++)
			if (strcmp(word(d, i), *option) == 0)
				return word(d, i + 1);
	return NULL;
}

static bool has_word(const struct describing *d, const char *text)
{
	for (size_t i = d->at; i < d->command->count; i++)
		if (strcmp(word(d, i), text) == 0)
			return true;
	return false;
}

/* Returns the last part of a path that is a meaningful name. */
static struct str display_name(struct str path)
{
	static const char *const mute[] = {"build", "dist", "node_modules", "src"};
	while (path.len > 1 && path.ptr[path.len - 1] == '/')
		path.len--;
	struct str rest = path;
	for (;;) {
		ptrdiff_t slash = str_rfind_char(rest, '/');
		struct str part = str_skip(rest, (size_t)(slash + 1));
		bool is_mute = part.len == 0;
		for (size_t i = 0; i < sizeof(mute) / sizeof(*mute); i++)
			is_mute = is_mute || str_is(part, mute[i]);
		if (!is_mute)
			return part;
		if (slash < 0)
			return path;
		rest.len = (size_t)slash;
	}
}

static struct str display_of(const char *path)
{
	return path ? display_name(str_of(path)) : STR_NONE;
}

/* --- descriptions ---------------------------------------------------------------------------------------- */

static bool describe_file(const char *path, struct command_action *ret)
{
	if (!path || path[0] == '\0' || path[0] == '~' || path[0] == '+' || strpbrk(path, "*?["))
		return false;
	ret->kind = ACTION_read;
	ret->path = str_of(path);
	ret->name = display_name(ret->path);
	return true;
}

static bool describe_read(const struct describing *d, struct command_action *ret)
{
	return !operand(d, 1) && describe_file(operand(d, 0), ret);
}

/* `head -20` means -n 20, but codex 0.169 does not describe it. */
static bool describe_end(const struct describing *d, struct command_action *ret)
{
	const char *first = word(d, d->at);
	if (first && first[0] == '-' && first[1] >= '0' && first[1] <= '9')
		return false;
	return describe_read(d, ret);
}

/* The first operand is the program text, the second the file. */
static bool describe_script(const struct describing *d, struct command_action *ret)
{
	return operand(d, 0) && !operand(d, 2) && describe_file(operand(d, 1), ret);
}

static bool describe_sed(const struct describing *d, struct command_action *ret)
{
	const char *flag = word(d, d->at), *script = word(d, d->at + 1);
	size_t length = script ? strlen(script) : 0;
	return flag && strcmp(flag, "-n") == 0 && length > 1 && script[length - 1] == 'p' &&
	       strspn(script, "0123456789,") == length - 1 && describe_script(d, ret);
}

static bool describe_list(const struct describing *d, struct command_action *ret)
{
	ret->kind = ACTION_list_files;
	ret->path = display_of(operand(d, 0));
	return true;
}

static bool describe_query(const struct describing *d, struct command_action *ret)
{
	static const char *const patterns[] = {"-e", "--regexp", NULL};
	const char *pattern = value_of(d, patterns);
	const char *query = pattern ? pattern : operand(d, 0);
	ret->kind = ACTION_search;
	ret->query = str_of(query);
	ret->path = display_of(operand(d, pattern ? 0 : 1));
	return true;
}

static bool describe_rg(const struct describing *d, struct command_action *ret)
{
	return has_word(d, "--files") ? describe_list(d, ret) : describe_query(d, ret);
}

static bool describe_fd(const struct describing *d, struct command_action *ret)
{
	return operand(d, 0) ? describe_query(d, ret) : describe_list(d, ret);
}

/* The folders of find precede its first test. */
static bool describe_find(const struct describing *d, struct command_action *ret)
{
	static const char *const tests[] = {"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", NULL};
	const char *path = word(d, d->at), *query = value_of(d, tests);
	ret->kind = query ? ACTION_search : ACTION_list_files;
	ret->query = str_of(query);
	ret->path = display_of(path && path[0] != '-' ? path : NULL);
	return true;
}

static bool describe_git(const struct describing *d, struct command_action *ret)
{
	struct describing inner = *d;
	const char *subcommand = word(d, inner.at++);
	if (subcommand && strcmp(subcommand, "ls-files") == 0)
		return describe_list(&inner, ret);
	return subcommand && strcmp(subcommand, "grep") == 0 && describe_query(&inner, ret);
}

#define GREP_VALUED                                                                                                   \
	" -A -B -C -E -M -T -d -e -f -g -j -m -r -t --after-context --before-context --context --encoding --exclude " \
	"--exclude-dir --file --glob --iglob --include --max-columns --max-count --max-depth --regexp --replace "     \
	"--sort "                                                                                                     \
	"--threads --type --type-not "

/* In grep, unlike rg, -r, -E, -T, -d and -M take no value. */
#define PLAIN_GREP_VALUED                                                                                     \
	" -A -B -C -D -d -e -f -m --after-context --before-context --context --exclude --exclude-dir --file " \
	"--include "                                                                                          \
	"--max-count --regexp "

static const struct program programs[] = {
	{"ack", describe_query, GREP_VALUED},
	{"ag", describe_query, GREP_VALUED},
	{"awk", describe_script, " -F -v "},
	{"bat", describe_read, " --theme --language --style --terminal-width --tabs --line-range --map-syntax -l -r "},
	{"batcat", describe_read, " --theme --language --style --line-range -l -r "},
	{"cat", describe_read, NULL},
	{"du", describe_list, " -d --max-depth --exclude -B "},
	{"egrep", describe_query, PLAIN_GREP_VALUED},
	{"exa", describe_list, " -I -L -s -t --sort --level --time "},
	{"eza", describe_list, " -I -L -s -t --sort --level --time "},
	{"fd", describe_fd, " -t -e -E -d -x -X -c --type --extension --exclude --max-depth --exec --color "},
	{"fgrep", describe_query, PLAIN_GREP_VALUED},
	{"find", describe_find, NULL},
	{"git", describe_git, PLAIN_GREP_VALUED},
	{"grep", describe_query, PLAIN_GREP_VALUED},
	{"head", describe_end, " -n -c --lines --bytes "},
	{"less", describe_read, " -p -P -x -y -z -j --pattern "},
	{"ls", describe_list, " -I -w --block-size --format --time-style --color --ignore --width "},
	{"more", describe_read, " -n "},
	{"nl", describe_read, " -s -w -v -i -b "},
	{"rg", describe_rg, GREP_VALUED},
	{"sed", describe_sed, NULL},
	{"tail", describe_end, " -n -c --lines --bytes "},
	{"tree", describe_list, " -L -P -I --charset --filelimit --sort "},
};

static bool describe(const struct plain_command *command, struct command_action *ret)
{
	struct describing d = {.command = command, .at = 1};
	const char *name = command->words[0].text;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		if (strcmp(programs[i].name, name) != 0)
			continue;
		d.program = &programs[i];
		return d.program->describe(&d, ret);
	}
	return false;
}

/* --- the whole ------------------------------------------------------------------------------------------- */

/* True for a program that prints or transforms text and writes no file. */
static bool is_beside(const struct plain_command *command)
{
	static const char *const names[] = {"column", "cut",  "echo", "head", "printf", "sort",
	                                    "tail",   "true", "tr",   "uniq", "wc"};
	const char *name = command->words[0].text;
	for (size_t i = 1; i < command->count; i++)
		if (strncmp(command->words[i].text, "-o", 2) == 0 || strncmp(command->words[i].text, "--o", 3) == 0)
			return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	/* with a script and no file, these read standard input */
	return command->count == 2 && (strcmp(name, "sed") == 0 || strcmp(name, "awk") == 0);
}

static struct str join(const struct plain_command *command, struct arena *arena)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	for (size_t i = 0; i < command->count; i++) {
		if (i > 0)
			buf_append_char(&text, ' ');
		shell_quote(&text, str_of(command->words[i].text));
	}
	return arena_str(arena, buf_str(&text));
}

/* Prefixes the path of an action with the folder that an earlier `cd` entered. */
static void enter(struct command_action *action, struct str folder, struct arena *arena)
{
	if (action->kind == ACTION_read && folder.ptr && action->path.ptr[0] != '/')
		action->path = str_of(arena_printf(arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(action->path)));
}

static struct str change_folder(struct str folder, const struct plain_command *command, struct arena *arena)
{
	const char *to = command->count == 2 ? command->words[1].text : "";
	if (to[0] == '\0' || to[0] == '-' || to[0] == '~')
		return STR_NONE;
	if (to[0] == '/' || !folder.ptr)
		return str_of(to);
	return str_of(arena_printf(arena, "%.*s/%s", STR_ARG(folder), to));
}

/* Describes all commands; false if one is unknown. */
static bool describe_all(const struct command_list *list, struct arena *arena, struct command_action *ret,
                         size_t *ret_count)
{
	struct str folder = STR_NONE;
	*ret_count = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct plain_command *command = &list->commands[i];
		struct command_action action = {0};
		if (strcmp(command->words[0].text, "cd") == 0) {
			folder = change_folder(folder, command, arena);
			continue;
		}
		if (!describe(command, &action)) {
			if (list->count > 1 && is_beside(command))
				continue;
			return false;
		}
		action.command = join(command, arena);
		enter(&action, folder, arena);
		ret[(*ret_count)++] = action;
	}
	return true;
}

static struct str whole_text(const char *const *argv, struct arena *arena)
{
	if (shell_is_known(argv[0]) && argv[1] && argv[1][0] == '-' && argv[2] && !argv[3])
		return str_of(argv[2]);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	shell_join(&text, argv);
	return arena_str(arena, buf_str(&text));
}

size_t command_actions(const char *const *argv, struct arena *arena, struct command_action **ret)
{
	struct command_list list;
	size_t count = 0;
	bool is_parsed = command_parse_argv(argv, arena, &list);
	*ret = arena_array(arena, struct command_action, is_parsed ? list.count : 1);
	if (is_parsed && describe_all(&list, arena, *ret, &count)) {
		bool only_beside = count == 0 && strcmp(list.commands[0].words[0].text, "cd") != 0;
		if (!only_beside)
			return count;
	}
	**ret = (struct command_action){.kind = ACTION_unknown, .command = whole_text(argv, arena)};
	return 1;
}
