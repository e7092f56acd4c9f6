/* There are two tables, one of names and one of options. A name counts as safe only if it means the system's
 * program: bare, or in a system folder; ./ls can be any program of the repository. This is stricter than codex
 * 0.169, with a test for each case: programs outside the system folders, a pattern that could become an option, a
 * second operand of uniq (which it writes to), and abbreviated options of git (--outp). */
#include "command/command_safety.h"

#include "base/str.h"
#include "command/command_walk.h"
#include "command/command_word.h"
#include "command/command_wrapper.h"
#include "command/shell.h"

typedef bool (*plain_rule_fn)(const struct plain_command *command);

/* --- reading words ------------------------------------------------------------------------------------------- */

static const char *word(const struct plain_command *command, size_t at)
{
	return at < command->count ? command->words[at].text : "";
}

static bool is_word(const struct plain_command *command, size_t at, const char *text)
{
	return at < command->count && strcmp(command->words[at].text, text) == 0;
}

static bool is_in(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

static bool can_vary(const struct plain_command *command)
{
	for (size_t i = 1; i < command->count; i++)
		if (command->words[i].can_vary)
			return true;
	return false;
}

/* True if text is one of these long options, possibly abbreviated or with a value. */
static bool is_long_option(const char *text, const char *const *list)
{
	if (strncmp(text, "--", 2) != 0 || text[2] == '\0')
		return false;
	size_t length = strcspn(text, "=");
	for (; *list; list++)
		if (strncmp(text, *list, length) == 0)
			return true;
	return false;
}

/* --- safe ----------------------------------------------------------------------------------------------------- */

static bool is_always_safe(const struct plain_command *command)
{
	(void)command;
	return true;
}

static bool is_base64_safe(const struct plain_command *command)
{
	static const char *const writes[] = {"--output", NULL};
	for (size_t i = 1; i < command->count; i++)
		if (strncmp(word(command, i), "-o", 2) == 0 || is_long_option(word(command, i), writes))
			return false;
	return !can_vary(command);
}

static bool is_find_safe(const struct plain_command *command)
{
	static const char *const acts[] = {"-exec", "-execdir", "-ok",      "-okdir",   "-delete",
	                                   "-fls",  "-fprint",  "-fprint0", "-fprintf", NULL};
	for (size_t i = 1; i < command->count; i++)
		if (is_in(word(command, i), acts))
			return false;
	return !can_vary(command);
}

/* Also recognises -z among joined short options, as in -nz. */
static bool is_rg_safe(const struct plain_command *command)
{
	static const char *const runs[] = {"--search-zip", "--pre", "--hostname-bin", NULL};
	for (size_t i = 1; i < command->count; i++) {
		const char *text = word(command, i);
		bool is_short = text[0] == '-' && text[1] != '-';
		if (is_long_option(text, runs) || (is_short && strchr(text, 'z')))
			return false;
	}
	return !can_vary(command);
}

/* True for a sed script of the form Np or N,Mp. */
static bool is_print_script(const char *text)
{
	size_t first = strspn(text, "0123456789");
	if (first == 0)
		return false;
	text += first;
	if (text[0] == ',') {
		size_t second = strspn(text + 1, "0123456789");
		if (second == 0)
			return false;
		text += 1 + second;
	}
	return strcmp(text, "p") == 0;
}

static bool is_sed_safe(const struct plain_command *command)
{
	bool has_file = command->count == 4 && word(command, 3)[0] != '-';
	return is_word(command, 1, "-n") && is_print_script(word(command, 2)) && !can_vary(command) &&
	       (command->count == 3 || has_file);
}

/* "-" and all words after "--" are operands. */
static bool is_uniq_safe(const struct plain_command *command)
{
	size_t operands = 0;
	bool has_options = true;
	for (size_t i = 1; i < command->count; i++) {
		const char *text = word(command, i);
		bool is_end = has_options && strcmp(text, "--") == 0;
		operands += !is_end && (!has_options || text[0] != '-' || text[1] == '\0');
		has_options = has_options && !is_end;
	}
	return operands <= 1 && !can_vary(command);
}

static bool only_lists_branches(const struct plain_command *command)
{
	static const char *const lists[] = {"--list", "-l",  "--show-current", "-a", "--all", "-r", "--remotes",
	                                    "-v",     "-vv", "--verbose",      NULL};
	for (size_t i = 2; i < command->count; i++)
		if (!is_in(word(command, i), lists) && strncmp(word(command, i), "--format=", 9) != 0)
			return false;
	return true;
}

static bool only_lists_remotes(const struct plain_command *command)
{
	static const char *const lists[] = {"-v", "--verbose", NULL};
	return command->count == 2 || (command->count == 3 && is_in(word(command, 2), lists));
}

/* Skips the options of git that change only its output. -C is not one of them: it chooses the repository and with it
 * the programs that git runs for it. */
static struct plain_command skip_git_options(const struct plain_command *command)
{
	static const char *const harmless[] = {"--no-pager", "--no-optional-locks", NULL};
	struct plain_command rest = *command;
	for (;;) {
		if (!is_in(word(&rest, 1), harmless))
			return rest;
		rest.words++; /* drop the word; the name is not used again */
		rest.count--;
	}
}

static bool is_git_safe(const struct plain_command *command)
{
	static const char *const reads[] = {"blame",  "branch",    "describe", "diff",   "log", "ls-files",
	                                    "remote", "rev-parse", "show",     "status", NULL};
	static const char *const acts[] = {"--output", "--ext-diff",  "--textconv",           "--exec", "--paginate",
	                                   "--help",   "--submodule", "--recurse-submodules", NULL};
	struct plain_command git = skip_git_options(command);
	if (!is_in(word(&git, 1), reads) || can_vary(&git))
		return false;
	for (size_t i = 2; i < git.count; i++)
		if (is_long_option(word(&git, i), acts))
			return false;
	if (is_word(&git, 1, "remote"))
		return only_lists_remotes(&git);
	return !is_word(&git, 1, "branch") || only_lists_branches(&git);
}

/* True if none of these letters occurs in the short options, joined or not, and none of these long options occurs. */
static bool has_none_of(const struct plain_command *command, const char *letters, const char *const *names)
{
	for (size_t i = 1; i < command->count; i++) {
		const char *text = word(command, i);
		bool is_short = text[0] == '-' && text[1] != '-';
		if (is_long_option(text, names) || (is_short && strpbrk(text + 1, letters)))
			return false;
	}
	return !can_vary(command);
}

static bool is_sort_safe(const struct plain_command *command)
{
	static const char *const acts[] = {"--output", "--compress-program", "--temporary-directory", NULL};
	return has_none_of(command, "oT", acts);
}

static bool is_diff_safe(const struct plain_command *command)
{
	static const char *const runs[] = {"--paginate", NULL};
	return has_none_of(command, "l", runs);
}

static bool is_tree_safe(const struct plain_command *command)
{
	static const char *const writes[] = {"--output", NULL};
	return has_none_of(command, "oR", writes);
}

/* Rejects words that do not clearly format or select a time, because they could set the clock. */
static bool is_date_safe(const struct plain_command *command)
{
	static const char *const says[] = {"-u", "-R", "-I", "--utc", "--universal", "--rfc-email", "--iso-8601", NULL};
	for (size_t i = 1; i < command->count; i++) {
		const char *text = word(command, i);
		if (is_word(command, i, "-d") && i + 1 < command->count)
			i++;
		else if (text[0] != '+' && strncmp(text, "--date=", 7) != 0 && !is_in(text, says))
			return false;
	}
	return !can_vary(command);
}

/* Allows `command -v git`, which prints the location of git and does not run it. */
static bool is_command_safe(const struct plain_command *command)
{
	return is_word(command, 1, "-v") && command->count == 3 && !can_vary(command);
}

static const struct {
	const char *name;
	plain_rule_fn is_safe;
} safe_rules[] = {
	{"base64", is_base64_safe},  {"basename", is_always_safe}, {"cat", is_always_safe},
	{"cd", is_always_safe},      {"cksum", is_always_safe},    {"cmp", is_always_safe},
	{"comm", is_always_safe},    {"command", is_command_safe}, {"cut", is_always_safe},
	{"date", is_date_safe},      {"df", is_always_safe},       {"diff", is_diff_safe},
	{"dirname", is_always_safe}, {"du", is_always_safe},       {"echo", is_always_safe},
	{"expr", is_always_safe},    {"false", is_always_safe},    {"find", is_find_safe},
	{"git", is_git_safe},        {"grep", is_always_safe},     {"head", is_always_safe},
	{"id", is_always_safe},      {"jq", is_always_safe},       {"ls", is_always_safe},
	{"md5sum", is_always_safe},  {"nl", is_always_safe},       {"numfmt", is_always_safe},
	{"od", is_always_safe},      {"paste", is_always_safe},    {"ps", is_always_safe},
	{"pwd", is_always_safe},     {"readlink", is_always_safe}, {"realpath", is_always_safe},
	{"rev", is_always_safe},     {"rg", is_rg_safe},           {"sed", is_sed_safe},
	{"seq", is_always_safe},     {"sha1sum", is_always_safe},  {"sha256sum", is_always_safe},
	{"sort", is_sort_safe},      {"stat", is_always_safe},     {"strings", is_always_safe},
	{"tac", is_always_safe},     {"tail", is_always_safe},     {"tr", is_always_safe},
	{"tree", is_tree_safe},      {"true", is_always_safe},     {"type", is_always_safe},
	{"uname", is_always_safe},   {"uniq", is_uniq_safe},       {"wc", is_always_safe},
	{"which", is_always_safe},   {"whoami", is_always_safe},
};

bool plain_command_is_safe(const struct plain_command *command)
{
	const char *name = shell_system_name(word(command, 0));
	for (size_t i = 0; name && i < sizeof(safe_rules) / sizeof(*safe_rules); i++)
		if (strcmp(name, safe_rules[i].name) == 0)
			return safe_rules[i].is_safe(command);
	return false;
}

bool plain_command_is_git(const struct plain_command *command)
{
	return strcmp(shell_base_name(word(command, 0)), "git") == 0;
}

bool plain_command_moves(const struct plain_command *command)
{
	static const char *const moves[] = {"cd", "chdir", "popd", "pushd", NULL};
	return is_in(word(command, 0), moves);
}

/* --- dangerous -------------------------------------------------------------------------------------------------- */

static bool has_option(const struct plain_command *command, size_t from, const char *const *options)
{
	for (size_t i = from; i < command->count; i++)
		if (is_in(word(command, i), options))
			return true;
	return false;
}

/* True if a word with a pattern could become an option, or the + of a forced push. The value of an option
 * (--repo=$x) could not. */
static bool has_open_word(const struct plain_command *command, size_t from)
{
	static const char value_end[] = {COMMAND_EXPANSION, '\0'};
	for (size_t i = from; i < command->count; i++) {
		const char *text = word(command, i);
		bool is_value =
			command_word_is_expanded(&command->words[i]) && memchr(text, '=', strcspn(text, value_end));
		if (command->words[i].can_vary && !is_value && text[0] && strchr("-+*?[", text[0]))
			return true;
	}
	return false;
}

/* The position of git's subcommand, after the options of git itself and variables. */
static size_t git_subcommand(const struct plain_command *command)
{
	static const char *const takes_value[] = {"-C",          "-c",          "--git-dir",      "--work-tree",
	                                          "--namespace", "--exec-path", "--super-prefix", "--config-env",
	                                          NULL};
	size_t at = 1;
	while (at < command->count && (word(command, at)[0] == '-' || command_word_is_unknown(&command->words[at])))
		at += is_in(word(command, at), takes_value) ? 2 : 1;
	return at;
}

static bool forces_push(const struct plain_command *command, size_t from)
{
	static const char *const forces[] = {"-f", "--force", "--force-with-lease", "-d", "--delete", "--mirror", NULL};
	for (size_t i = from; i < command->count; i++)
		if (word(command, i)[0] == '+' || strncmp(word(command, i), "--force-with-lease=", 19) == 0)
			return true;
	return has_option(command, from, forces);
}

/* git clean deletes only with a force option, alone or joined to others (-fdx). */
static bool forces_clean(const struct plain_command *command, size_t from)
{
	for (size_t i = from; i < command->count; i++) {
		const char *text = word(command, i);
		bool is_short = text[0] == '-' && text[1] != '-';
		if ((is_short && strchr(text, 'f')) || strcmp(text, "--force") == 0)
			return true;
	}
	return false;
}

static bool is_subcommand(const struct plain_command *command, size_t at, const char *name)
{
	return at < command->count && command_word_can_be(&command->words[at], str_of(name));
}

/* If a word up to the subcommand has a pattern of file names, the subcommand is unknown. A variable is taken for one
 * word: `git -C $dir log` is too common to ask about. */
static bool is_git_dangerous(const struct plain_command *command)
{
	static const char *const deletes[] = {"-d", "-D", "--delete", NULL};
	size_t at = git_subcommand(command);
	for (size_t i = 1; i <= at && i < command->count; i++)
		if (command->words[i].can_vary && !command_word_is_expanded(&command->words[i]))
			return true;
	if (is_subcommand(command, at, "reset") || is_subcommand(command, at, "rm"))
		return true;
	if (is_subcommand(command, at, "branch") &&
	    (has_option(command, at + 1, deletes) || has_open_word(command, at + 1)))
		return true;
	if (is_subcommand(command, at, "push") && (forces_push(command, at + 1) || has_open_word(command, at + 1)))
		return true;
	return is_subcommand(command, at, "clean") && (forces_clean(command, at + 1) || has_open_word(command, at + 1));
}

/* rm accepts options anywhere before "--". */
static bool is_rm_dangerous(const struct plain_command *command)
{
	for (size_t i = 1; i < command->count && !is_word(command, i, "--"); i++)
		if (command_word_forces_rm(&command->words[i]))
			return true;
	return false;
}

static void on_program(const struct plain_command *command, void *self)
{
	bool *is_dangerous = self;
	const char *name = command_judged_program(command->words);
	if (name && (strcmp(name, "git") == 0 ? is_git_dangerous(command) : is_rm_dangerous(command)))
		*is_dangerous = true;
}

bool plain_command_is_dangerous(const struct plain_command *command)
{
	bool is_dangerous = false;
	command_walk(command, on_program, &is_dangerous);
	return is_dangerous;
}

bool command_is_dangerous(const char *const *argv)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	bool is_dangerous = false;
	if (command_parse_argv(argv, &arena, &list)) {
		for (size_t i = 0; i < list.count; i++)
			command_walk(&list.commands[i], on_program, &is_dangerous);
		return is_dangerous;
	}
	for (; *argv; argv++) /* the options of such a shell are not known: each word could be its script */
		command_walk_script(str_of(*argv), on_program, &is_dangerous);
	return is_dangerous;
}
