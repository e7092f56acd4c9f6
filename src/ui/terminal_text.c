/* A command's output or a model's words could otherwise retitle the window, rewrite what was shown before,
 * or on some terminals type commands. C1 controls count too: U+009B starts a sequence as ESC [ does. */
#include "ui/terminal_text.h"

#include <stdbool.h>
#include <sys/ioctl.h>

#include "base/text.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

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

/* Appends what stands for the first character of text, which is not plain; returns its length. */
static size_t append_special(struct buf *out, struct str text)
{
	size_t len = text_utf8_len(text);
	if (!len || is_c1(text)) {
		buf_append_c(out, replacement);
		return len ? len : text_ill_formed_len(text);
	}
	if (len > 1)
		buf_append(out, text.ptr, len);
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
