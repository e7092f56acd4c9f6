/* temp.h — a temporary folder for tests that use files: temp_make and temp_remove as setup and teardown,
 * temp_path("a/b") for a path inside, temp_put and temp_get for file contents. */
#ifndef TESTS_UNIT_TEMP_H
#define TESTS_UNIT_TEMP_H

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "test.h"

static char temp_root[64];

static inline int temp_make(void **state)
{
	(void)state;
	snprintf(temp_root, sizeof(temp_root), "/tmp/codex-test-XXXXXX");
	return mkdtemp(temp_root) ? 0 : -1;
}

static inline int temp_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int temp_remove(void **state)
{
	(void)state;
	return nftw(temp_root, temp_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Valid until the fourth call after this one. */
static inline const char *temp_path(const char *relative)
{
	static char paths[4][4096];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", temp_root, relative);
	return path;
}

/* Writes a file and creates its folders; returns its path (see temp_path). */
static inline const char *temp_put(const char *relative, struct str bytes)
{
	const char *path = temp_path(relative);
	auto_free char *folder = str_dup(path_dir(path));
	assert_int_equal(dir_make(folder, 0700, NULL), 0);
	assert_int_equal(file_write_atomic(path, bytes, 0600, false, NULL), 0);
	return path;
}

/* Returns the content of a file, owned by the caller. The test fails if it cannot be read. */
static inline char *temp_get(const char *path)
{
	struct error err = {0};
	struct buf bytes;
	buf_init(&bytes, 256 * 1024 * 1024);
	if (file_read(path, &bytes, &err) != 0)
		fail_msg("%s", err.text);
	return buf_take(&bytes);
}

#endif
