/* The actions are one text, which is read only if there is a table. */
#include "ui/tui/tui_keymap.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/config_key.h"
#include "config/toml/toml.h"

enum { NAME_MAX_LEN = 24 };

static const char contexts[] = "global chat composer editor pager list approval ";

static const char actions[] =
#define ACTION(context, action, keys) #context "." #action " " keys "\n"
#include "ui/tui/tui_keymap.def"
#undef ACTION
	;

static const char key_names[][12] = {
	"",
#define TERM_KEY(name) #name,
#define TERM_FINAL(name, final)
#define TERM_TILDE(name, number)
#define TERM_CODE(name, code)
#include "term/term_key.def"
#undef TERM_KEY
#undef TERM_FINAL
#undef TERM_TILDE
#undef TERM_CODE
};

/* ---- the names of keys ---- */

/* "page-up", "page_up" and "pageup" are one name. */
static bool is_name(struct str word, const char *name)
{
	size_t at = 0;
	for (; *name; name++) {
		if (*name == '_')
			continue;
		while (at < word.len && (word.ptr[at] == '-' || word.ptr[at] == '_'))
			at++;
		if (at == word.len || word.ptr[at++] != *name)
			return false;
	}
	return at == word.len;
}

static bool read_name(struct str word, struct keymap_chord *ret)
{
	for (size_t i = 1; i < countof(key_names); i++) {
		if (!is_name(word, key_names[i]))
			continue;
		ret->kind = TERM_NAMED;
		ret->name = (enum term_key_name)i;
		return true;
	}
	return false;
}

static bool read_character(struct str word, struct keymap_chord *ret)
{
	word = str_is(word, "space") ? STR(" ") : str_is(word, "minus") ? STR("-") : word;
	if (text_utf8_len(word) != word.len)
		return false;
	ret->kind = TERM_CHAR;
	memcpy(ret->text, word.ptr, word.len);
	if (ret->mods & TERM_SHIFT && ret->text[0] >= 'a' && ret->text[0] <= 'z')
		ret->text[0] = (char)(ret->text[0] - 'a' + 'A');
	ret->mods &= ~(unsigned)TERM_SHIFT;
	return true;
}

/* False: it is no key, or one that this terminal does not read. */
static bool read_chord(struct str word, struct keymap_chord *ret)
{
	struct config_key key;
	*ret = (struct keymap_chord){0};
	if (!config_key_read(word, &key) || key.mods & CONFIG_KEY_super)
		return false;
	ret->mods = (key.mods & CONFIG_KEY_ctrl ? TERM_CTRL : 0) | (key.mods & CONFIG_KEY_alt ? TERM_ALT : 0) |
	            (key.mods & CONFIG_KEY_shift ? TERM_SHIFT : 0);
	if (ret->mods == TERM_SHIFT && strcmp(key.name, "tab") == 0)
		*ret = (struct keymap_chord){.kind = TERM_NAMED, .name = KEY_back_tab};
	else
		return read_name(str_of(key.name), ret) || read_character(str_of(key.name), ret);
	return true;
}

bool tui_keymap_describe(const struct term_key *key, struct buf *out)
{
	if (key->kind != TERM_CHAR && key->kind != TERM_NAMED)
		return false;
	buf_printf(out, "%s%s%s", key->mods & TERM_CTRL ? "ctrl-" : "", key->mods & TERM_ALT ? "alt-" : "",
	           key->name == KEY_back_tab || key->mods & TERM_SHIFT ? "shift-" : "");
	if (key->kind == TERM_CHAR)
		buf_append_str(out, str_is(key->text, " ") ? STR("space") : key->text);
	for (const char *c = key_names[key->name == KEY_back_tab ? KEY_tab : key->name]; key->kind == TERM_NAMED && *c;
	     c++)
		buf_append_char(out, *c == '_' ? '-' : *c);
	return true;
}

/* ---- reading ---- */

struct action {
	unsigned context;
	struct str name, keys; /* "context.action" */
};

static bool next_action(struct str *rest, struct action *ret)
{
	struct str line, word, list = str_of(contexts);
	if (!str_next_line(rest, &line) || !str_next_part(&line, ' ', &ret->name))
		return false;
	ret->keys = line;
	ret->context = 0;
	for (unsigned bit = 1; str_next_part(&list, ' ', &word); bit *= 2) {
		if (str_eq(word, str_n(ret->name.ptr, (size_t)str_find_char(ret->name, '.'))))
			ret->context = bit;
	}
	return true;
}

static const struct toml *find_action(const struct toml *table, struct str name)
{
	struct str context;
	str_next_part(&name, '.', &context);
	return toml_find(toml_find(table, context), name);
}

static bool is_same(const struct keymap_chord *a, const struct keymap_chord *b)
{
	return a->kind == b->kind && a->name == b->name && a->mods == b->mods && strcmp(a->text, b->text) == 0;
}

static void bind(struct tui_keymap *map, const struct action *action, const struct toml *value, struct buf *out)
{
	struct keymap_row row = {.context = action->context};
	struct str keys = action->keys, first;
	if (!toml_is(value, TOML_string) || !read_chord(value->text, &row.from)) {
		buf_printf(out, "tui.keymap.%.*s: a key that the terminal does not report\n", STR_ARG(action->name));
		return;
	}
	if (str_next_part(&keys, ' ', &first) && read_chord(first, &row.to))
		vec_push(&map->rows, row);
}

/* The usual keys of an action that was bound have no effect. */
static void release(struct tui_keymap *map, const struct action *action)
{
	struct str keys = action->keys, key;
	while (str_next_part(&keys, ' ', &key)) {
		struct keymap_row row = {.context = action->context, .is_off = true};
		if (read_chord(key, &row.from) && row.from.name != KEY_escape)
			vec_push(&map->rows, row);
	}
}

void tui_keymap_read(struct tui_keymap *map, const struct toml *table, struct buf *out)
{
	struct action action;
	struct str rest = str_of(actions);
	map->rows.count = 0;
	while (table && next_action(&rest, &action)) {
		const struct toml *value = find_action(table, action.name);
		if (value && value->kind != TOML_array)
			bind(map, &action, value, out);
		toml_for_each(it, toml_is(value, TOML_array) ? value : NULL)
			bind(map, &action, it, out);
	}
	rest = str_of(actions);
	while (table && next_action(&rest, &action)) {
		if (find_action(table, action.name))
			release(map, &action);
	}
}

void tui_keymap_finish(struct tui_keymap *map)
{
	vec_finish(&map->rows);
}

bool tui_keymap_apply(const struct tui_keymap *map, unsigned in, struct term_key *key)
{
	struct keymap_chord chord = {.kind = key->kind, .name = key->name, .mods = key->mods};
	if (!map->rows.count || (key->kind != TERM_CHAR && key->kind != TERM_NAMED) || key->text.len > 4)
		return true;
	memcpy(chord.text, key->text.ptr ? key->text.ptr : "", key->text.len);
	if (key->kind == TERM_CHAR && key->mods == TERM_CTRL && chord.text[0] == 'c')
		return true;
	vec_for_each(row, &map->rows) {
		if (!(row->context & in) || !is_same(&row->from, &chord))
			continue;
		key->kind = row->to.kind;
		key->name = row->to.name;
		key->mods = row->to.mods;
		key->text = str_of(row->to.text);
		return !row->is_off;
	}
	return true;
}

bool tui_keymap_at(size_t index, const struct toml *table, struct buf *name, struct buf *keys)
{
	struct action action;
	struct str rest = str_of(actions);
	do {
		if (!next_action(&rest, &action))
			return false;
	} while (index--);
	const struct toml *value = find_action(table, action.name);
	buf_append_str(name, action.name);
	if (!value)
		buf_append_str(keys, action.keys);
	else if (toml_is(value, TOML_string))
		buf_append_str(keys, value->text);
	toml_for_each(it, toml_is(value, TOML_array) ? value : NULL) {
		if (toml_is(it, TOML_string))
			buf_printf(keys, "%s%.*s", keys->len ? " " : "", STR_ARG(it->text));
	}
	return true;
}
