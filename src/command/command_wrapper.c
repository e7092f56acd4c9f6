/* Each wrapper is one table row. It lists the options that take a value, because in `sudo -u git rm -f x` git is not
 * the program. */
#include "command/command_wrapper.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "command/command_word.h"
#include "command/shell.h"

static const char *word(const struct plain_command *command, size_t at)
{
	return at < command->count ? command->words[at].text : "";
}

static bool is_in(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

const char *command_judged_program(const struct command_word *word)
{
	static const char *const programs[] = {"git", "rm"};
	const struct command_word base = {shell_base_name(word->text), word->can_vary};
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (!command_word_is_unknown(&base) && command_word_can_be(&base, str_of(programs[i])))
			return programs[i];
	return NULL;
}

/* A program that runs the command which follows its options. */
struct wrapper {
	const char *name;
	const char *takes_value; /* short options that take a value */
	const char *prints;      /* short options that make it run nothing */
	const char *const *long_takes_value;
	const char *script_option; /* its value is shell text to which the words after it belong; NULL: none */
	size_t operands;           /* before the command: timeout 5 rm */
	bool is_searched;          /* the command may also follow another program: sudo foo rm */
	bool is_script;            /* the words after the options are shell text: eval "rm x" */
};

static const char *const of_sudo[] = {
	"--chdir",           "--chroot",     "--close-from", "--group", "--host", "--prompt",
	"--command-timeout", "--other-user", "--role",       "--type",  "--user", NULL};
static const char *const of_env[] = {"--argv0", "--chdir", "--unset", NULL};
static const char *const of_flock[] = {"--conflict-exit-code", "--timeout", "--wait", NULL};
static const char *const of_ionice[] = {"--class", "--classdata", NULL};
static const char *const of_nice[] = {"--adjustment", NULL};
static const char *const of_stdbuf[] = {"--error", "--input", "--output", NULL};
static const char *const of_su[] = {"--group", "--shell", "--supp-group", "--user", "--whitelist-environment", NULL};
static const char *const of_time[] = {"--format", "--output", NULL};
static const char *const of_timeout[] = {"--kill-after", "--signal", NULL};
static const char *const of_watch[] = {"--interval", NULL};
static const char *const of_xargs[] = {"--arg-file",  "--delimiter", "--max-args",         "--max-chars",
                                       "--max-procs", "--replace",   "--process-slot-var", NULL};
static const char *const none[] = {NULL};

static const struct wrapper wrappers[] = {
	{"builtin", "", "", none, NULL, 0, false, false},
	{"busybox", "", "", none, NULL, 0, false, false},
	{"chroot", "", "", none, NULL, 1, false, false},
	{"chrt", "DPT", "pm", none, NULL, 1, false, false},
	{"command", "", "vV", none, NULL, 0, false, false},
	{"doas", "aCu", "", none, NULL, 0, true, false},
	{"env", "aCu", "", of_env, "-S--split-string", 0, false, false},
	{"eval", "", "", none, NULL, 0, false, true},
	{"exec", "a", "", none, NULL, 0, false, false},
	{"flock", "Ew", "", of_flock, "-c--command", 1, false, false},
	{"ionice", "cn", "pPu", of_ionice, NULL, 0, false, false},
	{"nice", "n", "", of_nice, NULL, 0, false, false},
	{"nohup", "", "", none, NULL, 0, false, false},
	{"pkexec", "", "", of_su, NULL, 0, true, false},
	{"runuser", "gGsuw", "", of_su, "-c--command", 0, true, false},
	{"setsid", "", "", none, NULL, 0, false, false},
	{"stdbuf", "eio", "", of_stdbuf, NULL, 0, false, false},
	{"su", "gGsw", "", of_su, "-c--command", 1, true, false},
	{"sudo", "aCcDghpRrTtUu", "", of_sudo, NULL, 0, true, false},
	{"taskset", "", "p", none, NULL, 1, false, false},
	{"time", "fo", "", of_time, NULL, 0, false, false},
	{"timeout", "ks", "", of_timeout, NULL, 1, false, false},
	{"trap", "", "lp", none, NULL, 0, false, true},
	{"watch", "n", "", of_watch, NULL, 0, false, true},
	{"xargs", "adEILnPs", "", of_xargs, NULL, 0, false, false},
};

static const struct wrapper *find_wrapper(const struct plain_command *command)
{
	const char *name = shell_base_name(word(command, 0));
	for (size_t i = 0; i < countof(wrappers); i++)
		if (strcmp(name, wrappers[i].name) == 0)
			return &wrappers[i];
	return NULL;
}

static void skip_words(struct plain_command *command, size_t count)
{
	count = count < command->count ? count : command->count;
	command->words += count;
	command->count -= count;
}

/* Returns the number of words of an option: 2 if its value is the next word. */
static size_t option_width(const struct wrapper *wrapper, const char *text)
{
	if (text[1] == '-')
		return is_in(text, wrapper->long_takes_value) ? 2 : 1;
	size_t at = 1 + strcspn(text + 1, wrapper->takes_value);
	return text[at] != '\0' && text[at + 1] == '\0' ? 2 : 1;
}

/* If the word at the start is the wrapper's script option: its value, which may be the rest of the word or the next
 * one; *ret_width is the number of words. */
static const char *script_value(const struct wrapper *wrapper, const struct plain_command *command, size_t *ret_width)
{
	const char *text = word(command, 0), *option = wrapper->script_option;
	if (!option || text[0] != '-')
		return NULL;
	const char *name = option + 2; /* "-S--split-string" */
	bool is_long = text[1] == '-';
	size_t length = is_long ? strcspn(text, "=") : 1 + strcspn(text + 1, wrapper->takes_value);
	const char *letter = is_long ? NULL : memchr(text, option[1], length);
	if (is_long ? length < 3 || strncmp(text, name, length) != 0 : !letter)
		return NULL;
	const char *value = is_long ? text + length + (text[length] == '=') : letter + 1;
	*ret_width = *value ? 1 : 2;
	return *value ? value : word(command, 1);
}

/* Joins the words to shell text, which begins with `script`, and removes them from the command. */
static const char *join_script(const char *script, struct plain_command *command, struct arena *arena)
{
	auto_buf struct buf text;
	buf_init(&text, 2 * LIMIT_COMMAND_PARSE);
	buf_append_c(&text, script);
	for (size_t i = 0; i < command->count; i++) {
		buf_append_char(&text, ' ');
		buf_append_c(&text, word(command, i));
	}
	skip_words(command, command->count);
	return arena_cstr(arena, buf_str(&text));
}

/* Skips one wrapper with its options, assignments and operands. Returns its script, if that is what it runs. */
static const char *skip_wrapper(const struct wrapper *wrapper, struct plain_command *command, struct arena *arena)
{
	bool has_options = true;
	size_t operands = wrapper->operands;
	skip_words(command, 1);
	while (command->count > 0) {
		const char *text = word(command, 0);
		bool is_option = has_options && text[0] == '-';
		size_t width = is_option ? option_width(wrapper, text) : 1;
		const char *script = is_option ? script_value(wrapper, command, &width) : NULL;
		if (!is_option && !strchr(text, '=') && operands-- == 0)
			break;
		if (is_option && text[1] != '-' && strpbrk(text, wrapper->prints))
			width = command->count;
		has_options = has_options && strcmp(text, "--") != 0;
		skip_words(command, width);
		if (script)
			return join_script(script, command, arena);
	}
	return wrapper->is_script && command->count > 0 ? join_script("", command, arena) : NULL;
}

bool command_unwrap(struct plain_command *command, bool *is_searched, struct arena *arena, const char **ret_script)
{
	const struct wrapper *wrapper = find_wrapper(command);
	bool can_search = *is_searched && command->count > 1 && !shell_is_known(word(command, 0)) &&
	                  !command_judged_program(command->words);
	*ret_script = NULL;
	if (wrapper) {
		*is_searched = *is_searched || wrapper->is_searched;
		*ret_script = skip_wrapper(wrapper, command, arena);
		return command->count > 0 || *ret_script;
	}
	if (can_search)
		skip_words(command, 1);
	return can_search;
}

const char *command_nested_script(const struct plain_command *command)
{
	static const char *const takes_value[] = {"--init-file", "--rcfile", NULL};
	bool has_script = false;
	size_t at = 1;
	while (shell_is_known(word(command, 0)) && at < command->count) {
		const char *text = word(command, at);
		bool is_open = command->words[at].can_vary && text[0] && strchr("-*?[", text[0]);
		bool is_short = (text[0] == '-' || text[0] == '+') && text[1] != '-';
		if ((text[0] != '-' && !is_short && !is_open) || (has_script && is_open && text[0] != '-'))
			break;
		has_script = has_script || is_open || (is_short && text[0] == '-' && strchr(text, 'c'));
		at += (is_short && strpbrk(text, "oO")) || is_in(text, takes_value) ? 2 : 1;
	}
	return has_script && at < command->count ? word(command, at) : NULL;
}
