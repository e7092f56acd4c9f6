/* The configuration takes [tui] as it is: only the terminal knows its keys. */
#include "ui/tui/tui_config.h"

#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
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
#define SETTING(key, kinds, expected) {"tui." #key, expected, kinds},
#include "ui/tui/tui_config.def"
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
	return error_set(err, ERR_config, "%s: `%s` must be %s, not %s", config_place(wrong, where), setting->key,
	                 setting->expected, toml_kind_name(wrong->kind));
}

int tui_config_check(const struct config *config, struct error *err)
{
	for (const struct setting *it = settings; it < settings + countof(settings); it++) {
		const struct toml *value = config_find(config, it->key);
		const struct toml *wrong = value ? find_wrong(value, it->kinds) : NULL;
		if (wrong)
			return refuse(it, wrong, err);
	}
	return 0;
}

/* ---- values ---- */

bool tui_config_is(const struct config *config, const char *key, bool value)
{
	const struct toml *found = config_find(config, key);
	return toml_is(found, TOML_bool) && found->boolean == value;
}

bool tui_config_is_word(const struct config *config, const char *key, const char *word)
{
	const struct toml *value = config_find(config, key);
	return toml_is(value, TOML_string) && str_is(value->text, word);
}

bool tui_config_wants(const struct config *config, const char *kind)
{
	const struct toml *value = config_find(config, "tui.notifications");
	if (toml_is(value, TOML_bool))
		return value->boolean;
	if (!toml_is(value, TOML_array))
		return true;
	toml_for_each(it, value) {
		if (toml_is(it, TOML_string) && str_is(it->text, kind))
			return true;
	}
	return false;
}
