/* The entry point of the portable program. Its tables hold some 11,000 pointers, which are relocated when it starts.
 * The form in which every dynamic loader reads them takes 24 bytes for each, an eighth of the program; loaders read the
 * packed form (DT_RELR) since glibc 2.36 only. The linker therefore leaves the packed list under tags that loaders
 * ignore, and the program applies it before anything else: the loader has finished by then, and no code of the program
 * has run.
 *
 * The program also leaves out parts of libuv: datagrams and the functions for files, 28 KB of code. No caller starts
 * them, but libuv names them in functions that serve every kind of handle, such as uv_close, and a static library is
 * taken apart by object only. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	LIST = 0x6fffe000, /* DT_ANDROID_RELR: the tags of a list that the program itself applies */
	LIST_SIZE = 0x6fffe001,
};

/* The linker defines both. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));
/* Called by the assembly alone. */
static void entry_relocate(void) __attribute__((used));

static void left_out(void)
{
	abort();
}

/* A definition here gives the linker no reason to add the object of libuv. It is weak: if another version of libuv
 * brings in the object for a name that is missing here, the object's own function replaces it. */
#define LEFT_OUT(name) void name(void) __attribute__((weak, alias("left_out")));

LEFT_OUT(uv__fs_poll_close)
LEFT_OUT(uv__udp_bind)
LEFT_OUT(uv__udp_close)
LEFT_OUT(uv__udp_connect)
LEFT_OUT(uv__udp_disconnect)
LEFT_OUT(uv__udp_finish_close)
LEFT_OUT(uv__udp_init_ex)
LEFT_OUT(uv__udp_recv_start)
LEFT_OUT(uv__udp_recv_stop)
LEFT_OUT(uv__udp_send)
LEFT_OUT(uv__udp_try_send)
LEFT_OUT(uv_udp_getpeername)
LEFT_OUT(uv_udp_open)

/* Keeps what the loader passes to _start, the address of its function for the end of the program, and the alignment of
 * the stack. */
#ifdef __x86_64__
__asm__(".text\n"
        ".globl entry_start\n"
        ".hidden entry_start\n"
        ".type entry_start, @function\n"
        "entry_start:\n"
        "	endbr64\n"
        "	push %rdx\n"
        "	sub $8, %rsp\n"
        "	call entry_relocate\n"
        "	add $8, %rsp\n"
        "	pop %rdx\n"
        "	jmp _start\n"
        ".size entry_start, . - entry_start\n");
#else
__asm__(".text\n"
        ".globl entry_start\n"
        ".hidden entry_start\n"
        ".type entry_start, %function\n"
        "entry_start:\n"
        "	hint #34\n" /* bti c */
        "	str x0, [sp, #-16]!\n"
        "	bl entry_relocate\n"
        "	ldr x0, [sp], #16\n"
        "	b _start\n"
        ".size entry_start, . - entry_start\n");
#endif

/* An even entry is the address of a word. An odd one is a map of the 63 words that follow, from bit 1 on. */
static void apply(uint64_t base, const uint64_t *list, size_t count)
{
	enum { MAPPED = 8 * sizeof(*list) - 1 };
	uint64_t *next = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!(list[i] & 1)) {
			next = (uint64_t *)(base + list[i]);
			*next++ += base;
			continue;
		}
		for (size_t word = 0; word < MAPPED; word++) {
			if (list[i] >> (word + 1) & 1)
				next[word] += base;
		}
		next += MAPPED;
	}
}

/* Returns the end of the last page that holds a part of the tables, which end at `end`, and nothing that is written
 * later. The loader makes only
 * pages read-only that lie whole in the tables: with larger pages than the linker expects (16 and 64 KiB on aarch64)
 * their last part, which has the addresses of functions, would stay writable. */
static uint64_t end_of_pages(const Elf64_Phdr *segments, uint64_t end, uint64_t page)
{
	uint64_t last = (end + page - 1) & ~(page - 1);
	for (size_t i = 0; i < __ehdr_start.e_phnum; i++) {
		uint64_t start = segments[i].p_vaddr;
		if (segments[i].p_type != PT_LOAD || start + segments[i].p_memsz <= end)
			continue;
		start = (start > end ? start : end) & ~(page - 1);
		last = last < start ? last : start;
	}
	return last;
}

/* The tables that the loader has made read-only: whole pages from that of their beginning on. */
static void protect(uint64_t base, int protection)
{
	static const char failed[] = "codex: the tables of this program cannot be relocated: mprotect is refused\n";
	const Elf64_Phdr *segments = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
	uint64_t page = getauxval(AT_PAGESZ);
	for (size_t i = 0; i < __ehdr_start.e_phnum; i++) {
		if (segments[i].p_type != PT_GNU_RELRO)
			continue;
		uint64_t start = base + (segments[i].p_vaddr & ~(page - 1));
		uint64_t end = segments[i].p_vaddr + segments[i].p_memsz;
		end = base + end_of_pages(segments, end, page);
		if (end > start && mprotect((void *)start, end - start, protection) != 0) {
			(void)!write(STDERR_FILENO, failed, sizeof(failed) - 1);
			_exit(127);
		}
	}
}

static void entry_relocate(void)
{
	uint64_t base = (uint64_t)&__ehdr_start;
	const uint64_t *list = NULL;
	size_t size = 0;
	for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == LIST)
			list = (const void *)(base + entry->d_un.d_ptr);
		if (entry->d_tag == LIST_SIZE)
			size = entry->d_un.d_val;
	}
	protect(base, PROT_READ | PROT_WRITE);
	apply(base, list, size / sizeof(*list));
	protect(base, PROT_READ);
}
