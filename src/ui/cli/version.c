/* The plain --version loads nothing; this report opens each library as the engine would, so that a missing one is found
 * before a session needs it. */
#include "ui/cli/version.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

typedef const char *(*version_fn)(void);

struct version_library {
	const char *name, *soname, *package, *purpose;
	version_fn linked;  /* for a library that is linked */
	const char *loaded; /* the name of the function of one that is loaded; NULL: linked */
};

static const struct version_library libraries[] = {
#define LINKED(name, soname, package, licence, homepage, function, purpose) \
	{#name, soname, package, purpose, function, NULL},
#define LOADED(name, soname, package, licence, homepage, function, purpose, priority) \
	{#name, soname, package, purpose, NULL, function},
#include "base/dependency.def"
#undef LINKED
#undef LOADED
};

bool version_wants_verbose(int argc, char **argv)
{
	size_t verbose = 0, version = 0;
	for (int i = 1; i < argc; i++) {
		verbose += strcmp(argv[i], "--verbose") == 0;
		version += strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0;
	}
	return argc == 3 && verbose == 1 && version == 1;
}

/* The library stays loaded: the process ends after the report. */
static void append_loaded(struct buf *out, const struct version_library *library)
{
	void *handle = dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL);
	version_fn function = NULL;
	if (!handle) {
		buf_printf(out, "missing (%s); needed for %s: install %s", dlerror(), library->purpose,
		           library->package);
		return;
	}
	void *symbol = library->loaded[0] ? dlsym(handle, library->loaded) : NULL;
	memcpy(&function, &symbol, sizeof(function));
	buf_printf(out, "%s, loaded for %s", function ? function() : library->soname, library->purpose);
}

static void append_library(struct buf *out, const struct version_library *library)
{
	buf_printf(out, "%-12s ", library->name);
	if (library->loaded)
		append_loaded(out, library);
	else
		buf_printf(out, "%s, linked for the %s", library->linked ? library->linked() : library->soname,
		           library->purpose);
	buf_append_char(out, '\n');
}

static void append_build(struct buf *out)
{
	struct utsname system;
	buf_printf(out, "%-12s %s %s\n", "compiler",
#ifdef __clang__
	           "clang", __clang_version__
#else
	           "gcc", __VERSION__
#endif
	);
	buf_printf(out, "%-12s", "build");
#ifdef CODEX_WITHOUT_MOCK
	buf_append_c(out, " without mock-model,");
#else
	buf_append_c(out, " with mock-model,");
#endif
#ifdef __OPTIMIZE__
	buf_append_c(out, " optimised");
#else
	buf_append_c(out, " not optimised");
#endif
#ifdef __SANITIZE_ADDRESS__
	buf_append_c(out, ", with AddressSanitizer");
#endif
	if (uname(&system) == 0)
		buf_printf(out, "\n%-12s %s %s %s", "system", system.sysname, system.release, system.machine);
	buf_append_char(out, '\n');
}

int version_print_verbose(void)
{
	auto_buf struct buf text;
	buf_init(&text, 64 * KIB);
	buf_append_c(&text, "codex-cli " CODEX_VERSION "\n");
	append_build(&text);
	for (size_t i = 0; i < countof(libraries); i++)
		append_library(&text, &libraries[i]);
	return fd_write_all(STDOUT_FILENO, text.data, text.len, NULL) == 0 ? 0 : 1;
}
