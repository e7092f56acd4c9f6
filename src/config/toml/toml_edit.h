/* toml_edit.h — changes to a TOML text that leave every byte alone which they do not mean: comments, order, blanks,
 * quotes and line ends of the rest stay as somebody wrote them.
 *
 *	struct toml_edit edit;
 *	toml_edit_init(&edit, text, "config.toml", &err);
 *	toml_edit_set(&edit, (struct str[]){STR("tui"), STR("theme")}, 2, value, &err);
 *	… edit.text
 *	toml_edit_finish(&edit);
 *
 * A path is a list of keys; it may lead through tables of every spelling ([header], dotted, inline), not through
 * arrays. Tables that are not there are made. After each step the text is parsed again: what would not parse is
 * refused, and the text stays as it was before that step.
 * Owns its text and tree. Any thread. Errors: ERR_config, ERR_limit. */
#ifndef CONFIG_TOML_EDIT_H
#define CONFIG_TOML_EDIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct error;
struct toml;

struct toml_edit {
	/* read-only */
	struct buf text;
	const struct toml *root; /* of text */
	/* private */
	struct arena arena;   /* of root */
	struct arena scratch; /* keys that outlive a step */
	const char *source;
	size_t parsed; /* bytes so far */
};

/* The text is copied; source is borrowed. An error if it is no TOML; finish it all the same. */
int toml_edit_init(struct toml_edit *edit, struct str text, const char *source, struct error *err);
void toml_edit_finish(struct toml_edit *edit);

/* The value at path becomes this one. Where both are tables their members are compared one by one, so that comments
 * between them stay. */
int toml_edit_set(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value,
                  struct error *err);
/* The same, but members of tables that value does not name stay. */
int toml_edit_merge(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value,
                    struct error *err);
/* Fine if there is none. */
int toml_edit_remove(struct toml_edit *edit, const struct str *path, size_t count, struct error *err);

#endif
