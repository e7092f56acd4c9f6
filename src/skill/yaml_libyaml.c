/* Most sessions have no skills, and a start that needs no YAML shall not pay for it: the library is opened as libcurl
 * and wslay are (net/http_curl.c). */
#include "skill/yaml_libyaml.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/error.h"
#include "base/mem.h"

static struct yaml_libyaml libyaml;
static struct error failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void libyaml_bind(void *library)
{
	static const char *const names[] = {
#define YAML(name) "yaml_" #name,
#include "skill/yaml_libyaml.def"
#undef YAML
	};
	void **slots[] = {
#define YAML(name) (void **)(void *)&libyaml.name,
#include "skill/yaml_libyaml.def"
#undef YAML
	};
	for (size_t i = 0; i < countof(names); i++) {
		*slots[i] = dlsym(library, names[i]);
		if (!*slots[i])
			error_set(&failure, ERR_unsupported, "the installed libyaml lacks %s: upgrade libyaml-0-2",
			          names[i]);
	}
}

static void libyaml_open(void)
{
	void *library = dlopen("libyaml-0.so.2", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		libyaml_bind(library);
	else
		error_set(&failure, ERR_unsupported,
		          "libyaml, which reads front matter, cannot be loaded: install libyaml-0-2 (%s)", dlerror());
}

const struct yaml_libyaml *yaml_libyaml_load(struct error *err)
{
	pthread_once(&once, libyaml_open);
	if (failure.code == ERR_none)
		return &libyaml;
	if (err)
		*err = failure;
	return NULL;
}
