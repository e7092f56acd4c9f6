/* The filter is written without a library: it is a list of numbers with one result, and the few calls that depend on
 * an argument need one comparison each. Calls that are not listed are allowed; a list of all calls that programs
 * need would break with the next compiler.
 *
 * The numbers are searched by bisection. When a filter is installed, the kernel runs it once with every number to
 * learn which calls are always allowed; with a linear list this took longer than everything else.
 *
 * Arguments have 64 bits; for those that the kernel takes as int only the lower half is checked. Pointers cannot be
 * followed, so nothing here depends on a path. */
#include "sandbox/sandbox_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/mem.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

enum {
	SEARCH_GROUP = 3,     /* a linear search is as fast for so few */
	X32_BIT = 0x40000000, /* on x86 the same calls exist with this bit set */
	NAME_SPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
	              CLONE_NEWNET,
	SOCKET_TYPE = 0xf,
	IOCTL_LINUX_CONSOLE = 0x541c, /* TIOCLINUX, which pastes into a console */
};

enum { EVERYWHERE, WHERE_BARE, WHERE_OFFLINE };

static const struct denied {
	int call;
	int where;
} denied[] = {
#define DENY(call) {call, EVERYWHERE},
#define DENY_BARE(call) {call, WHERE_BARE},
#define DENY_NET(call) {call, WHERE_OFFLINE},
#include "sandbox/sandbox_filter.def"
#undef DENY
#undef DENY_BARE
#undef DENY_NET
};

struct program {
	struct sock_filter *code;
	size_t len;
};

_Static_assert(countof(denied) * 3 / 2 < 256, "half of the table is jumped over in one step");

static void put(struct program *to, struct sock_filter step)
{
	if (to->len < SANDBOX_FILTER_MAX)
		to->code[to->len] = step;
	to->len++;
}

static void load(struct program *to, size_t offset)
{
	put(to, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void load_arg(struct program *to, int index)
{
	load(to, offsetof(struct seccomp_data, args) + (size_t)index * sizeof(__u64) +
	                 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(__u32) : 0));
}

/* If the comparison is true, skips the next `yes` instructions, else the next `no`. */
static void compare(struct program *to, unsigned how, unsigned value, size_t yes, size_t no)
{
	put(to, (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, value, (__u8)yes, (__u8)no));
}

static void answer(struct program *to, unsigned action)
{
	put(to, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void deny(struct program *to)
{
	answer(to, SECCOMP_RET_ERRNO | EPERM);
}

static void allow(struct program *to)
{
	answer(to, SECCOMP_RET_ALLOW);
}

/* Sorted numbers, and the jump target for numbers that are not listed: one jump per group, filled in at the end. */
struct search {
	int calls[countof(denied)];
	size_t jumps[countof(denied)];
	size_t jump_count;
};

static int compare_calls(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static size_t list_denied(const struct sandbox_filter_spec *spec, int *ret_calls)
{
	size_t count = 0;
	for (size_t i = 0; i < countof(denied); i++) {
		if ((denied[i].where != WHERE_BARE || spec->is_bare) &&
		    (denied[i].where != WHERE_OFFLINE || spec->net == SANDBOX_NET_NONE))
			ret_calls[count++] = denied[i].call;
	}
	qsort(ret_calls, count, sizeof(*ret_calls), compare_calls);
	return count;
}

static void search_group(struct program *to, struct search *search, size_t from, size_t count)
{
	for (size_t i = from; i < from + count; i++) {
		compare(to, BPF_JEQ, (unsigned)search->calls[i], 0, 1);
		deny(to);
	}
	search->jumps[search->jump_count++] = to->len;
	put(to, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
}

/* Emits a bisection: the lower half follows the comparison; the jump to the upper half spans fewer than 256
 * instructions. list_denied sorts. */
static void search_calls(struct program *to, struct search *search, size_t from, size_t count)
{
	if (count <= SEARCH_GROUP) {
		search_group(to, search, from, count);
		return;
	}
	size_t half = count / 2, at = to->len;
	compare(to, BPF_JGE, (unsigned)search->calls[from + half], 0, 0);
	search_calls(to, search, from, half);
	if (to->len <= SANDBOX_FILTER_MAX)
		to->code[at].jt = (__u8)(to->len - at - 1);
	search_calls(to, search, from + half, count - half);
}

/* Before and after each rule, including this one, the number is loaded. */
static void deny_calls(struct program *to, const struct sandbox_filter_spec *spec)
{
	struct search search = {.jump_count = 0};
	search_calls(to, &search, 0, list_denied(spec, search.calls));
	for (size_t i = 0; i < search.jump_count && to->len <= SANDBOX_FILTER_MAX; i++)
		to->code[search.jumps[i]].k = (__u32)(to->len - search.jumps[i] - 1);
}

/* Begins the rule of one call that checks arguments: `steps` instructions follow, and each path through them ends
 * with an answer. */
static void begin_call(struct program *to, int call, size_t steps)
{
	compare(to, BPF_JEQ, (unsigned)call, 0, steps);
}

static void rule_clone(struct program *to)
{
	begin_call(to, __NR_clone, 4);
	load_arg(to, 0);
	compare(to, BPF_JSET, NAME_SPACES, 0, 1);
	deny(to);
	allow(to);
	begin_call(to, __NR_clone3, 1);
	answer(to, SECCOMP_RET_ERRNO | ENOSYS);
}

/* TIOCSTI simulates input to a terminal that another program reads. */
static void rule_ioctl(struct program *to)
{
	begin_call(to, __NR_ioctl, 5);
	load_arg(to, 1);
	compare(to, BPF_JEQ, TIOCSTI, 1, 0);
	compare(to, BPF_JEQ, IOCTL_LINUX_CONSOLE, 0, 1);
	deny(to);
	allow(to);
}

/* Denies calls that act on another process; 0 is the caller. */
static void rule_self(struct program *to, int call, int pid_at)
{
	begin_call(to, call, 4);
	load_arg(to, pid_at);
	compare(to, BPF_JEQ, 0, 1, 0);
	deny(to);
	allow(to);
}

/* Denies device nodes. Pipes, sockets and plain files are made with the same call. */
static void rule_mknod(struct program *to, int call, int mode_at)
{
	begin_call(to, call, 6);
	load_arg(to, mode_at);
	put(to, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, S_IFMT));
	compare(to, BPF_JEQ, S_IFCHR, 1, 0);
	compare(to, BPF_JEQ, S_IFBLK, 0, 1);
	deny(to);
	allow(to);
}

static void rule_socket(struct program *to, enum sandbox_filter_net net)
{
	static const unsigned families[] = {AF_INET, AF_INET6, AF_NETLINK, AF_UNIX};
	size_t count = net == SANDBOX_NET_NONE ? 0 : net == SANDBOX_NET_PRIVATE ? 3 : 4;
	begin_call(to, __NR_socket, count + 3);
	load_arg(to, 0);
	for (size_t i = 0; i < count; i++)
		compare(to, BPF_JEQ, families[i], count - i, 0);
	deny(to);
	allow(to);
}

/* Allows only stream pairs, which act like pipes. A pair of datagram sockets could send to any address with sendmsg. */
static void rule_socketpair(struct program *to, enum sandbox_filter_net net)
{
	bool is_any = net == SANDBOX_NET_SHARED;
	begin_call(to, __NR_socketpair, is_any ? 4 : 8);
	load_arg(to, 0);
	if (is_any) {
		compare(to, BPF_JEQ, AF_UNIX, 1, 0);
	} else {
		compare(to, BPF_JEQ, AF_UNIX, 0, 4);
		load_arg(to, 1);
		put(to, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE));
		compare(to, BPF_JEQ, SOCK_STREAM, 2, 0);
		compare(to, BPF_JEQ, SOCK_SEQPACKET, 1, 0);
	}
	deny(to);
	allow(to);
}

/* These calls need only the number of a process of the same user. Therefore a thread can use them on itself only as
 * 0; with a pid namespace, in which outside processes have no number, they are allowed. */
static void rules_schedule(struct program *to)
{
	rule_self(to, __NR_sched_setaffinity, 0);
	rule_self(to, __NR_sched_setscheduler, 0);
	rule_self(to, __NR_sched_setparam, 0);
	rule_self(to, __NR_sched_setattr, 0);
	rule_self(to, __NR_migrate_pages, 0);
	rule_self(to, __NR_move_pages, 0);
}

static void rules(struct program *to, const struct sandbox_filter_spec *spec)
{
	deny_calls(to, spec);
	rule_clone(to);
	rule_ioctl(to);
	rule_self(to, __NR_prlimit64, 0);
	rule_self(to, __NR_setpriority, 1);
	rule_self(to, __NR_ioprio_set, 1);
	if (spec->shares_pids)
		rules_schedule(to);
#ifdef __NR_mknod
	rule_mknod(to, __NR_mknod, 1);
#endif
	rule_mknod(to, __NR_mknodat, 2);
	rule_socket(to, spec->net);
	rule_socketpair(to, spec->net);
	allow(to);
}

size_t sandbox_filter_build(const struct sandbox_filter_spec *spec, struct sock_filter out[SANDBOX_FILTER_MAX])
{
#ifdef ARCHITECTURE
	struct program program = {.code = out};
	load(&program, offsetof(struct seccomp_data, arch));
	compare(&program, BPF_JEQ, ARCHITECTURE, 1, 0);
	answer(&program, SECCOMP_RET_KILL_PROCESS);
	load(&program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	compare(&program, BPF_JGE, X32_BIT, 0, 1);
	answer(&program, SECCOMP_RET_KILL_PROCESS);
#endif
	rules(&program, spec);
	return program.len <= SANDBOX_FILTER_MAX ? program.len : 0;
#else
	(void)spec;
	(void)out;
	return 0;
#endif
}
