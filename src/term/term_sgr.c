/* A style is one number: the looks, the colour of the text and that of its background side by side, above the styles of
 * term_style.def. */
#include "term/term_sgr.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "term/term_limits.h"
#include "term/term_theme.h"

enum { VALUE_MAX = 1000, LOOK_BITS = 5, COLOR_BITS = 9, PARAMETERS_MAX = 64 };
enum { UNDERLINE = 4, UNDERLINE_TWICE = 21, FRONT = 38, BACK = 48, EDGE = 58, BY_RGB = 2, BY_NUMBER = 5 };
enum { BLACK = 16, WHITE = 231 };                      /* in the cube, as 0 and 15 */
enum { GREYS = 232, GREYS_END = 256, GREYS_NEAR = 4 }; /* from the darkest on */

struct values {
	unsigned items[LIMIT_TERM_SGR_VALUES];
	bool is_part[LIMIT_TERM_SGR_VALUES]; /* it follows a colon, so it belongs to the one before */
	size_t count;
};

/* ---- reading ---- */

/* Returns the length of the sequence at the beginning of the text; 0: there is no such sequence. */
static size_t read_values(struct str text, struct values *values)
{
	*values = (struct values){.count = 1};
	for (size_t i = 2; str_has_prefix(text, "\x1b[") && i < text.len && i < LIMIT_TERM_SGR; i++) {
		char c = text.ptr[i];
		unsigned *value = &values->items[values->count - 1];
		if (c == 'm')
			return i + 1;
		if (c >= '0' && c <= '9')
			*value = *value < VALUE_MAX ? *value * 10 + (unsigned)(c - '0') : VALUE_MAX;
		else if ((c == ';' || c == ':') && values->count < LIMIT_TERM_SGR_VALUES)
			values->is_part[values->count++] = c == ':';
		else
			return 0;
	}
	return 0;
}

/* Reads the colour after 38, 48 or 58. Returns the index of the next value. */
static size_t apply_color(struct term_sgr *sgr, const struct values *values, size_t at)
{
	bool has_parts = at + 1 < values->count && values->is_part[at + 1];
	unsigned kind = at + 1 < values->count ? values->items[at + 1] : 0, code = values->items[at];
	size_t end = at + (kind == BY_NUMBER ? 3 : kind == BY_RGB ? 5 : LIMIT_TERM_SGR_VALUES);
	if (has_parts) {
		for (end = at + 1; end < values->count && values->is_part[end];)
			end++;
	}
	size_t count = end > at + 2 && end <= values->count ? end - at - 2 : 0;
	const unsigned *color = values->items + (count ? at + 2 : 0);
	if (kind == BY_RGB && count > 3) /* a space of colours comes first */
		color++;
	uint16_t number = 0;
	if (kind == BY_NUMBER && count && *color < 256)
		number = (uint16_t)(*color + 1);
	else if (kind == BY_RGB && count >= 3)
		number = (uint16_t)(1 + term_theme_nearest((color[0] & 0xff) << 16 | (color[1] & 0xff) << 8 |
		                                           (color[2] & 0xff)));
	if (number && code == FRONT)
		sgr->front = number;
	else if (number && code == BACK)
		sgr->back = number;
	return end;
}

static const uint8_t look_codes[LOOK_BITS] = {1, 2, 3, UNDERLINE, 7}, look_ends[LOOK_BITS] = {22, 22, 23, 24, 27};

static void apply(struct term_sgr *sgr, unsigned code)
{
	bool is_bright = code >= 90;
	unsigned tens = code / 10 - (is_bright ? 6 : 0), unit = code % 10;
	if (code == 0)
		*sgr = (struct term_sgr){0};
	for (unsigned i = 0; i < LOOK_BITS; i++) {
		if (code == look_codes[i])
			sgr->looks |= (uint16_t)(1 << i);
		else if (code == look_ends[i])
			sgr->looks &= (uint16_t) ~(1 << i);
	}
	if ((tens != 3 && tens != 4) || unit == 8 || (is_bright && unit == 9))
		return;
	uint16_t number = unit == 9 ? 0 : (uint16_t)(unit + 1 + (is_bright ? 8 : 0));
	*(tens == 3 ? &sgr->front : &sgr->back) = number;
}

static void apply_all(struct term_sgr *sgr, const struct values *values)
{
	for (size_t i = 0; i < values->count;) {
		unsigned code = values->items[i];
		bool has_part = i + 1 < values->count && values->is_part[i + 1];
		if (code == FRONT || code == BACK || code == EDGE) {
			i = apply_color(sgr, values, i);
			continue;
		}
		code = code == UNDERLINE_TWICE ? UNDERLINE : code;
		apply(sgr, code == UNDERLINE && has_part && !values->items[i + 1] ? look_ends[3] : code);
		for (i++; i < values->count && values->is_part[i];)
			i++;
	}
}

bool term_sgr_next(struct term_sgr *sgr, struct str *rest, struct str *ret_text)
{
	struct values values;
	size_t len, end = 1;
	while ((len = read_values(*rest, &values))) {
		apply_all(sgr, &values);
		*rest = str_skip(*rest, len);
	}
	if (!rest->len)
		return false;
	for (const char *at; end < rest->len; end++) {
		at = memchr(rest->ptr + end, '\x1b', rest->len - end);
		end = at ? (size_t)(at - rest->ptr) : rest->len;
		if (at && read_values(str_skip(*rest, end), &values))
			break;
	}
	*ret_text = str_n(rest->ptr, end < rest->len ? end : rest->len);
	*rest = str_skip(*rest, ret_text->len);
	return true;
}

/* ---- styles ---- */

/* Returns one number for black, of which there are two, and one for white. */
static unsigned same(unsigned number)
{
	return number == BLACK + 1 ? 1 : number == WHITE + 1 ? 16 : number;
}

static enum { GROUND_unknown, GROUND_dark, GROUND_light } ground;

void term_sgr_set_ground(bool is_light)
{
	ground = is_light ? GROUND_light : GROUND_dark;
}

/* True for the two blacks or whites, and the four greys next to them. */
static bool is_lost(unsigned number)
{
	if (ground == GROUND_dark)
		return same(number) == 1 || (number > GREYS && number <= GREYS + GREYS_NEAR);
	return ground == GROUND_light && (same(number) == 16 || number == 8 || number > GREYS_END - GREYS_NEAR);
}

enum term_style term_sgr_style(const struct term_sgr *sgr, enum term_style usual, bool has_color)
{
	bool is_hidden = sgr->front && same(sgr->front) == same(sgr->back);
	unsigned front = sgr->back || !is_lost(sgr->front) ? sgr->front : 0;
	unsigned colors = has_color && !is_hidden ? front | (unsigned)sgr->back << COLOR_BITS : 0;
	unsigned bits = sgr->looks | colors << LOOK_BITS;
	return bits ? (enum term_style)(TERM_CUSTOM + bits) : usual;
}

/* base: of the parameters for the eight colours. Those after them are bright. */
static void append_color(char out[PARAMETERS_MAX], unsigned number, unsigned base)
{
	size_t len = strlen(out);
	const char *before = len ? ";" : "";
	if (!number)
		return;
	if (number <= 16)
		snprintf(out + len, PARAMETERS_MAX - len, "%s%u", before,
		         (number - 1) % 8 + base + (number > 8 ? 60 : 0));
	else
		snprintf(out + len, PARAMETERS_MAX - len, "%s%u;5;%u", before, base + 8, number - 1);
}

const char *term_sgr_parameters(enum term_style style)
{
	static char out[PARAMETERS_MAX];
	unsigned bits = (unsigned)style - TERM_CUSTOM, mask = (1U << COLOR_BITS) - 1;
	size_t len = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < LOOK_BITS; i++) {
		if (bits >> i & 1)
			len += (size_t)snprintf(out + len, PARAMETERS_MAX - len, "%s%u", len ? ";" : "", look_codes[i]);
	}
	append_color(out, bits >> LOOK_BITS & mask, 30);
	append_color(out, bits >> (LOOK_BITS + COLOR_BITS) & mask, 40);
	return out;
}
