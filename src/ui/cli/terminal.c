/* Escape sequences in a command's output or a model's text could retitle the window, overwrite earlier output or, on
 * some terminals, type commands. C1 controls count too: U+009B starts a sequence as ESC [ does.
 *
 * Characters that reorder their neighbours or have no width are written as <U+202E>, so that the user sees the command
 * that an approval runs. Variation selectors after a non-ASCII character (emoji) are the exception. */
#include "ui/cli/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "command/shell.h"
#include "config/config_env.h"
#include "term/term_width.h"

static const char replacement[] = "\xef\xbf\xbd"; /* UTF-8 of U+FFFD */

static bool is_plain(unsigned char c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
}

static size_t plain_len(struct str text)
{
	size_t len = 0;
	while (len < text.len && is_plain((unsigned char)text.ptr[len]))
		len++;
	return len;
}

static bool is_c1(struct str text)
{
	return text.len >= 2 && text.ptr[0] == '\xc2' && (unsigned char)text.ptr[1] < 0xa0;
}

/* Returns the first character of text, which is well-formed; len is its length. */
static uint32_t character(struct str text, size_t len)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)text.ptr[0] & first_bits[len];
	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)text.ptr[i] & 0x3f);
	return code;
}

/* True for U+FE0E and U+FE0F, which choose between text and emoji style. */
static bool is_emoji_style(uint32_t code, const struct buf *out)
{
	return (code & ~1u) == 0xfe0e && out->len > 0 && (out->data[out->len - 1] & 0x80);
}

static void append_character(struct buf *out, struct str text, size_t len)
{
	uint32_t code = character(text, len);
	if (term_is_invisible(code) && !is_emoji_style(code, out))
		buf_printf(out, "<U+%04X>", (unsigned)code);
	else
		buf_append(out, text.ptr, len);
}

/* Appends the replacement of the first character of text, which is not plain; returns its length. */
static size_t append_special(struct buf *out, struct str text)
{
	size_t len = text_utf8_len(text);
	if (!len || is_c1(text)) {
		buf_append_c(out, replacement);
		return len ? len : text_ill_formed_len(text);
	}
	if (len > 1)
		append_character(out, text, len);
	else
		buf_append(out, (char[]){'^', (char)(text.ptr[0] ^ 0x40)}, 2);
	return len;
}

void terminal_text_append(struct buf *out, struct str text)
{
	while (text.len) {
		size_t len = plain_len(text);
		buf_append(out, text.ptr, len);
		text = str_skip(text, len);
		if (text.len)
			text = str_skip(text, append_special(out, text));
	}
}

void terminal_complain(const char *what, struct str text)
{
	auto_buf struct buf line;
	buf_init(&line, 64 * KIB);
	terminal_text_append(&line, text);
	fprintf(stderr, "%s%s\n", what, buf_str(&line).ptr);
}

struct str terminal_text_cut(struct str text, size_t columns)
{
	size_t at = 0;
	while (at < text.len) {
		size_t len = text_utf8_len(str_skip(text, at));
		size_t width = len > 1 ? 2 : 1;
		if (!len)
			len = 1;
		if (width > columns)
			break;
		columns -= width;
		at += len;
	}
	return str_n(text.ptr, at);
}

struct str terminal_text_line(struct str line)
{
	while (str_has_suffix(line, "\r"))
		line.len--;
	return str_skip(line, (size_t)(str_rfind_char(line, '\r') + 1));
}

size_t terminal_columns(int fd)
{
	struct winsize size = {0};
	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void terminal_command_append(struct buf *out, const struct str *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_char(out, ' ');
		shell_quote(out, words[i]);
	}
}

/* A word with NUL would be cut. */
void terminal_script_append(struct buf *out, const struct str *words, size_t count)
{
	auto_arena struct arena arena = {0};
	const char **argv = arena_array(&arena, const char *, count + 1);
	bool has_nul = false;
	for (size_t i = 0; i < count; i++) {
		argv[i] = arena_cstr(&arena, words[i]);
		has_nul |= str_find_char(words[i], '\0') >= 0;
	}
	if (has_nul)
		terminal_command_append(out, words, count);
	else
		shell_show(out, argv);
}

void terminal_line_append(struct buf *out, struct str line)
{
	shell_show_line(out, line);
}

/* ---- colour ---- */

static const char *const sequences[] = {
	[STYLE_plain] = "\x1b[0m", [STYLE_bold] = "\x1b[1m",     [STYLE_dim] = "\x1b[2m",
	[STYLE_red] = "\x1b[31m",  [STYLE_green] = "\x1b[32m",   [STYLE_yellow] = "\x1b[33m",
	[STYLE_cyan] = "\x1b[36m", [STYLE_magenta] = "\x1b[35m",
};

/* NO_COLOR (no-color.org) disables colour for "auto" only; --color always overrides it. */
bool terminal_has_color(const char *when, int fd)
{
	if (when && strcmp(when, "always") == 0)
		return true;
	if (when && strcmp(when, "never") == 0)
		return false;
	const char *no_color = config_env("NO_COLOR"), *term = config_env("TERM");
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

const char *terminal_style(bool color, enum style style)
{
	return color ? sequences[style] : "";
}
