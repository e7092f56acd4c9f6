/* The tables lie in the first segment, where an address is an offset in the file. The symbols that a library takes from
 * others precede those that it defines, and only the latter are in its hash table, which says where they begin. */
#include "base/elf_needs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static bool read_at(int fd, uint64_t at, void *ret, size_t size)
{
	return pread(fd, ret, size, (off_t)at) == (ssize_t)size;
}

static bool take(const struct elf_needs *needs, uint64_t at, void *ret, size_t size)
{
	if (at > needs->bytes.len || size > needs->bytes.len - at)
		return false;
	memcpy(ret, needs->bytes.data + at, size);
	return true;
}

static uint64_t table(const struct elf_needs *needs, ElfW(Sxword) tag)
{
	for (size_t i = 0; i < needs->dynamic_count; i++)
		if (needs->dynamic[i].d_tag == tag)
			return needs->dynamic[i].d_un.d_val;
	return 0;
}

static void find_tables(struct elf_needs *needs)
{
	needs->symbols = table(needs, DT_SYMTAB);
	needs->names = table(needs, DT_STRTAB);
	needs->names_size = table(needs, DT_STRSZ);
	needs->versions = table(needs, DT_VERSYM);
	needs->needed = table(needs, DT_VERNEED);
	needs->needed_count = table(needs, DT_VERNEEDNUM);
}

static bool read_header(struct elf_needs *needs, int fd)
{
	const ElfW(Ehdr) *header = &needs->header;
	return read_at(fd, 0, &needs->header, sizeof(needs->header)) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       header->e_type == ET_DYN && header->e_phentsize == sizeof(ElfW(Phdr)) &&
	       header->e_phnum <= LIMIT_ELF_SEGMENTS;
}

/* Reads the dynamic section, and returns the size of the first segment, or 0. */
static size_t read_segments(struct elf_needs *needs, int fd)
{
	ElfW(Phdr) segments[LIMIT_ELF_SEGMENTS];
	size_t count = needs->header.e_phnum, first = 0;
	if (!read_at(fd, needs->header.e_phoff, segments, count * sizeof(*segments)))
		return 0;
	for (size_t i = 0; i < count; i++) {
		const ElfW(Phdr) *segment = &segments[i];
		if (segment->p_type == PT_LOAD && segment->p_offset == 0 && segment->p_vaddr == 0)
			first = segment->p_filesz;
		if (segment->p_type != PT_DYNAMIC || segment->p_filesz > sizeof(needs->dynamic))
			continue;
		if (!read_at(fd, segment->p_offset, needs->dynamic, segment->p_filesz))
			return 0;
		needs->dynamic_count = segment->p_filesz / sizeof(*needs->dynamic);
	}
	return first;
}

/* The table of versions has no size of its own; it is short and near the others. */
static bool read_tables(struct elf_needs *needs, int fd, size_t segment)
{
	uint32_t hashed_from = 0;
	find_tables(needs);
	uint64_t hashes = table(needs, DT_GNU_HASH), end = needs->needed + LIMIT_ELF_VERSIONS;
	if (!hashes || !needs->names || !read_at(fd, hashes + sizeof(uint32_t), &hashed_from, sizeof(hashed_from)))
		return false;
	if (needs->names + needs->names_size > end)
		end = needs->names + needs->names_size;
	size_t size = end < segment ? end : segment;
	needs->symbol_count = hashed_from;
	char *room = size > 0 ? buf_reserve(&needs->bytes, size) : NULL;
	if (!room || !read_at(fd, 0, room, size))
		return false;
	needs->bytes.len = size;
	return needs->symbol_count <= size / sizeof(ElfW(Sym));
}

bool elf_needs_read(struct elf_needs *needs, const char *path)
{
	needs->dynamic_count = needs->symbol_count = 0;
	buf_init(&needs->bytes, LIMIT_ELF_TABLES);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || !read_header(needs, fd))
		return false;
	size_t segment = read_segments(needs, fd);
	return segment && read_tables(needs, fd, segment);
}

void elf_needs_finish(struct elf_needs *needs)
{
	buf_finish(&needs->bytes);
}

static struct str name_at(const struct elf_needs *needs, uint64_t offset)
{
	uint64_t names = needs->names, size = needs->names_size;
	if (names > needs->bytes.len || size > needs->bytes.len - names || offset >= size)
		return STR_NONE;
	const char *name = needs->bytes.data + names + offset;
	const char *end = memchr(name, '\0', size - offset);
	return end ? str_n(name, (size_t)(end - name)) : STR_NONE;
}

struct str elf_needs_library(const struct elf_needs *needs, size_t i)
{
	const ElfW(Dyn) *entry = &needs->dynamic[i];
	return entry->d_tag == DT_NEEDED ? name_at(needs, entry->d_un.d_val) : STR_NONE;
}

struct str elf_needs_symbol(const struct elf_needs *needs, size_t i, uint16_t *ret_version)
{
	ElfW(Sym) symbol;
	*ret_version = 0;
	if (!take(needs, needs->symbols + i * sizeof(symbol), &symbol, sizeof(symbol)))
		return STR_NONE;
	if (needs->versions &&
	    !take(needs, needs->versions + i * sizeof(*ret_version), ret_version, sizeof(*ret_version)))
		return STR_NONE;
	*ret_version &= 0x7fff; /* the highest bit hides a definition */
	return name_at(needs, symbol.st_name);
}

static bool find_in(const struct elf_needs *needs, uint64_t at, uint16_t index, uint16_t count, struct elf_version *ret)
{
	ElfW(Vernaux) version;
	for (; count > 0 && take(needs, at, &version, sizeof(version)); count--, at += version.vna_next) {
		if (version.vna_other != index)
			continue;
		ret->name = name_at(needs, version.vna_name);
		ret->hash = version.vna_hash;
		return ret->name.ptr;
	}
	return false;
}

bool elf_needs_version(const struct elf_needs *needs, uint16_t index, struct elf_version *ret)
{
	ElfW(Verneed) library;
	uint64_t at = needs->needed, count = needs->needed_count;
	for (; count > 0 && take(needs, at, &library, sizeof(library)); count--, at += library.vn_next) {
		ret->file = name_at(needs, library.vn_file);
		if (find_in(needs, at + library.vn_aux, index, library.vn_cnt, ret))
			return ret->file.ptr;
		if (!library.vn_next)
			return false;
	}
	return false;
}
