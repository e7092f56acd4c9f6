/* ASCII takes a fast path and needs no library; utf8proc is opened by the first other character. If it is missing,
 * each character is a cluster and its width comes from a short table: the painter sets the column after every
 * non-ASCII cluster, so that an error stays within the cluster. */
#include "term/term_width.h"

#include <stdio.h>
#include <utf8proc.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_limits.h"

enum {
	TAB_COLUMNS = 4,
	JOINER = 0x200d,
	EMOJI_STYLE = 0xfe0f,
	FIRST_PICTOGRAM = 0x2190,
	FIRST_REGIONAL = 0x1f1e6,
	LAST_REGIONAL = 0x1f1ff,
	REPLACEMENT = 0xfffd,
};

/* ---- the library ---- */

struct utf8proc {
#define UTF8PROC(name) __typeof__(&utf8proc_##name) name;
#include "term/utf8proc.def"
#undef UTF8PROC
};

static struct utf8proc library;

static const char *const names[] = {
#define UTF8PROC(name) "utf8proc_" #name,
#include "term/utf8proc.def"
#undef UTF8PROC
};

LIBRARY(libutf8proc, library, names, LIBRARY_ROW(libutf8proc), .purpose = "utf8proc, which measures characters");

static bool has_library(void)
{
	return library_load(&libutf8proc, NULL) == 0;
}

struct range {
	uint32_t first, last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t code)
{
	for (size_t i = 0; i < count; i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

/* Characters without a glyph of their own. */
static const struct range invisible[] = {
	{0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
	{0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
	{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool term_is_invisible(uint32_t code)
{
	return is_in(invisible, countof(invisible), code);
}

/* Without the library: scripts whose characters take two columns. */
static const struct range wide[] = {
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
};

static const struct range combining[] = {
	{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0x1f3fb, 0x1f3ff},
};

static int width_of(uint32_t code)
{
	if (code >= FIRST_REGIONAL && code <= LAST_REGIONAL)
		return 2;
	if (has_library())
		return library.charwidth((int32_t)code);
	return is_in(wide, countof(wide), code) ? 2 : 1;
}

static bool breaks(uint32_t before, uint32_t code, int32_t *state)
{
	if (has_library())
		return library.grapheme_break_stateful((int32_t)before, (int32_t)code, state);
	return !is_in(combining, countof(combining), code) && code != JOINER && before != JOINER;
}

/* ---- characters ---- */

/* Decodes the first character; *ret_len is the length of what one U+FFFD replaces if it is ill-formed. */
static uint32_t decode(struct str text, size_t *ret_len)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	size_t len = text_utf8_len(text);
	*ret_len = len ? len : text_ill_formed_len(text);
	if (!len)
		return REPLACEMENT;
	uint32_t code = (unsigned char)text.ptr[0] & first_bits[len];
	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)text.ptr[i] & 0x3f);
	return code;
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* A joiner or style is part of an emoji, and kept, after a pictogram. */
static bool is_kept(uint32_t first, uint32_t code, bool is_first)
{
	return !is_first && first >= FIRST_PICTOGRAM && (code == JOINER || (code & ~1u) == (EMOJI_STYLE & ~1u));
}

/* Appends a character as it is shown; returns true if that is an escape. */
static bool append_character(struct buf *out, struct str bytes, uint32_t code, uint32_t first, bool is_first)
{
	if (code == '\t')
		buf_append(out, "    ", TAB_COLUMNS);
	else if (code < 0x20 || code == 0x7f)
		buf_append(out, (char[]){'^', (char)(code ^ 0x40)}, 2);
	else if (is_control(code) || (term_is_invisible(code) && !is_kept(first, code, is_first)))
		buf_printf(out, "\\u{%x}", (unsigned)code);
	else if (code == REPLACEMENT)
		buf_append_c(out, "\xef\xbf\xbd");
	else {
		buf_append_str(out, bytes);
		return false;
	}
	return true;
}

void term_cluster_append(struct buf *out, const struct term_cluster *cluster)
{
	struct str rest = cluster->bytes;
	uint32_t first = 0;
	if (!cluster->is_escaped)
		buf_append_str(out, rest);
	while (cluster->is_escaped && rest.len) {
		size_t len;
		uint32_t code = decode(rest, &len);
		bool is_first = rest.ptr == cluster->bytes.ptr;
		first = is_first ? code : first;
		append_character(out, str_n(rest.ptr, len), code, first, is_first);
		rest = str_skip(rest, len);
	}
}

static unsigned escaped_width(uint32_t code)
{
	char text[16];
	if (code == '\t')
		return TAB_COLUMNS;
	return code < 0x20 || code == 0x7f ? 2 : (unsigned)snprintf(text, sizeof(text), "\\u{%x}", (unsigned)code);
}

/* The state while the characters of a cluster are added. */
struct measure {
	uint32_t first, last;
	int32_t state;
	unsigned escapes; /* columns of the escapes */
	int width;        /* of the widest character */
};

static void measure_add(struct measure *measure, struct term_cluster *cluster, uint32_t code, size_t len)
{
	bool is_first = cluster->bytes.len == 0;
	measure->first = is_first ? code : measure->first;
	measure->last = code;
	cluster->bytes.len += len;
	if (code == REPLACEMENT)
		cluster->is_escaped = true;
	if (is_control(code) || (term_is_invisible(code) && !is_kept(measure->first, code, is_first))) {
		cluster->is_escaped = true;
		measure->escapes += escaped_width(code);
		return;
	}
	int width = code == EMOJI_STYLE ? 2 : width_of(code);
	measure->width = width > measure->width ? width : measure->width;
}

struct term_cluster term_cluster_next(struct str text)
{
	unsigned char c = (unsigned char)text.ptr[0];
	struct term_cluster cluster = {.bytes = str_n(text.ptr, 0)};
	struct measure measure = {0};
	size_t len;
	if (c >= 0x20 && c < 0x7f && (text.len == 1 || !(text.ptr[1] & 0x80)))
		return (struct term_cluster){.bytes = str_n(text.ptr, 1), .width = 1};
	uint32_t first = decode(text, &len);
	measure_add(&measure, &cluster, first, len);
	while (cluster.bytes.len < text.len && cluster.bytes.len < LIMIT_TERM_CLUSTER && !is_control(measure.last)) {
		uint32_t code = decode(str_skip(text, cluster.bytes.len), &len);
		if (is_control(code) || breaks(measure.last, code, &measure.state))
			break;
		measure_add(&measure, &cluster, code, len);
	}
	cluster.width = (unsigned)measure.width + measure.escapes;
	cluster.width = cluster.width ? cluster.width : 1;
	return cluster;
}

size_t term_cluster_last(struct str text)
{
	size_t len = 0;
	if (text.len && text.ptr[text.len - 1] == '\n')
		return 1;
	text = str_skip(text, (size_t)(str_rfind_char(text, '\n') + 1));
	while (text.len) {
		len = term_cluster_next(text).bytes.len;
		text = str_skip(text, len);
	}
	return len;
}

size_t term_width(struct str text)
{
	size_t width = 0;
	while (text.len) {
		struct term_cluster cluster = term_cluster_next(text);
		width += cluster.width;
		text = str_skip(text, cluster.bytes.len);
	}
	return width;
}
