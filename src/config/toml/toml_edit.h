/* toml_edit.h — edits of a TOML text that preserve every other byte: comments, order, blanks, quotes and line ends.
 *
 * struct toml_edit edit; toml_edit_init(&edit, text, "config.toml", &err); toml_edit_set(&edit, (struct
 * str[]){STR("tui"), STR("theme")}, 2, value, &err); … edit.text toml_edit_finish(&edit);
 *
 * A path is a list of keys; it may lead through tables of every spelling ([header], dotted, inline), not through
 * arrays. Missing tables are created. After each step the text is parsed again; if that fails, the step is rejected and
 * the text stays as it was before. Owns its text and tree. Any thread. Errors: ERR_config, ERR_limit. */
#ifndef CONFIG_TOML_EDIT_H
#define CONFIG_TOML_EDIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct toml;

struct toml_edit {
	/* read-only */
	struct buf text;
	const struct toml *root; /* the parsed text */
	/* private */
	struct arena arena;   /* holds root */
	struct arena scratch; /* holds keys that outlive a step */
	const char *source;
	size_t parsed; /* bytes parsed so far, for LIMIT_TOML_EDIT */
};

/* Copies the text and borrows source. Fails if the text is not TOML; toml_edit_finish is needed in any case. */
must_check int toml_edit_init(struct toml_edit *edit, struct str text, const char *source, struct error *err);
void toml_edit_finish(struct toml_edit *edit);

/* Sets the value at path. If old and new value are tables, members are compared one by one, so that comments between
 * them are preserved. */
must_check int toml_edit_set(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value,
                             struct error *err);
/* As toml_edit_set, but keeps members that value does not contain. */
must_check int toml_edit_merge(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value,
                               struct error *err);
/* Removes the value at path; no-op if it does not exist. */
must_check int toml_edit_remove(struct toml_edit *edit, const struct str *path, size_t count, struct error *err);

#endif
