/* The copy is complete before it gets its final name. host_rename_new ensures that a file that was created under that
 * name in the meantime is kept. */
#include "rollout/rollout_rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_path.h"

enum { COPY_CHUNK = 1 * MIB };

bool rollout_is_lost(int fd, const char *path)
{
	struct stat st, named;
	if (fstat(fd, &st) != 0 || st.st_nlink > 0)
		return false;
	/* Compare inodes, too, because some file systems do not count links. */
	return stat(path, &named) != 0 || named.st_ino != st.st_ino || named.st_dev != st.st_dev;
}

static int copy_bytes(int from, int to, struct error *err)
{
	auto_free char *chunk = xmalloc(COPY_CHUNK);
	off_t at = 0;
	for (;;) {
		ssize_t got = pread(from, chunk, COPY_CHUNK, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0 ? 0 : error_sys(err, errno, "cannot read what was recorded");
		int status = fd_write_all(to, chunk, (size_t)got, err);
		if (status < 0)
			return status;
		at += got;
	}
}

/* Returns the name for a try; the first one is the original name. */
static char *name_for(const char *path, int tries)
{
	char id[UUID_TEXT_SIZE];
	struct rollout_file_name name;
	if (tries == 0)
		return xstrdup(path);
	if (!rollout_path_parse(path_name(path), &name))
		return xasprintf("%s.rescued-%d", path, tries);
	uuid_v7(id);
	return xasprintf("%.*s/rollout-%.*s-%.*s_%s.jsonl", STR_ARG(path_dir(path)), STR_ARG(name.time),
	                 STR_ARG(name.thread_id), id);
}

/* Renames without overwriting, on file systems that cannot do both in one step. */
static int rename_to_free(const char *from, const char *to)
{
	if (host_rename_new(from, to) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	return link(from, to) == 0 ? unlink(from) : -1;
}

static int give_name(const char *temp, const char *path, char **ret_path, struct error *err)
{
	for (int tries = 0; tries < LIMIT_ROLLOUT_RESCUED; tries++) {
		auto_free char *name = name_for(path, tries);
		if (rename_to_free(temp, name) == 0) {
			*ret_path = steal(name);
			return 0;
		}
		if (errno != EEXIST)
			return error_sys(err, errno, "cannot create %s", name);
	}
	return error_set(err, ERR_limit, "%s was replaced %d times; look at its .rescued files", path,
	                 LIMIT_ROLLOUT_RESCUED - 1);
}

static int fill(int fd, int copy, const char *temp, const char *path, char **ret_path, struct error *err)
{
	int status = copy_bytes(fd, copy, err);
	if (status == 0)
		status = rollout_lock_fd(copy, temp, err);
	return status == 0 ? give_name(temp, path, ret_path, err) : status;
}

int rollout_rescue(int fd, const char *path, char **ret_path, struct error *err)
{
	auto_free char *temp = xasprintf("%s.rescue-%ld", path, (long)getpid());
	auto_free char *folder = str_dup(path_dir(path));
	int status = dir_make(folder, 0700, err);
	if (status < 0)
		return status;
	unlink(temp); /* a leftover of an earlier process with the same pid */
	auto_close int copy = open(temp, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (copy < 0)
		return error_sys(err, errno, "cannot create %s", temp);
	status = fill(fd, copy, temp, path, ret_path, err);
	if (status == 0)
		return steal_fd(&copy);
	unlink(temp);
	return status;
}
