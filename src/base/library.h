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
	/* private */
	pthread_mutex_t mutex;
	bool is_tried;
	struct error failure;
};

/* Records in the section .note.dlopen that the program opens a library when it needs it: packaging tools read this note
 * (the ELF notes of uapi-group.org), because the dynamic section does not name the library. Priority is "required",
 * "recommended" or "suggested". */
#define LIBRARY_NOTE(soname, priority, feature, description)                                              \
	__asm__(".pushsection .note.dlopen, \"a\", %note\n"                                               \
	        ".balign 4\n"                                                                             \
	        ".long 4, 92f - 91f, 0x407c0c0a\n"                                                        \
	        ".asciz \"FDO\"\n"                                                                        \
	        "91: .asciz \"[{\\\"feature\\\":\\\"" feature "\\\",\\\"description\\\":\\\"" description \
	        "\\\",\\\"priority\\\":\\\"" priority "\\\",\\\"soname\\\":[\\\"" soname "\\\"]}]\"\n"    \
	        "92: .balign 4\n"                                                                         \
	        ".popsection\n")

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
