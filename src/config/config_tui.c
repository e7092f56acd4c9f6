/* The binder takes [tui] as it is: the terminal looks its keys up when it needs them. Their types, words and ranges are
 * checked here, for every command, as codex 0.169 does: a mistake is then reported at once, and not when the terminal
 * is opened.
 *
 * Keys that are not in the table are left alone, because another version may know them. */
#include "config/config_tui.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "config/config_record.h"

enum {
	TABLE = 1 << TOML_table,
	LIST = 1 << TOML_array,
	STRING = 1 << TOML_string,
	INTEGER = 1 << TOML_integer,
	FLOAT = 1 << TOML_float,
	BOOL = 1 << TOML_bool,
	/* what is in a table: integers, or tables of keys */
	COUNTS = 1 << 20,
	KEYMAP = 1 << 21,
	KEYS = 1 << 22,
	POSITIVE = 1 << 23,
};

static const struct setting {
	const char *key, *expected, *words;
	unsigned kinds;
} settings[] = {
#define SETTING(key, kinds, expected, words) {#key, expected, words, kinds},
#include "config/config_tui.def"
};

static bool is_in_range(const struct toml *value, unsigned kinds)
{
	if (value->kind == TOML_integer)
		return value->integer >= (kinds & POSITIVE ? 1 : 0);
	return value->kind != TOML_float || (isfinite(value->number) && value->number > 0);
}

/* Returns what the values in a table or list may be; 0: anything. */
static unsigned kinds_inside(const struct toml *value, unsigned kinds)
{
	if (value->kind == TOML_array)
		return STRING;
	return kinds & KEYMAP ? TABLE | KEYS : kinds & KEYS ? STRING | LIST : kinds & COUNTS ? INTEGER : 0;
}

/* Returns the value or the part of it that has a wrong type or is out of range, else NULL. */
static const struct toml *find_wrong(const struct toml *value, unsigned kinds)
{
	if (!(kinds >> value->kind & 1) || !is_in_range(value, kinds))
		return value;
	unsigned inside = kinds_inside(value, kinds);
	toml_for_each(it, inside ? value : NULL) {
		const struct toml *wrong = find_wrong(it, inside);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static int refuse(const struct setting *setting, const struct toml *wrong, struct error *err)
{
	char where[CONFIG_PLACE_SIZE], number[32];
	if (wrong->kind == TOML_float)
		snprintf(number, sizeof(number), "%g", wrong->number);
	else
		snprintf(number, sizeof(number), "%lld", wrong->kind == TOML_integer ? (long long)wrong->integer : 0);
	bool is_number = wrong->kind == TOML_integer || wrong->kind == TOML_float;
	return error_set(err, ERR_config, "%s: `tui.%s` must be %s, not %s", config_place(wrong, where), setting->key,
	                 setting->expected, is_number ? number : toml_kind_name(wrong->kind));
}

static int check_word(const struct setting *setting, const struct toml *value, struct error *err)
{
	char where[CONFIG_PLACE_SIZE], shown[TOML_KEY_SHOWN];
	struct suggest suggest = {.wrong = value->text};
	struct str rest = str_of(setting->words), word;
	while (str_next_part(&rest, ' ', &word)) {
		if (str_eq(word, value->text))
			return 0;
		suggest_offer(&suggest, word);
	}
	struct str best = suggest.best.ptr ? suggest.best : STR("");
	return error_set(err, ERR_config, "%s: `tui.%s` must be one of these words: %s; not `%s`%s%.*s%s",
	                 config_place(value, where), setting->key, setting->words, toml_key_shown(value->text, shown),
	                 best.len ? ". Did you mean `" : "", STR_ARG(best), best.len ? "`?" : "");
}

int config_tui_check(const struct toml *tui, struct error *err)
{
	for (const struct setting *it = settings; it < settings + countof(settings); it++) {
		const struct toml *value = toml_get(tui, it->key);
		const struct toml *wrong = value ? find_wrong(value, it->kinds) : NULL;
		if (wrong)
			return refuse(it, wrong, err);
		if (value && it->words && check_word(it, value, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

/* ---- values ---- */

bool config_tui_is(const struct toml *value, bool expected)
{
	return toml_is(value, TOML_bool) && value->boolean == expected;
}

bool config_tui_is_word(const struct toml *value, const char *word)
{
	return toml_is(value, TOML_string) && str_is(value->text, word);
}

bool config_tui_wants(const struct toml *notifications, const char *kind)
{
	if (toml_is(notifications, TOML_bool))
		return notifications->boolean;
	if (!toml_is(notifications, TOML_array))
		return true;
	toml_for_each(it, notifications) {
		if (toml_is(it, TOML_string) && str_is(it->text, kind))
			return true;
	}
	return false;
}
