/* library.h — a shared library that is opened when it is first used.
 *
 * Owns: the library, until the process ends: OpenSSL, below libcurl, does not survive being unloaded. Thread: any; the
 * first call does the work, others wait for it. The result of the first call is final. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library {
	const char *file;         /* what dlopen is given: "libcurl.so.4" */
	const char *purpose;      /* begins the error: "libcurl, which implements HTTP" */
	const char *package;      /* the Debian package that has it */
	const char *const *names; /* names of the functions, all of which are required */
	size_t count;
	void *functions; /* a struct of `count` function pointers in the order of the names */
	/* called once to initialise the library: 0 or an error; NULL: not needed */
	int (*on_loaded)(struct error *err);
	/* opens `file` in a way that may fail: NULL, and it is opened by name; NULL: by name at once */
	void *(*open)(const char *file);
	/* private */
	pthread_mutex_t mutex;
	bool is_tried;
	struct error failure;
};

/* For a row of dependency.def: library_soname_NAME and library_package_NAME. */
#define LINKED(name, ...)
#define LOADED(name, ...) extern const char library_soname_##name[], library_package_##name[];
#include "base/dependency.def"
#undef LINKED
#undef LOADED

/* The first two members of a library that has a row: LIBRARY(…, LIBRARY_ROW(libcurl), .purpose = …). */
#define LIBRARY_ROW(name) .file = library_soname_##name, .package = library_package_##name

/* Defines `static struct library NAME` for a struct FUNCTIONS made from the same table as NAMES. */
#define LIBRARY(name, function_struct, name_list, ...)                                                       \
	_Static_assert(sizeof(function_struct) == sizeof(name_list) / sizeof(*(name_list)) * sizeof(void *), \
	               "one pointer for each name");                                                         \
	static struct library name = {.names = name_list,                                                    \
	                              .count = sizeof(name_list) / sizeof(*(name_list)),                     \
	                              .functions = &(function_struct),                                       \
	                              .mutex = PTHREAD_MUTEX_INITIALIZER,                                    \
	                              __VA_ARGS__}

/* Loads the library and binds its functions: 0, or ERR_unsupported if the library or one of the functions is
 * missing. */
must_check int library_load(struct library *library, struct error *err);

#endif
