/* The sequences are made when a theme is chosen, not for each row. */
#include "term/term_theme.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SGR_MAX = 24, STYLES = TERM_reverse + 1, CUBE = 16, CUBE_SIDE = 6 };

enum term_slot {
	SLOT_none,
	SLOT_red,
	SLOT_green,
	SLOT_yellow,
	SLOT_accent,
	SLOT_keyword,
	SLOT_string,
	SLOT_number,
	SLOT_comment,
	SLOTS
};

static const struct {
	char color[6], flat[4];
	uint8_t slot;
} styles[] = {
#define TERM_STYLE(name, sgr, flat, slot) {sgr, flat, SLOT_##slot},
#include "term/term_style.def"
#undef TERM_STYLE
};

static const struct {
	char name[20];
	uint32_t colors[SLOTS - 1];
} themes[] = {
#define THEME(name, ...) {name, {__VA_ARGS__}},
#include "term/term_theme.def"
#undef THEME
};

static char chosen[STYLES][SGR_MAX]; /* empty: as the terminal has it */

const char *term_theme_name(size_t index)
{
	return themes[index].name;
}

unsigned term_theme_nearest(uint32_t rgb)
{
	unsigned index = 0;
	for (int shift = 16; shift >= 0; shift -= 8) {
		unsigned level = (rgb >> shift) & 0xff;
		index = index * CUBE_SIDE + (level < 48 ? 0 : level < 115 ? 1 : (level - 35) / 40);
	}
	return CUBE + index;
}

static void make(char out[SGR_MAX], uint32_t rgb, bool is_exact)
{
	if (is_exact)
		snprintf(out, SGR_MAX, "38;2;%u;%u;%u", (rgb >> 16) & 0xff, (rgb >> 8) & 0xff, rgb & 0xff);
	else
		snprintf(out, SGR_MAX, "38;5;%u", term_theme_nearest(rgb));
}

void term_theme_use(struct str name, const char *color, const char *term)
{
	bool is_exact = color && (strcmp(color, "truecolor") == 0 || strcmp(color, "24bit") == 0);
	size_t theme = 0;
	for (size_t i = 1; i < TERM_THEMES; i++)
		theme = str_is(name, themes[i].name) ? i : theme;
	if (!is_exact && !(term && strstr(term, "256color")))
		theme = 0;
	for (size_t i = 0; i < STYLES; i++) {
		chosen[i][0] = '\0';
		if (theme && styles[i].slot != SLOT_none)
			make(chosen[i], themes[theme].colors[styles[i].slot - 1], is_exact);
	}
}

const char *term_theme_sgr(enum term_style style, bool has_color)
{
	return !has_color ? styles[style].flat : chosen[style][0] ? chosen[style] : styles[style].color;
}
