/* yaml.h — a YAML document as the tree that the rest of the program knows (base/json.h).
 *
 * Scalars are strings, whatever they look like; an empty one without quotes is null. Of a key that comes twice the last
 * counts. Aliases are refused: front matter needs none, and a few of them can stand for more than memory holds.
 * Owns: nothing, the tree lives in the caller's arena. Any thread; blocks when libyaml is first loaded.
 * Errors: ERR_invalid "… at line L column C", counted in the text; ERR_limit beyond LIMIT_FRONT_MATTER;
 * ERR_unsupported without libyaml. Source: core 7. */
#ifndef SKILL_YAML_H
#define SKILL_YAML_H

#include "base/json.h"

/* NULL and err for anything but one document. */
const struct json *yaml_read(struct arena *arena, struct str text, struct error *err);

/* Splits a Markdown file at its front matter, the YAML between two lines of "---" at its top; the slices borrow the
 * text. False if the text has no front matter, or an open or empty one. */
bool yaml_split_front_matter(struct str text, struct str *ret_yaml, struct str *ret_body);
/* A string member on one line, as lists show it: each run of white space becomes one space. STR_NONE if it is not a
 * string or empty. */
struct str yaml_get_line(const struct json *document, const char *key, struct arena *arena);

#endif
