/* The packed file is written under a temporary name that lists ignore, synced, and renamed; then the original is
 * removed. While both exist, readers use the original. The temporary name is constant, so that a later pass overwrites
 * the remains of a killed one; the session's lock excludes concurrent passes. Files modified during compression, by
 * writers that do not take the lock, are skipped. */
#include "rollout/rollout_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_source.h"

enum {
	LEVEL = 3,
	CHUNK = 128 * KIB,
};

struct pass {
	const char *home;
	const struct rollout_zstd *zstd;
	const atomic_bool *stop;
};

static bool is_older(const struct stat *st, int64_t seconds)
{
	return clock_unix_ms() / 1000 - st->st_mtim.tv_sec >= seconds;
}

/* ---- bytes ---- */

struct packing {
	const struct pass *pass;
	ZSTD_CStream *stream;
	char *chunk;
	char *packed;
	int from;
	int to;
};

/* Compresses one chunk; the last one ends the frame. */
static int pack_chunk(struct packing *packing, size_t len, struct error *err)
{
	const struct rollout_zstd *zstd = packing->pass->zstd;
	ZSTD_EndDirective how = len ? ZSTD_e_continue : ZSTD_e_end;
	ZSTD_inBuffer in = {packing->chunk, len, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {packing->packed, CHUNK, 0};
		left = zstd->compressStream2(packing->stream, &out, &in, how);
		if (zstd->isError(left))
			return error_set(err, ERR_io, "cannot pack: %s", zstd->getErrorName(left));
		int status = fd_write_all(packing->to, out.dst, out.pos, err);
		if (status < 0)
			return status;
	} while (len ? in.pos < in.size : left > 0);
	return 0;
}

static int pack_bytes(struct packing *packing, struct error *err)
{
	for (;;) {
		ssize_t got = read(packing->from, packing->chunk, CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_sys(err, errno, "cannot read it");
		if (atomic_load(packing->pass->stop))
			return error_set(err, ERR_cancelled, "the pass was stopped");
		int status = pack_chunk(packing, (size_t)got, err);
		if (status < 0 || got == 0)
			return status;
	}
}

static int pack_stream(const struct pass *pass, int from, int to, struct error *err)
{
	const struct rollout_zstd *zstd = pass->zstd;
	auto_free char *chunk = xmalloc(CHUNK);
	auto_free char *packed = xmalloc(CHUNK);
	struct packing packing = {pass, zstd->createCStream(), chunk, packed, from, to};
	if (!packing.stream)
		return error_set(err, ERR_limit, "no memory to pack");
	zstd->CCtx_setParameter(packing.stream, ZSTD_c_compressionLevel, LEVEL);
	zstd->CCtx_setParameter(packing.stream, ZSTD_c_checksumFlag, 1);
	int status = pack_bytes(&packing, err);
	zstd->freeCStream(packing.stream);
	return status;
}

/* ---- one file ---- */

static bool is_same(int fd, const struct stat *before)
{
	struct stat now;
	return fstat(fd, &now) == 0 && now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static bool sync_folder(const char *path)
{
	auto_free char *folder = str_dup(path_dir(path));
	auto_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && fsync(fd) == 0;
}

/* Writes the packed file with the times and mode of the original, and syncs it. */
static bool write_packed(const struct pass *pass, int from, const struct stat *st, const char *temp)
{
	struct error err;
	struct timespec times[] = {st->st_atim, st->st_mtim};
	auto_close int to = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	return to >= 0 && pack_stream(pass, from, to, &err) == 0 && fchmod(to, st->st_mode & 0777) == 0 &&
	       futimens(to, times) == 0 && fsync(to) == 0;
}

static void replace(const struct pass *pass, const char *path, int from, const struct stat *st)
{
	auto_free char *packed = xasprintf("%s.zst", path);
	auto_free char *temp = xasprintf("%s.tmp", packed);
	if (file_exists(packed))
		return;
	if (!write_packed(pass, from, st, temp) || !is_same(from, st) || rename(temp, packed) != 0)
		unlink(temp);
	else if (sync_folder(path) && is_same(from, st))
		unlink(path);
	else
		unlink(packed);
}

/* Packs one file. The session's lock is held; programs that do not know it may have locked the file itself. */
static void pack_file(const struct pass *pass, const char *path)
{
	struct stat st;
	auto_close int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (from < 0 || fstat(from, &st) != 0 || !S_ISREG(st.st_mode) || !is_older(&st, LIMIT_ROLLOUT_COLD_S) ||
	    st.st_size > LIMIT_ROLLOUT_FILE || rollout_lock_fd(from, path, NULL) != 0)
		return;
	replace(pass, path, from, &st);
}

static bool on_visit(const char *path, const struct rollout_file_name *name, void *self)
{
	const struct pass *pass = self;
	struct stat st;
	if (name->is_compressed || lstat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !is_older(&st, LIMIT_ROLLOUT_COLD_S))
		return atomic_load(pass->stop);
	struct rollout_lock *lock = rollout_lock_create(pass->home, name->thread_id, NULL);
	if (lock)
		pack_file(pass, path);
	rollout_lock_destroy(lock);
	return atomic_load(pass->stop);
}

/* ---- the mark ---- */

static int make_mark(const char *mark, struct error *err)
{
	auto_close int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		return 1;
	return errno == EEXIST ? 0 : error_sys(err, errno, "cannot create %s", mark);
}

/* Returns 1 if the mark was created, 0 if the last pass was recent. */
static int claim_mark(const char *mark, struct error *err)
{
	struct stat st;
	int status = make_mark(mark, err);
	if (status != 0 || lstat(mark, &st) != 0 || !is_older(&st, LIMIT_ROLLOUT_PACK_S))
		return status;
	unlink(mark);
	return make_mark(mark, err);
}

static int pack_marked(const struct pass *pass, struct error *err)
{
	auto_free char *mark = path_join(pass->home, ".tmp/rollout-compression.lock");
	int status = claim_mark(mark, err);
	if (status <= 0)
		return status;
	status = rollout_list_walk(pass->home, true, on_visit, (void *)pass, err);
	if (status == 0 && !atomic_load(pass->stop))
		status = rollout_list_walk(pass->home, false, on_visit, (void *)pass, err);
	if (status < 0 || atomic_load(pass->stop))
		unlink(mark);
	return status;
}

/* Codex 0.169 takes the same lock for work on many sessions. If it is taken, another pass is running, which is not
 * an error. */
int rollout_pack_all(const char *home, const atomic_bool *stop, struct error *err)
{
	struct pass pass = {home, rollout_source_zstd(), stop};
	auto_free char *folder = path_join(home, ".tmp");
	auto_free char *lock = path_join(folder, "rollout-maintenance.lock");
	if (!pass.zstd)
		return error_set(err, ERR_unsupported, "sessions cannot be compressed; install libzstd1");
	int status = dir_make(folder, 0700, err);
	if (status < 0)
		return status;
	auto_close int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", lock);
	return rollout_lock_fd(fd, lock, NULL) == 0 ? pack_marked(&pass, err) : 0;
}
