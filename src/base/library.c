/* A linked library is loaded at every start, even for --version and for each sandbox helper (libcurl and its
 * dependencies: 4 ms, 8 MB). dlopen at first use avoids that, and lets the program run where the library is missing. */
#include "base/library.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINKED(name, ...)
#define LOADED(name, soname, package, ...)           \
	const char library_soname_##name[] = soname; \
	const char library_package_##name[] = package;
#include "base/dependency.def"
#undef LINKED
#undef LOADED

/* The section .note.dlopen records that the program opens a library when it needs it: packaging tools read these notes
 * (the ELF notes of uapi-group.org), because the dynamic section does not name the library. */
#define LINKED(name, ...)
#define LOADED(name, soname, package, licence, homepage, function, purpose, priority)                  \
	__asm__(".pushsection .note.dlopen, \"a\", %note\n"                                            \
	        ".balign 4\n"                                                                          \
	        ".long 4, 92f - 91f, 0x407c0c0a\n"                                                     \
	        ".asciz \"FDO\"\n"                                                                     \
	        "91: .asciz \"[{\\\"feature\\\":\\\"" #name "\\\",\\\"description\\\":\\\"" purpose    \
	        "\\\",\\\"priority\\\":\\\"" priority "\\\",\\\"soname\\\":[\\\"" soname "\\\"]}]\"\n" \
	        "92: .balign 4\n"                                                                      \
	        ".popsection\n");
#include "base/dependency.def"
#undef LINKED
#undef LOADED

static int bind(struct library *library, void *handle)
{
	for (size_t i = 0; i < library->count; i++) {
		void *function = dlsym(handle, library->names[i]);
		if (!function)
			return error_set(&library->failure, ERR_unsupported,
			                 "%s, is too old here (it lacks %s): upgrade %s", library->purpose,
			                 library->names[i], library->package);
		memcpy((char *)library->functions + i * sizeof(function), &function, sizeof(function));
	}
	return 0;
}

/* ---- pages that only the linker has read ---- */

struct dropped {
	size_t seen, known; /* objects so far, and before the library was opened */
};

static int count_object(struct dl_phdr_info *info, size_t size, void *self)
{
	(void)info;
	(void)size;
	((struct dropped *)self)->known++;
	return 0;
}

static int drop_pages(struct dl_phdr_info *info, size_t size, void *self)
{
	struct dropped *dropped = self;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	(void)size;
	if (dropped->seen++ < dropped->known)
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || segment->p_flags != PF_R)
			continue;
		uintptr_t begin = (info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
		uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & ~(page - 1);
		madvise((void *)begin, end - begin, MADV_DONTNEED);
	}
	return 0;
}

/* Linking reads the relocations and symbols of all objects, 2 MB below libcurl, most of which are not needed again.
 * Segments that are only readable equal the file, so the kernel can drop their pages and read them again. */
static void *open_library(const struct library *library)
{
	struct dropped dropped = {0};
	dl_iterate_phdr(count_object, &dropped);
	void *handle = library->open ? library->open(library->file) : NULL;
	if (!handle)
		handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
	dl_iterate_phdr(drop_pages, &dropped);
	return handle;
}

static void load(struct library *library)
{
	void *handle = open_library(library);
	if (!handle) {
		error_set(&library->failure, ERR_unsupported, "%s, cannot be loaded: install %s (%s)", library->purpose,
		          library->package, dlerror());
		return;
	}
	if (bind(library, handle) == 0 && library->on_loaded)
		library->on_loaded(&library->failure);
}

int library_load(struct library *library, struct error *err)
{
	pthread_mutex_lock(&library->mutex);
	if (!library->is_tried)
		load(library);
	library->is_tried = true;
	pthread_mutex_unlock(&library->mutex);
	if (library->failure.code == ERR_none)
		return 0;
	if (err)
		*err = library->failure;
	return -(int)library->failure.code;
}
