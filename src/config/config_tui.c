/* The binder takes [tui] as it is: the terminal looks its keys up when it needs them. Their types are checked here, for
 * every command: a mistake is then reported at once, and not when the terminal is opened. The words that a string may
 * be are not, which codex 0.169 checks, too.
 *
 * Keys that are not in the table are left alone, because another version may know them. */
#include "config/config_tui.h"

#include "base/error.h"
#include "base/mem.h"
#include "config/config_record.h"

enum {
	TABLE = 1 << TOML_table,
	LIST = 1 << TOML_array,
	STRING = 1 << TOML_string,
	INTEGER = 1 << TOML_integer,
	BOOL = 1 << TOML_bool,
};

static const struct setting {
	const char *key, *expected;
	unsigned kinds;
} settings[] = {
#define SETTING(key, kinds, expected) {#key, expected, kinds},
#include "config/config_tui.def"
};

/* Returns the value or the item of it that has a wrong type, else NULL. The items of a list are strings. */
static const struct toml *find_wrong(const struct toml *value, unsigned kinds)
{
	if (!(kinds >> value->kind & 1))
		return value;
	toml_for_each(it, value->kind == TOML_array ? value : NULL) {
		if (it->kind != TOML_string)
			return it;
	}
	return NULL;
}

static int refuse(const struct setting *setting, const struct toml *wrong, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	return error_set(err, ERR_config, "%s: `tui.%s` must be %s, not %s", config_place(wrong, where), setting->key,
	                 setting->expected, toml_kind_name(wrong->kind));
}

int config_tui_check(const struct toml *tui, struct error *err)
{
	for (const struct setting *it = settings; it < settings + countof(settings); it++) {
		const struct toml *value = toml_get(tui, it->key);
		const struct toml *wrong = value ? find_wrong(value, it->kinds) : NULL;
		if (wrong)
			return refuse(it, wrong, err);
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
