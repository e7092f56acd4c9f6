/* libyaml is opened with the first front matter: most sessions have none (base/library.c). */
#include "skill/yaml_libyaml.h"

#include "base/library.h"

static struct yaml_libyaml yaml;

static const char *const names[] = {
#define YAML(name) "yaml_" #name,
#include "skill/yaml_libyaml.def"
#undef YAML
};

LIBRARY(libyaml, yaml, names, .file = "libyaml-0.so.2", .package = "libyaml-0-2",
        .purpose = "libyaml, which reads front matter");

const struct yaml_libyaml *yaml_libyaml_load(struct error *err)
{
	return library_load(&libyaml, err) == 0 ? &yaml : NULL;
}
