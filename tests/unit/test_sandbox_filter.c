/* The system call filter, evaluated like in the kernel. */
#include "test.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "sandbox/sandbox_filter.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

enum { DENIED = SECCOMP_RET_ERRNO | EPERM, EVERYWHERE = 0, BARE, OFFLINE };

static const struct row {
	int call, where;
} rows[] = {
#define DENY(call) {call, EVERYWHERE},
#define DENY_BARE(call) {call, BARE},
#define DENY_NET(call) {call, OFFLINE},
#include "sandbox/sandbox_filter.def"
#undef DENY
#undef DENY_BARE
#undef DENY_NET
};

static struct sock_filter code[SANDBOX_FILTER_MAX];
static size_t code_len;

static size_t jump(const struct sock_filter *step, unsigned value)
{
	switch (BPF_OP(step->code)) {
	case BPF_JA:
		return step->k;
	case BPF_JEQ:
		return value == step->k ? step->jt : step->jf;
	case BPF_JGE:
		return value >= step->k ? step->jt : step->jf;
	case BPF_JSET:
		return value & step->k ? step->jt : step->jf;
	default:
		fail_msg("a jump of unknown kind");
	}
	return 0;
}

static unsigned decide(const struct seccomp_data *data)
{
	unsigned value = 0;
	for (size_t at = 0; at < code_len; at++) {
		const struct sock_filter *step = &code[at];
		switch (BPF_CLASS(step->code)) {
		case BPF_LD:
			assert_true(step->k + sizeof(value) <= sizeof(*data));
			memcpy(&value, (const char *)data + step->k, sizeof(value));
			break;
		case BPF_ALU:
			assert_int_equal(BPF_OP(step->code), BPF_AND);
			value &= step->k;
			break;
		case BPF_JMP:
			at += jump(step, value);
			break;
		case BPF_RET:
			return step->k;
		default:
			fail_msg("a step of unknown kind");
		}
	}
	fail_msg("the end is run over");
	return 0;
}

static unsigned call(int number, unsigned long long first, unsigned long long second, unsigned long long third)
{
	return decide(&(struct seccomp_data){.nr = number, .arch = ARCHITECTURE, .args = {first, second, third}});
}

static void build(enum sandbox_filter_net net, bool is_bare)
{
	code_len = sandbox_filter_build(&(struct sandbox_filter_spec){net, is_bare}, code);
	assert_true(code_len > 0);
}

static const struct row *find_row(int number)
{
	for (size_t i = 0; i < countof(rows); i++) {
		if (rows[i].call == number)
			return &rows[i];
	}
	return NULL;
}

static bool has_rule(int number)
{
	static const int own[] = {
		__NR_clone,      __NR_clone3,  __NR_ioctl,  __NR_prlimit64,  __NR_setpriority,
		__NR_ioprio_set, __NR_mknodat, __NR_socket, __NR_socketpair,
#ifdef __NR_mknod
		__NR_mknod,
#endif
	};
	for (size_t i = 0; i < countof(own); i++) {
		if (own[i] == number)
			return true;
	}
	return false;
}

static void every_call_is_answered_as_its_row_says(void **state)
{
	(void)state;
	for (int variant = 0; variant < 6; variant++) {
		enum sandbox_filter_net net = (enum sandbox_filter_net)(variant % 3);
		bool is_bare = variant >= 3;
		build(net, is_bare);
		for (int number = 0; number < 700; number++) {
			const struct row *row = find_row(number);
			bool is_denied = row && (row->where == EVERYWHERE || (row->where == BARE && is_bare) ||
			                         (row->where == OFFLINE && net == SANDBOX_NET_NONE));
			if (has_rule(number))
				continue;
			unsigned want = is_denied ? DENIED : SECCOMP_RET_ALLOW;
			if (call(number, 0, 0, 0) != want)
				fail_msg("call %d in variant %d", number, variant);
		}
	}
}

static void sockets_are_those_of_the_network(void **state)
{
	(void)state;
	static const struct {
		int family;
		bool is_allowed[3]; /* indexed by enum sandbox_filter_net */
	} families[] = {
		{AF_UNIX, {false, false, true}},    {AF_INET, {false, true, true}},
		{AF_INET6, {false, true, true}},    {AF_NETLINK, {false, true, true}},
		{AF_PACKET, {false, false, false}}, {AF_VSOCK, {false, false, false}},
		{AF_ALG, {false, false, false}},
	};
	for (int net = 0; net < 3; net++) {
		build((enum sandbox_filter_net)net, false);
		for (size_t i = 0; i < countof(families); i++)
			assert_int_equal(call(__NR_socket, (unsigned)families[i].family, SOCK_STREAM, 0),
			                 families[i].is_allowed[net] ? SECCOMP_RET_ALLOW : DENIED);
		unsigned datagrams = net == SANDBOX_NET_SHARED ? SECCOMP_RET_ALLOW : DENIED;
		assert_int_equal(call(__NR_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), SECCOMP_RET_ALLOW);
		assert_int_equal(call(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET, 0), SECCOMP_RET_ALLOW);
		assert_int_equal(call(__NR_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), datagrams);
		assert_int_equal(call(__NR_socketpair, AF_INET, SOCK_STREAM, 0), DENIED);
	}
}

static void arguments_decide_where_a_call_has_two_sides(void **state)
{
	(void)state;
	build(SANDBOX_NET_PRIVATE, false);
	assert_int_equal(call(__NR_clone, SIGCHLD, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(call(__NR_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(call(__NR_clone, CLONE_NEWUSER | SIGCHLD, 0, 0), DENIED);
	assert_int_equal(call(__NR_clone, CLONE_NEWNET, 0, 0), DENIED);
	assert_int_equal(call(__NR_clone3, 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
	assert_int_equal(call(__NR_ioctl, 0, TCGETS, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(call(__NR_ioctl, 0, TIOCSTI, 0), DENIED);
	assert_int_equal(call(__NR_ioctl, 0, TIOCSTI | 0xffffffff00000000ull, 0), DENIED);
	assert_int_equal(call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(call(__NR_prlimit64, 1, RLIMIT_NOFILE, 0), DENIED);
	assert_int_equal(call(__NR_setpriority, PRIO_PROCESS, 0, 5), SECCOMP_RET_ALLOW);
	assert_int_equal(call(__NR_setpriority, PRIO_PROCESS, 1, 5), DENIED);
	assert_int_equal(call(__NR_mknodat, 0, 0, S_IFIFO | 0600), SECCOMP_RET_ALLOW);
	assert_int_equal(call(__NR_mknodat, 0, 0, S_IFCHR | 0600), DENIED);
	assert_int_equal(call(__NR_mknodat, 0, 0, S_IFBLK | 0600), DENIED);
}

static void a_sandbox_that_shares_pids_leaves_the_scheduling_of_others_alone(void **state)
{
	(void)state;
	static const int calls[] = {__NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam,
	                            __NR_sched_setattr,     __NR_migrate_pages,      __NR_move_pages};
	for (size_t i = 0; i < countof(calls); i++) {
		build(SANDBOX_NET_NONE, true);
		/* allowed with a pid namespace of its own */
		assert_int_equal(call(calls[i], 1, 0, 0), SECCOMP_RET_ALLOW);
		code_len = sandbox_filter_build(&(struct sandbox_filter_spec){SANDBOX_NET_NONE, true, true}, code);
		assert_int_equal(call(calls[i], 1, 0, 0), DENIED);
		assert_int_equal(call(calls[i], 0, 0, 0), SECCOMP_RET_ALLOW);
	}
}

static void calls_of_another_architecture_end_the_process(void **state)
{
	(void)state;
	build(SANDBOX_NET_SHARED, false);
	assert_int_equal(decide(&(struct seccomp_data){.nr = 0, .arch = AUDIT_ARCH_I386}), SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
	assert_int_equal(call(0x40000000, 0, 0, 0), SECCOMP_RET_KILL_PROCESS);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_answered_as_its_row_says),
		cmocka_unit_test(sockets_are_those_of_the_network),
		cmocka_unit_test(arguments_decide_where_a_call_has_two_sides),
		cmocka_unit_test(a_sandbox_that_shares_pids_leaves_the_scheduling_of_others_alone),
		cmocka_unit_test(calls_of_another_architecture_end_the_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
