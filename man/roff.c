#include "roff.h"

#include <string.h>

/* Characters that groff would print as another one, or that have a meaning. */
static const char *escape_of(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '\'':
		return "\\(aq";
	case '`':
		return "\\(ga";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	default:
		return NULL;
	}
}

/* Appends one character beyond ASCII by its number, because groff reads Latin-1 unless a preprocessor helps.
 * Returns its length. The text comes from tables, so it is valid UTF-8. */
static size_t append_wide(struct buf *out, struct str rest)
{
	unsigned char first = (unsigned char)rest.ptr[0];
	size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	unsigned code = first & (0xffu >> (len + 1));
	for (size_t i = 1; i < len && i < rest.len; i++)
		code = code << 6 | ((unsigned char)rest.ptr[i] & 0x3fu);
	if (code == 0x2026) /* an ellipsis has no form in ASCII */
		buf_append_c(out, "...");
	else
		buf_printf(out, "\\[u%04X]", code);
	return len;
}

void roff_append(struct buf *out, struct str text)
{
	bool starts_line = !out->len || out->data[out->len - 1] == '\n';
	if (starts_line && text.len && (text.ptr[0] == '.' || text.ptr[0] == '\''))
		buf_append_c(out, "\\&");
	for (size_t i = 0; i < text.len;) {
		const char *escape = escape_of(text.ptr[i]);
		if ((unsigned char)text.ptr[i] >= 0x80) {
			i += append_wide(out, str_skip(text, i));
			continue;
		}
		if (escape)
			buf_append_c(out, escape);
		else
			buf_append_char(out, text.ptr[i]);
		i++;
	}
}

void roff_append_marked(struct buf *out, struct str text)
{
	struct str part;
	bool is_code = false;
	while (str_next_part(&text, '`', &part)) {
		if (is_code)
			buf_append_c(out, "\\fB");
		roff_append(out, part);
		if (is_code)
			buf_append_c(out, "\\fR");
		is_code = !is_code;
	}
}

void roff_sentence(struct buf *out, struct str text)
{
	roff_append_marked(out, text);
	if (text.len && !strchr(".:!?", text.ptr[text.len - 1]))
		buf_append_char(out, '.');
	buf_append_char(out, '\n');
}

/* Without a date: it would be that of the build, or wrong. Without hyphens, so that names can be searched for. */
void roff_title(struct buf *out, const char *page, int section)
{
	buf_append_c(out, ".\\\" Generated; do not edit.\n.TH ");
	for (const char *c = page; *c; c++)
		buf_append_char(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
	buf_printf(out, " %d \"\" \"codex " CODEX_VERSION "\" \"Codex manual\"\n.nh\n.ad l\n", section);
}

void roff_heading(struct buf *out, const char *macro, const char *text)
{
	buf_printf(out, ".%s \"", macro);
	roff_append(out, str_of(text));
	buf_append_c(out, "\"\n");
}

void roff_tag(struct buf *out)
{
	buf_append_c(out, ".TP\n");
}

void roff_verbatim(struct buf *out, struct str lines, size_t indent)
{
	struct str line;
	buf_append_c(out, ".nf\n");
	while (str_next_part(&lines, '\n', &line)) {
		size_t skip = 0;
		while (skip < indent && skip < line.len && line.ptr[skip] == ' ')
			skip++;
		roff_append(out, str_skip(line, skip));
		buf_append_char(out, '\n');
	}
	buf_append_c(out, ".fi\n");
}

/* A paragraph may change from lines that are filled to lines that are not: "Examples:", then indented commands. */
static void append_paragraph(struct buf *out, struct str text)
{
	struct str line;
	bool is_verbatim = false;
	buf_append_c(out, ".PP\n");
	while (str_next_part(&text, '\n', &line)) {
		bool is_indented = str_has_prefix(line, "  ");
		if (is_indented != is_verbatim)
			buf_append_c(out, is_indented ? ".RS 4\n.nf\n" : ".fi\n.RE\n");
		is_verbatim = is_indented;
		if (is_verbatim)
			roff_append(out, str_skip(line, 2));
		else
			roff_append_marked(out, line);
		buf_append_char(out, '\n');
	}
	if (is_verbatim)
		buf_append_c(out, ".fi\n.RE\n");
}

void roff_paragraphs(struct buf *out, struct str text)
{
	while (text.len) {
		const char *gap = memmem(text.ptr, text.len, "\n\n", 2);
		size_t len = gap ? (size_t)(gap - text.ptr) : text.len;
		struct str paragraph = str_n(text.ptr, len);
		if (paragraph.len && paragraph.ptr[paragraph.len - 1] == '\n')
			paragraph.len--;
		append_paragraph(out, paragraph);
		text = str_skip(text, gap ? len + 2 : len);
	}
}
