/* Each wrapper is one table row. It lists the options that take a value, because in `sudo -u git rm -f x` git is not
 * the program. */
#include "command/command_wrapper.h"

#include "base/str.h"
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
		if (command_word_can_be(&base, str_of(programs[i])))
			return programs[i];
	return NULL;
}

/* A program that runs the command which follows its options. */
struct wrapper {
	const char *name;
	const char *takes_value; /* short options that take a value */
	const char *prints;      /* short options that make it run nothing */
	const char *const *long_takes_value;
	bool is_searched; /* the command may also follow another program, as in sudo nice rm */
};

static const struct wrapper *find_wrapper(const struct plain_command *command)
{
	static const char *const of_sudo[] = {
		"--chdir",           "--chroot",     "--close-from", "--group", "--host", "--prompt",
		"--command-timeout", "--other-user", "--role",       "--type",  "--user", NULL};
	static const char *const of_env[] = {"--chdir", "--unset", NULL};
	static const char *const none[] = {NULL};
	static const struct wrapper wrappers[] = {
		{"builtin", "", "", none, false},
		{"command", "", "vV", none, false},
		{"doas", "aCu", "", none, true},
		{"env", "aCu", "", of_env, false},
		{"exec", "a", "", none, false},
		{"nohup", "", "", none, false},
		{"sudo", "aCcDghpRrTtUu", "", of_sudo, true},
	};
	const char *name = shell_base_name(word(command, 0));
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(*wrappers); i++)
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

/* Skips one wrapper with its options and assignments. */
static void skip_wrapper(const struct wrapper *wrapper, struct plain_command *command)
{
	bool has_options = true;
	skip_words(command, 1);
	while (command->count > 0) {
		const char *text = word(command, 0);
		bool is_option = has_options && text[0] == '-';
		if (!is_option && !strchr(text, '='))
			return;
		if (is_option && text[1] != '-' && strpbrk(text, wrapper->prints))
			skip_words(command, command->count);
		has_options = has_options && strcmp(text, "--") != 0;
		skip_words(command, is_option ? option_width(wrapper, text) : 1);
	}
}

void command_skip_wrappers(struct plain_command *command)
{
	bool is_searched = false;
	const struct wrapper *wrapper;
	while ((wrapper = find_wrapper(command))) {
		is_searched = is_searched || wrapper->is_searched;
		skip_wrapper(wrapper, command);
		while (is_searched && command->count > 0 && !command_judged_program(command->words) &&
		       !find_wrapper(command) && !shell_is_known(word(command, 0)))
			skip_words(command, 1);
	}
}

const char *command_nested_script(const struct plain_command *command)
{
	static const char *const takes_value[] = {"--init-file", "--rcfile", NULL};
	bool has_script = false;
	size_t at = 1;
	while (shell_is_known(word(command, 0)) && at < command->count) {
		const char *text = word(command, at);
		bool is_open = command->words[at].can_vary && strchr("-*?[", text[0]);
		bool is_short = (text[0] == '-' || text[0] == '+') && text[1] != '-';
		if ((text[0] != '-' && !is_short && !is_open) || (has_script && is_open && text[0] != '-'))
			break;
		has_script = has_script || is_open || (is_short && text[0] == '-' && strchr(text, 'c'));
		at += (is_short && strpbrk(text, "oO")) || is_in(text, takes_value) ? 2 : 1;
	}
	return has_script && at < command->count ? word(command, at) : NULL;
}
