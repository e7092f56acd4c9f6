/* glibc has no functions for the three system calls, and the structs are defined here because the headers of a
 * distribution describe the ABI of its own kernel, which may be older than the running one.
 *
 * Reading is not handled at all, so it needs no rule and is not checked. */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

#define FS_REFER (1ULL << 13)
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define FS_CHANGE_FILE (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
#define FS_CHANGE                                                                                   \
	(FS_CHANGE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |          \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | FS_REFER)
#define FS_DEVICE (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define FS_HANDLED (FS_CHANGE | FS_DEVICE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

struct ruleset_attributes {
	uint64_t handled_fs;
	uint64_t handled_net;
	uint64_t scoped;
};

enum {
	NET_TCP = 1 << 0 | 1 << 1, /* the rights to bind and to connect */
	SCOPE_SIGNAL = 1 << 1,
	SCOPE_ABSTRACT_SOCKET = 1 << 0,
};

int landlock_abi(void)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return abi > 0 ? (int)abi : 0;
}

static int ruleset_open(bool no_tcp)
{
	struct ruleset_attributes attributes = {
		.handled_fs = FS_HANDLED,
		.handled_net = no_tcp ? NET_TCP : 0,
		.scoped = SCOPE_SIGNAL | SCOPE_ABSTRACT_SOCKET,
	};
	return (int)syscall(__NR_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
}

/* Adds a rule for a path. A file gets only the rights that apply to files; the kernel rejects others. */
static int rule_add(int ruleset, const char *path, uint64_t folder_rights, uint64_t file_rights)
{
	struct stat st;
	auto_close int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	struct landlock_path_beneath_attr rule = {.allowed_access = S_ISDIR(st.st_mode) ? folder_rights : file_rights,
	                                          .parent_fd = fd};
	return (int)syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static int rules_add(int ruleset, const struct landlock_rules *rules, struct error *err)
{
	for (size_t i = 0; rules->writable[i]; i++) {
		if (rule_add(ruleset, rules->writable[i], FS_CHANGE, FS_CHANGE_FILE) != 0)
			return error_sys(err, errno, "cannot make %s writable", rules->writable[i]);
	}
	for (size_t i = 0; rules->devices[i]; i++) {
		if (rule_add(ruleset, rules->devices[i], FS_DEVICE, FS_DEVICE) != 0 && errno != ENOENT)
			return error_sys(err, errno, "cannot make %s usable", rules->devices[i]);
	}
	return 0;
}

int landlock_restrict(const struct landlock_rules *rules, struct error *err)
{
	if (landlock_abi() < LANDLOCK_ABI_NEEDED)
		return error_set(err, ERR_unsupported, "this kernel's Landlock has version %d; %d is needed",
		                 landlock_abi(), LANDLOCK_ABI_NEEDED);
	auto_close int ruleset = ruleset_open(rules->no_tcp);
	if (ruleset < 0)
		return error_sys(err, errno, "cannot create a Landlock ruleset");
	int status = rules_add(ruleset, rules, err);
	if (status == 0 && syscall(__NR_landlock_restrict_self, ruleset, 0) != 0)
		status = error_sys(err, errno, "cannot enter the Landlock ruleset");
	return status;
}
