/* tui_keymap.h — the keys that the user has bound: [tui.keymap] of config.toml.
 *
 * A bound key is replaced by the one that the program handles for its action, so nothing else knows of the map. Esc and
 * Ctrl-C keep their meaning. Owns: its rows. Loop thread only. */
#ifndef UI_TUI_KEYMAP_H
#define UI_TUI_KEYMAP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"
#include "term/term_keys.h"

struct toml;

/* The places where keys are read. */
enum {
	KEYMAP_GLOBAL = 1,
	KEYMAP_CHAT = 2,
	KEYMAP_COMPOSER = 4,
	KEYMAP_EDITOR = 8,
	KEYMAP_PAGER = 16,
	KEYMAP_LIST = 32,
	KEYMAP_APPROVAL = 64
};

struct keymap_chord {
	enum term_key_kind kind;
	enum term_key_name name;
	unsigned mods;
	char text[5];
};

struct keymap_row {
	unsigned context;
	bool is_off; /* the key has no effect */
	struct keymap_chord from, to;
};

struct tui_keymap {
	VEC(struct keymap_row) rows; /* bound keys first */
};

/* Reads the table, which may be NULL; problems are appended to out, one a line. */
void tui_keymap_read(struct tui_keymap *map, const struct toml *table, struct buf *out);
void tui_keymap_finish(struct tui_keymap *map);
/* Replaces *key if it is bound in one of the contexts. False: it has no effect. */
bool tui_keymap_apply(const struct tui_keymap *map, unsigned contexts, struct term_key *key);

/* Returns the name "context.action" of a row of the table and its keys, as the user has bound them in `table`, appended
 * to keys. False: past the end. */
bool tui_keymap_at(size_t index, const struct toml *table, struct buf *name, struct buf *keys);
/* Appends a key as config.toml has it, as in "ctrl-t". False: it cannot be bound. */
bool tui_keymap_describe(const struct term_key *key, struct buf *out);

#endif
