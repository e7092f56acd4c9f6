/* yaml.h — reads YAML documents into the tree type of base/json.h, and the front matter of Markdown files.
 *
 * All scalars are strings, except that an empty unquoted one is null. The last of duplicate keys counts. Aliases are
 * refused: front matter does not need them, and a few can expand to more than memory holds. Owns: nothing, the tree
 * lives in the caller's arena. Any thread; blocks when libyaml is first loaded. Errors: ERR_invalid "… at line L column
 * C", relative to the text; ERR_limit for more than LIMIT_FRONT_MATTER bytes; ERR_unsupported without libyaml. */
#ifndef SKILL_YAML_H
#define SKILL_YAML_H

#include "base/error.h"
#include "base/json.h"

/* Returns NULL and err unless the text is exactly one document. */
must_check const struct json *yaml_read(struct arena *arena, struct str text, struct error *err);

/* Splits a Markdown file at its front matter, the YAML between two lines of "---" at its top; the slices borrow the
 * text. False if the text has no front matter, or an open or empty one. */
bool yaml_split_front_matter(struct str text, struct str *ret_yaml, struct str *ret_body);
/* Returns a string member on one line, as lists show it: each run of white space becomes one space. STR_NONE if it is
 * not a string or empty. */
struct str yaml_get_line(const struct json *document, const char *key, struct arena *arena);

#endif
