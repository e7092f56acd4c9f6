/* elf_needs.h — what a shared library takes from other libraries: their names, and the symbols with their versions.
 *
 * Owns: the part of the file that has these tables. All offsets in it are checked. Thread: any, one at a time. */
#ifndef BASE_ELF_NEEDS_H
#define BASE_ELF_NEEDS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

struct elf_needs {
	ElfW(Ehdr) header;
	ElfW(Dyn) dynamic[LIMIT_ELF_DYNAMIC];
	size_t dynamic_count;
	size_t symbol_count; /* symbols that other libraries define, and one that is empty before them */
	/* private */
	uint64_t symbols, names, names_size, versions, needed, needed_count; /* where the tables are */
	struct buf bytes; /* the beginning of the file, up to the end of the last table */
};

struct elf_version {
	struct str file, name; /* file: that of the library */
	uint32_t hash;
};

/* Reads the file. False if it is not a shared library for this machine, or laid out in another way than the linkers of
 * GNU and LLVM do. Call elf_needs_finish in both cases. */
bool elf_needs_read(struct elf_needs *needs, const char *path);
void elf_needs_finish(struct elf_needs *needs);

/* Returns the name of the library in entry i of `dynamic`, or STR_NONE if it is an entry of another kind. Borrowed, and
 * a NUL follows, as with all names here. */
struct str elf_needs_library(const struct elf_needs *needs, size_t i);

/* Returns the name of symbol i, and the index of its version; below 2, it has none. STR_NONE if the file is damaged. */
struct str elf_needs_symbol(const struct elf_needs *needs, size_t i, uint16_t *ret_version);

/* Finds the version with this index. */
bool elf_needs_version(const struct elf_needs *needs, uint16_t index, struct elf_version *ret);

#endif
