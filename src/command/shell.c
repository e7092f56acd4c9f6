/* The account is looked up in /etc/passwd without NSS, because NSS may load libraries and query a server, and this
 * runs on the loop's thread. For accounts that are stored elsewhere $SHELL is used.
 *
 * Quoting tries three styles on the longest possible part of a word: none, '…', "…". A byte excludes the styles that
 * would change it in some shell (fish and Python's shlex included), so a word is split only if no style fits all of
 * it. */
#include "command/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "command/env_policy.h"

enum quote_style { STYLE_BARE = 1, STYLE_SINGLE = 2, STYLE_DOUBLE = 4 };

static const char *const known_shells[] = {"bash", "zsh", "sh"};

const char *shell_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool shell_is_known(const char *path)
{
	for (size_t i = 0; i < countof(known_shells); i++) {
		if (strcmp(shell_base_name(path), known_shells[i]) == 0)
			return true;
	}
	return false;
}

const char *shell_system_name(const char *path)
{
	static const char *const folders[] = {"/bin", "/sbin", "/usr/bin", "/usr/local/bin", "/usr/sbin"};
	const char *name = shell_base_name(path);
	if (name == path)
		return name;
	for (size_t i = 0; i < countof(folders); i++) {
		size_t length = strlen(folders[i]);
		if (strncmp(path, folders[i], length) == 0 && path + length + 1 == name)
			return name;
	}
	return NULL;
}

bool shell_is_trusted(const char *path)
{
	return shell_is_known(path) && (shell_system_name(path) || strcmp(path, shell_user()) == 0);
}

static bool is_usable(const char *path)
{
	return path && path[0] == '/' && shell_is_known(path) && access(path, X_OK) == 0;
}

/* Returns the shell in a line of passwd(5), NAME:PASSWORD:UID:GID:COMMENT:HOME:SHELL, if the line is the user's. */
static const char *shell_in_entry(char *line, uid_t user)
{
	char *field[7] = {line};
	for (size_t i = 1; i < countof(field); i++) {
		char *colon = strchr(field[i - 1], ':');
		if (!colon)
			return NULL;
		*colon = '\0';
		field[i] = colon + 1;
	}
	char *end;
	unsigned long uid = strtoul(field[2], &end, 10);
	return *end == '\0' && end != field[2] && uid == user ? field[6] : NULL;
}

/* Returns the shell in this user's line of /etc/passwd, owned by the caller, or NULL. No function of all C libraries
 * reads that file from any thread. */
static char *passwd_shell(void)
{
	FILE *file = fopen("/etc/passwd", "re");
	if (!file)
		return NULL;
	char line[4096];
	const char *shell = NULL;
	while (!shell && fgets(line, sizeof(line), file)) {
		char *end = strchr(line, '\n');
		if (!end && !feof(file))
			break;
		if (end)
			*end = '\0';
		shell = shell_in_entry(line, getuid());
	}
	fclose(file);
	return shell ? xstrdup(shell) : NULL;
}

const char *shell_user(void)
{
	static _Thread_local char path[4096];
	if (path[0])
		return path;
	auto_free char *account = passwd_shell();
	const char *choice = account ? account : env_own("SHELL");
	if (!is_usable(choice) || strlen(choice) >= sizeof(path))
		choice = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
	memcpy(path, choice, strlen(choice) + 1);
	return path;
}

void shell_argv(const char *shell, const char *script, bool login, const char *ret_argv[SHELL_ARGC + 1])
{
	ret_argv[0] = shell;
	ret_argv[1] = login ? "-lc" : "-c";
	ret_argv[2] = script;
	ret_argv[3] = NULL;
}

static bool is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("+-./:@]_", c));
}

static unsigned styles_of(unsigned char c)
{
	if (is_plain(c))
		return STYLE_BARE | STYLE_SINGLE | STYLE_DOUBLE;
	switch (c) {
	case '^': /* history expansion in old shells: safe only as the first byte in single quotes */
		return 0;
	case '\'':
	case '\\':
		return STYLE_DOUBLE;
	case '$':
	case '`':
	case '!':
		return STYLE_SINGLE;
	default:
		return STYLE_SINGLE | STYLE_DOUBLE;
	}
}

/* Returns the length of the longest prefix of word that a single style fits, and the simplest such style. */
static size_t stretch_of(struct str word, enum quote_style *ret_style)
{
	bool caret = word.ptr[0] == '^';
	unsigned styles = caret ? STYLE_SINGLE : STYLE_BARE | STYLE_SINGLE | STYLE_DOUBLE;
	size_t len = caret;
	while (len < word.len && (styles & styles_of((unsigned char)word.ptr[len]))) {
		styles &= styles_of((unsigned char)word.ptr[len]);
		len++;
	}
	*ret_style = styles & STYLE_BARE ? STYLE_BARE : styles & STYLE_SINGLE ? STYLE_SINGLE : STYLE_DOUBLE;
	return len;
}

static void append_stretch(struct buf *out, struct str part, enum quote_style style)
{
	const char *quote = style == STYLE_BARE ? "" : style == STYLE_SINGLE ? "'" : "\"";
	buf_append_c(out, quote);
	for (size_t i = 0; i < part.len; i++) {
		if (style == STYLE_DOUBLE && (part.ptr[i] == '"' || part.ptr[i] == '\\'))
			buf_append_char(out, '\\');
		buf_append_char(out, part.ptr[i]);
	}
	buf_append_c(out, quote);
}

void shell_quote(struct buf *out, struct str word)
{
	if (word.len == 0)
		buf_append_c(out, "''");
	while (word.len) {
		enum quote_style style;
		size_t len = stretch_of(word, &style);
		append_stretch(out, str_n(word.ptr, len), style);
		word = str_skip(word, len);
	}
}

void shell_join(struct buf *out, const char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_append_char(out, ' ');
		shell_quote(out, str_of(argv[i]));
	}
}

void shell_show(struct buf *out, const char *const *argv)
{
	size_t count = 0;
	while (argv[count])
		count++;
	bool has_script = count == SHELL_ARGC && (strcmp(argv[1], "-lc") == 0 || strcmp(argv[1], "-c") == 0);
	if (has_script && shell_is_trusted(argv[0]))
		buf_append_c(out, argv[2]);
	else
		shell_join(out, argv);
}

/* Reads one word from *rest into *out and terminates it. */
static bool split_word(struct str *rest, char **out)
{
	char quote = '\0';
	for (; rest->len > 0; *rest = str_skip(*rest, 1)) {
		char c = rest->ptr[0];
		if (!quote && strchr(" \t\n", c) && c)
			break;
		if (c == '\\' && quote != '\'' && rest->len > 1 && (!quote || strchr("\"\\", rest->ptr[1]))) {
			*rest = str_skip(*rest, 1);
			*(*out)++ = rest->ptr[0];
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? '\0' : c;
		} else {
			*(*out)++ = c;
		}
	}
	*(*out)++ = '\0';
	return !quote;
}

bool shell_split(struct str line, struct arena *arena, const char ***ret_argv)
{
	/* A blank follows every word but the last, which leaves space for the NULs. */
	char *out = arena_alloc_raw(arena, line.len + 1);
	const char **argv = arena_array(arena, const char *, line.len / 2 + 2);
	size_t count = 0;
	for (line = str_trim(line); line.len > 0; line = str_trim_start(line)) {
		argv[count++] = out;
		if (!split_word(&line, &out))
			return false;
	}
	*ret_argv = argv;
	return true;
}

void shell_show_line(struct buf *out, struct str line)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf joined;
	const char **argv;
	buf_init(&joined, line.len + 1);
	bool is_split = shell_split(line, &arena, &argv);
	if (is_split)
		shell_join(&joined, argv);
	if (is_split && str_eq(buf_str(&joined), line))
		shell_show(out, argv);
	else
		buf_append_str(out, line);
}
