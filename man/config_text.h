/* config_text.h — the keys of config.toml in words, for docs/config.md and codex-config(5). Code is in backquotes. */
#ifndef MAN_CONFIG_TEXT_H
#define MAN_CONFIG_TEXT_H

#include "base/buf.h"
#include "config/config_record.h"

/* Paragraphs: the location of the file, the precedence of sources, the limits of a project's file. */
extern const char config_text_intro[];

/* Paragraphs: the files of an administrator. */
extern const char config_text_requirements[];

/* Returns the documentation of a key of the record. The program itself does not contain it. */
const char *config_text_doc(const struct config_record *record, const struct config_row *row);
/* Appends the type of a key's value. path: the dotted name of its table with a dot at the end, or "". */
void config_text_type(struct buf *out, const char *path, const struct config_row *row);
/* Appends the default, or a dash. A default below the minimum stands for "unset". */
void config_text_default(struct buf *out, const struct config_row *row);
/* Returns the type of a key without effect. */
const char *config_text_inert(const struct config_row *row);

#endif
