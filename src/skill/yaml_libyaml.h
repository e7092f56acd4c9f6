/* yaml_libyaml.h — libyaml, which reads front matter, loaded when the first file has some.
 *
 * Owns: the library, until the process ends. Thread: any; the first call does the work, others wait for it. */
#ifndef SKILL_YAML_LIBYAML_H
#define SKILL_YAML_LIBYAML_H

#include <yaml.h>

struct error;

/* libyaml->parser_parse is yaml_parser_parse, and so on. */
struct yaml_libyaml {
#define YAML(name) __typeof__(&yaml_##name) name;
#include "skill/yaml_libyaml.def"
#undef YAML
};

/* NULL and err (ERR_unsupported) if it is not installed; the answer of the first call is final. */
const struct yaml_libyaml *yaml_libyaml_load(struct error *err);

#endif
