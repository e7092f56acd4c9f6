/* A stand-in is an ELF object without code: its symbols have absolute addresses, those of two functions below. The
 * linker binds libcurl's references to it (all at once, so that a missing one is noticed) as if it were the library,
 * whose name and versions it has. The names come from libcurl's own file, so they fit each distribution.
 *
 * A symbol that is a variable has a function's address, too; only the functions that are not called would read it. */
#include "base/stand_in.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf_needs.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/nsswitch.h"

static const char *nsswitch_file; /* NULL: not allowed */

void stand_in_allow(const char *nsswitch)
{
	nsswitch_file = nsswitch;
}

#ifdef __GLIBC__

static const struct row {
	const char *stem, *symbols, *start;
} rows[] = {
#define STAND_IN(stem, symbols, start) {stem, symbols, start},
#include "base/stand_in.def"
#undef STAND_IN
};

static void on_call(void)
{
	static const char text[] = "codex: libcurl called a library that was left out: set CODEX_LIBCURL=whole, and "
				   "report this\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	abort(); /* libcurl cannot be answered */
}

static int on_start(void)
{
	return 0;
}

/* ---- the start of OpenSSL ---- */

static const char tls_start[] = "OPENSSL_init_ssl";

static struct {
	int (*start)(uint64_t options, const void *settings);
	uint64_t options; /* of libcurl's call */
} tls;

/* Only libcurl calls this one: libssl was loaded before, so that its own calls lead to the real one. */
static int on_tls_start(uint64_t options, const void *settings)
{
	(void)settings;
	tls.options |= options;
	return 1;
}

/* ---- the object ---- */

enum { FILTER_WORDS = 16, FILTER_SHIFT = 14, SEGMENTS = 3, ENTRIES = 9 };

struct object {
	struct buf symbols, hashes, definitions, versions, names;
	ElfW(Addr) filter[FILTER_WORDS]; /* by which the linker skips most symbols that are not here */
};

struct definition {
	ElfW(Verdef) head;
	ElfW(Verdaux) name;
};

static void object_init(struct object *object)
{
	struct buf *parts = &object->symbols;
	memset(object, 0, sizeof(*object));
	for (size_t i = 0; i < offsetof(struct object, filter) / sizeof(*parts); i++)
		buf_init(&parts[i], LIMIT_STAND_IN);
	buf_append(&object->symbols, &(ElfW(Sym)){0}, sizeof(ElfW(Sym)));
	buf_append(&object->versions, &(uint16_t){0}, sizeof(uint16_t));
	buf_append_char(&object->names, '\0');
}

static void object_finish(struct object *object)
{
	struct buf *parts = &object->symbols;
	for (size_t i = 0; i < offsetof(struct object, filter) / sizeof(*parts); i++)
		buf_finish(&parts[i]);
}

static uint32_t add_name(struct object *object, struct str name)
{
	size_t at = object->names.len;
	buf_append(&object->names, name.ptr, name.len + 1);
	return (uint32_t)at;
}

static void add_hash(struct object *object, struct str name)
{
	const size_t bits = 8 * sizeof(ElfW(Addr));
	uint32_t hash = 5381;
	for (size_t i = 0; i < name.len; i++)
		hash = hash * 33 + (unsigned char)name.ptr[i];
	object->filter[hash / bits % FILTER_WORDS] |=
		(ElfW(Addr))1 << hash % bits | (ElfW(Addr))1 << (hash >> FILTER_SHIFT) % bits;
	hash &= ~1U; /* the lowest bit marks the last one */
	buf_append(&object->hashes, &hash, sizeof(hash));
}

static bool has_version(const struct object *object, uint16_t index)
{
	struct definition definition;
	for (size_t at = 0; at < object->definitions.len; at += sizeof(definition)) {
		memcpy(&definition, object->definitions.data + at, sizeof(definition));
		if (definition.head.vd_ndx == index)
			return true;
	}
	return false;
}

static void add_version(struct object *object, uint16_t index, const struct elf_version *version)
{
	struct definition definition = {
		.head = {.vd_version = VER_DEF_CURRENT,
	                 .vd_ndx = index,
	                 .vd_cnt = 1,
	                 .vd_hash = version->hash,
	                 .vd_aux = offsetof(struct definition, name),
	                 .vd_next = sizeof(definition)},
	};
	if (has_version(object, index))
		return;
	definition.name.vda_name = add_name(object, version->name);
	buf_append(&object->definitions, &definition, sizeof(definition));
}

static void add_symbol(struct object *object, struct str name, uint16_t version, void *function)
{
	ElfW(Sym) symbol = {
		.st_name = add_name(object, name),
		.st_info = STB_GLOBAL << 4,
		.st_shndx = SHN_ABS,
		.st_value = (ElfW(Addr))function,
	};
	add_hash(object, name);
	buf_append(&object->symbols, &symbol, sizeof(symbol));
	buf_append(&object->versions, &version, sizeof(version));
}

/* Adds symbol i of libcurl, if it is the library's, or the function that starts OpenSSL. Any object that libcurl lists
 * before OpenSSL can have the latter; in one that it lists after it, the symbol has no effect. */
static void consider_symbol(struct object *object, const struct elf_needs *needs, size_t i, const struct row *row,
                            struct str library)
{
	uint16_t index;
	struct elf_version version = {.file = library};
	struct str name = elf_needs_symbol(needs, i, &index);
	size_t len = strlen(row->symbols);
	bool is_tls = str_is(name, tls_start), is_versioned = index >= 2;
	if (is_versioned && !elf_needs_version(needs, index, &version))
		return;
	bool is_own = is_versioned ? str_eq(version.file, library)
	                           : name.len >= len && strncasecmp(name.ptr, row->symbols, len) == 0;
	if (!is_own && !is_tls)
		return;
	if (is_versioned)
		add_version(object, index, &version);
	add_symbol(object, name, index,
	           is_tls                     ? (void *)on_tls_start
	           : str_is(name, row->start) ? (void *)on_start
	                                      : (void *)on_call);
}

/* Marks the ends of the two lists. */
static void close_lists(struct object *object)
{
	struct buf *hashes = &object->hashes, *definitions = &object->definitions;
	if (hashes->len)
		hashes->data[hashes->len - sizeof(uint32_t)] |= 1;
	if (definitions->len)
		memset(definitions->data + definitions->len - sizeof(struct definition) +
		               offsetof(struct definition, head.vd_next),
		       0, sizeof(((ElfW(Verdef) *)NULL)->vd_next));
}

static void append_hash_table(const struct object *object, struct buf *out)
{
	const uint32_t head[] = {1, 1, FILTER_WORDS, FILTER_SHIFT};
	uint32_t first = object->hashes.len > 0;
	buf_append(out, head, sizeof(head));
	buf_append(out, object->filter, sizeof(object->filter));
	buf_append(out, &first, sizeof(first));
	buf_append_str(out, buf_str(&object->hashes));
}

/* The parts follow in the order of their alignment. All fit: their lengths were limited. */
static void append_parts(const struct object *object, struct buf *out, ElfW(Dyn) * entries, uint32_t soname)
{
	const struct buf *definitions = &object->definitions;
	struct str names = buf_str(&object->names);
	ElfW(Dyn) values[ENTRIES] = {
		{DT_SONAME, {soname}},
		{DT_STRSZ, {names.len}},
		{DT_SYMENT, {sizeof(ElfW(Sym))}},
	};
	size_t count = 3;
	values[count++] = (ElfW(Dyn)){DT_SYMTAB, {out->len}};
	buf_append_str(out, buf_str(&object->symbols));
	values[count++] = (ElfW(Dyn)){DT_GNU_HASH, {out->len}};
	append_hash_table(object, out);
	if (definitions->len) {
		values[count++] = (ElfW(Dyn)){DT_VERDEF, {out->len}};
		buf_append_str(out, buf_str(definitions));
		values[count++] = (ElfW(Dyn)){DT_VERSYM, {out->len}};
		buf_append_str(out, buf_str(&object->versions));
	}
	values[count++] = (ElfW(Dyn)){DT_STRTAB, {out->len}};
	buf_append_str(out, names);
	memcpy(entries, values, sizeof(values));
}

struct image_head {
	ElfW(Ehdr) elf;
	ElfW(Phdr) segments[SEGMENTS];
	ElfW(Dyn) entries[ENTRIES];
};

/* The segment is writable because older linkers write addresses into the dynamic section. Without the third one the
 * linker would make the stack executable. */
static void write_image(struct object *object, const struct elf_needs *needs, uint32_t soname, struct buf *out)
{
	struct image_head head = {.elf = needs->header};
	ElfW(Xword) page = (ElfW(Xword))sysconf(_SC_PAGESIZE);
	buf_append(out, &head, sizeof(head));
	append_parts(object, out, head.entries, soname);
	head.elf.e_phoff = offsetof(struct image_head, segments);
	head.elf.e_phnum = SEGMENTS;
	head.elf.e_entry = head.elf.e_shoff = 0;
	head.elf.e_shnum = head.elf.e_shstrndx = 0;
	head.segments[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_align = page};
	head.segments[0].p_filesz = head.segments[0].p_memsz = out->len;
	head.segments[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_flags = PF_R | PF_W, .p_align = sizeof(void *)};
	head.segments[1].p_offset = head.segments[1].p_vaddr = offsetof(struct image_head, entries);
	head.segments[1].p_filesz = head.segments[1].p_memsz = sizeof(head.entries);
	head.segments[2] = (ElfW(Phdr)){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W};
	memcpy(out->data, &head, sizeof(head));
}

static bool make_image(const struct elf_needs *needs, const struct row *row, struct str library, struct buf *out)
{
	struct object object;
	object_init(&object);
	for (size_t i = 1; i < needs->symbol_count && !object.symbols.over; i++)
		consider_symbol(&object, needs, i, row, library);
	uint32_t soname = add_name(&object, library);
	close_lists(&object);
	bool fits = !object.symbols.over && !object.names.over && !object.definitions.over;
	if (fits)
		write_image(&object, needs, soname, out);
	object_finish(&object);
	return fits && !out->over;
}

/* ---- loading ---- */

struct loaded {
	void *handles[countof(rows)];
	int files[countof(rows)]; /* open until all are loaded: the linker knows an object by its path, too */
	size_t count;
};

/* The kernel logs a memory file that may be executed, and may be set to refuse it. Before Linux 6.3 all may. */
static int open_memory(void)
{
	static const char name[] = "codex-stand-in";
	const unsigned not_executable = 8; /* MFD_NOEXEC_SEAL, which older headers lack */
	int fd = memfd_create(name, MFD_CLOEXEC | not_executable);
	return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC) : fd;
}

static bool load_image(struct loaded *loaded, struct str image)
{
	char path[32];
	struct error ignored;
	int fd = open_memory();
	if (fd < 0)
		return false;
	loaded->files[loaded->count] = fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bool is_written = fd_write_all(fd, image.ptr, image.len, &ignored) == 0;
	loaded->handles[loaded->count++] = is_written ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	return loaded->handles[loaded->count - 1];
}

static const struct row *find_row(struct str library)
{
	for (size_t i = 0; library.ptr && i < countof(rows); i++)
		if (str_has_prefix(library, rows[i].stem))
			return &rows[i];
	return NULL;
}

/* Of two objects with a name, the linker takes the older one: a library that is loaded already stays in use. */
static bool load_stand_ins(struct loaded *loaded, const struct elf_needs *needs)
{
	bool is_complete = true;
	for (size_t i = 0; i < needs->dynamic_count && loaded->count < countof(rows) && is_complete; i++) {
		struct str library = elf_needs_library(needs, i);
		const struct row *row = find_row(library);
		if (!row)
			continue;
		struct buf image;
		buf_init(&image, LIMIT_STAND_IN);
		is_complete = make_image(needs, row, library, &image) && load_image(loaded, buf_str(&image));
		buf_finish(&image);
	}
	return is_complete && loaded->count > 0;
}

/* Loads OpenSSL if libcurl uses it; false if that fails. Before libcurl, because the linker then looks up its 5,000
 * symbols in itself, not in a dozen libraries that were opened with it; this saves 0.2 ms. */
static bool load_tls(const struct elf_needs *needs, void **ret_handle)
{
	*ret_handle = NULL;
	for (size_t i = 1; i < needs->symbol_count; i++) {
		uint16_t index;
		struct elf_version version;
		if (!str_is(elf_needs_symbol(needs, i, &index), tls_start))
			continue;
		if (elf_needs_version(needs, index, &version))
			*ret_handle = dlopen(version.file.ptr, RTLD_LAZY | RTLD_LOCAL);
		void *start = *ret_handle ? dlsym(*ret_handle, tls_start) : NULL;
		memcpy(&tls.start, &start, sizeof(start));
		return start;
	}
	return true;
}

/* The linker may find another libcurl than the one beside the C library. If that one takes more symbols from a library
 * that has a stand-in, binding all of them fails. */
static void *load_without(const struct elf_needs *needs, const char *file)
{
	struct loaded loaded = {.count = 0};
	void *openssl, *handle = NULL;
	if (load_tls(needs, &openssl) && load_stand_ins(&loaded, needs))
		handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		tls.start = NULL; /* the real one is called */
	if (!handle && openssl)
		dlclose(openssl);
	for (size_t i = 0; i < loaded.count; i++) {
		close(loaded.files[i]);
		if (!handle && loaded.handles[i])
			dlclose(loaded.handles[i]);
	}
	return handle;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *ret_folder)
{
	struct str name = str_of(info->dlpi_name);
	(void)size;
	if (!str_has_suffix(name, "/libc.so.6"))
		return 0;
	*(struct str *)ret_folder = path_dir(info->dlpi_name);
	return 1;
}

void *stand_in_open(const char *file)
{
	struct str folder = STR_NONE;
	struct elf_needs needs;
	if (!nsswitch_file || !nsswitch_is_plain(nsswitch_file) || !dl_iterate_phdr(find_libc, &folder))
		return NULL;
	auto_free char *path = xasprintf("%.*s/%s", STR_ARG(folder), file);
	void *handle = elf_needs_read(&needs, path) ? load_without(&needs, file) : NULL;
	elf_needs_finish(&needs);
	return handle;
}

bool stand_in_start_tls(void)
{
	return !tls.start || tls.start(tls.options, NULL) == 1;
}

#else

bool stand_in_start_tls(void)
{
	return true;
}

void *stand_in_open(const char *file)
{
	(void)file;
	return NULL;
}

#endif
