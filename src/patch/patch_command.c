/* Recognises a few exact forms of shell script, deliberately not more: a recognised script is applied as a patch and
 * not run, so a script that does anything else as well must not match. Expansions, further commands and redirections
 * other than the here-document do not match, and the first unexpected byte ends the attempt. */
#include "patch/patch_command.h"

#include "base/mem.h"
#include "patch/patch_parse.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct str *rest)
{
	while (rest->len && is_blank(rest->ptr[0]))
		*rest = str_skip(*rest, 1);
}

static void skip_lines(struct str *rest)
{
	while (rest->len && (is_blank(rest->ptr[0]) || rest->ptr[0] == '\n'))
		*rest = str_skip(*rest, 1);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* True for characters that have no special meaning in any position of a shell word. */
static bool is_plain(char c)
{
	return is_letter(c) || c == '/' || c == '.' || c == '-' || c == '+' || c == ',' || c == '@' || c == ':' ||
	       (unsigned char)c >= 0x80;
}

typedef bool (*patch_command_accept_fn)(char c);

static bool cut_run(struct str *rest, patch_command_accept_fn accept, struct str *ret)
{
	size_t len = 0;
	while (len < rest->len && accept(rest->ptr[len]))
		len++;
	*ret = str_n(rest->ptr, len);
	*rest = str_skip(*rest, len);
	return len != 0;
}

/* True for characters that are literal in both kinds of quotes. The backslash is literal in single quotes only. */
static bool is_quotable(char c)
{
	return c != '"' && c != '\'' && c != '$' && c != '`' && c != '\\' && c != '\n' && c != '!';
}

/* Cuts one word, plain or entirely inside one kind of quotes. */
static bool cut_word(struct str *rest, patch_command_accept_fn plain, patch_command_accept_fn quoted, struct str *ret)
{
	char quote = rest->len ? rest->ptr[0] : '\0';
	if (quote != '"' && quote != '\'')
		return cut_run(rest, plain, ret);
	*rest = str_skip(*rest, 1);
	if (!cut_run(rest, quoted, ret) || rest->len == 0 || rest->ptr[0] != quote)
		return false;
	*rest = str_skip(*rest, 1);
	return true;
}

/* Cuts "cd FOLDER &&"; true without cutting if the script does not start with cd. */
static bool cut_folder(struct str *rest, struct str *ret)
{
	struct str at = *rest;
	if (!str_cut_prefix(&at, "cd") || at.len == 0 || !is_blank(at.ptr[0]))
		return true;
	skip_blanks(&at);
	if (!cut_word(&at, is_plain, is_quotable, ret) || ret->ptr[0] == '-')
		return false;
	skip_blanks(&at);
	if (!str_cut_prefix(&at, "&&"))
		return false;
	skip_lines(&at);
	*rest = at;
	return true;
}

static bool cut_program(struct str *rest)
{
	if (!str_cut_prefix(rest, "apply_patch") && !str_cut_prefix(rest, "applypatch"))
		return false;
	skip_blanks(rest);
	return str_cut_prefix(rest, "<<");
}

/* Cuts the lines up to the marker, without the final newlines. */
static bool cut_body(struct str *rest, struct str marker, struct str *ret)
{
	const char *from = rest->ptr;
	struct str line;
	while (str_next_line(rest, &line)) {
		if (!str_eq(line, marker))
			continue;
		*ret = str_n(from, (size_t)(line.ptr - from));
		while (ret->len && ret->ptr[ret->len - 1] == '\n')
			ret->len--;
		return true;
	}
	return false;
}

static bool cut_heredoc(struct str *rest, struct str *ret)
{
	struct str marker, line;
	skip_blanks(rest);
	if (!cut_word(rest, is_letter, is_letter, &marker))
		return false;
	skip_blanks(rest);
	return str_next_line(rest, &line) && line.len == 0 && cut_body(rest, marker, ret);
}

static bool is_patch(struct str text)
{
	auto_patch struct patch patch = {0};
	return patch_parse(&patch, text, NULL) == 0;
}

static struct patch_command find_in_script(struct str script)
{
	struct patch_command found = {.kind = PATCH_COMMAND_APPLY, .folder = STR_NONE};
	struct str rest = script;
	skip_lines(&rest);
	if (cut_folder(&rest, &found.folder) && cut_program(&rest) && cut_heredoc(&rest, &found.patch)) {
		skip_lines(&rest);
		if (rest.len == 0)
			return found;
	}
	return (struct patch_command){.kind = is_patch(script) ? PATCH_COMMAND_BARE : PATCH_COMMAND_NONE};
}

static bool is_shell(struct str program)
{
	static const char *const shells[] = {"bash", "zsh", "sh"};
	struct str name = str_skip(program, (size_t)(str_rfind_char(program, '/') + 1));
	ptrdiff_t dot = str_rfind_char(name, '.');
	if (dot > 0)
		name.len = (size_t)dot;
	for (size_t i = 0; i < countof(shells); i++) {
		if (str_equal_fold(name, str_of(shells[i])))
			return true;
	}
	return false;
}

struct patch_command patch_command_find(const struct str *argv, size_t count)
{
	if (count == 1)
		return (struct patch_command){.kind = is_patch(argv[0]) ? PATCH_COMMAND_BARE : PATCH_COMMAND_NONE};
	if (count == 2 && (str_is(argv[0], "apply_patch") || str_is(argv[0], "applypatch")))
		return (struct patch_command){.kind = PATCH_COMMAND_APPLY, .patch = argv[1], .folder = STR_NONE};
	if (count == 3 && is_shell(argv[0]) && (str_is(argv[1], "-c") || str_is(argv[1], "-lc")))
		return find_in_script(argv[2]);
	return (struct patch_command){.kind = PATCH_COMMAND_NONE};
}
