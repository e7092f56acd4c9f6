/* A file may consist of several frames. Readers limit the size of the unpacked data, since the file may be hostile. */
#include "rollout/rollout_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"

/* ---- the library ---- */

static struct rollout_zstd library;

static const char *const names[] = {
#define ZSTD(name) "ZSTD_" #name,
#include "rollout/rollout_zstd.def"
#undef ZSTD
};

LIBRARY(libzstd, library, names, LIBRARY_ROW(libzstd), .purpose = "libzstd, which compresses sessions");

const struct rollout_zstd *rollout_source_zstd(void)
{
	return library_load(&libzstd, NULL) == 0 ? &library : NULL;
}

/* ---- reading ---- */

struct rollout_source {
	int fd;
	char *path;
	struct stat st;
	const struct rollout_zstd *zstd;
	ZSTD_DStream *stream; /* NULL: the file is not packed */
	ZSTD_inBuffer in;
	char *packed;     /* the buffer of `in` */
	bool is_in_frame; /* the data read so far ends inside a frame */
};

enum { PACKED_CHUNK = 128 * KIB };

static int open_stream(struct rollout_source *source, struct error *err)
{
	source->zstd = rollout_source_zstd();
	if (!source->zstd)
		return error_set(err, ERR_unsupported, "%s is compressed; install libzstd1, or unpack it: zstd -d %s",
		                 source->path, source->path);
	source->stream = source->zstd->createDStream();
	source->packed = xmalloc(PACKED_CHUNK);
	source->in.src = source->packed;
	return source->stream ? 0 : error_set(err, ERR_limit, "no memory to unpack %s", source->path);
}

static int open_source(struct rollout_source *source, struct error *err)
{
	source->fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (source->fd < 0 || fstat(source->fd, &source->st) != 0)
		return error_sys(err, errno, "cannot open %s", source->path);
	if (!S_ISREG(source->st.st_mode))
		return error_set(err, ERR_invalid, "%s is not a regular file", source->path);
	return str_has_suffix(str_of(source->path), ".zst") ? open_stream(source, err) : 0;
}

struct rollout_source *rollout_source_create(const char *path, struct error *err)
{
	struct rollout_source *source = xnew(struct rollout_source);
	*source = (struct rollout_source){.fd = -1, .path = xstrdup(path)};
	if (open_source(source, err) == 0)
		return source;
	rollout_source_destroy(source);
	return NULL;
}

void rollout_source_destroy(struct rollout_source *source)
{
	if (!source)
		return;
	if (source->fd >= 0)
		close(source->fd);
	if (source->stream)
		source->zstd->freeDStream(source->stream);
	free(source->packed);
	free(source->path);
	free(source);
}

static ssize_t read_bytes(struct rollout_source *source, char *out, size_t len, struct error *err)
{
	ssize_t got;
	do
		got = read(source->fd, out, len);
	while (got < 0 && errno == EINTR);
	return got < 0 ? error_sys(err, errno, "cannot read %s", source->path) : got;
}

static ssize_t fill(struct rollout_source *source, struct error *err)
{
	ssize_t got = read_bytes(source, source->packed, PACKED_CHUNK, err);
	source->in.pos = 0;
	source->in.size = got > 0 ? (size_t)got : 0;
	return got;
}

ssize_t rollout_source_read(struct rollout_source *source, char *out, size_t len, struct error *err)
{
	if (!source->stream)
		return read_bytes(source, out, len, err);
	ZSTD_outBuffer to = {out, len, 0};
	while (to.pos == 0 && len) {
		if (source->in.pos == source->in.size) {
			ssize_t got = fill(source, err);
			if (got == 0 && source->is_in_frame)
				return error_set(err, ERR_invalid, "%s ends too early: it is damaged", source->path);
			if (got <= 0)
				return got;
		}
		size_t status = source->zstd->decompressStream(source->stream, &to, &source->in);
		if (source->zstd->isError(status))
			return error_set(err, ERR_invalid, "%s cannot be unpacked: %s", source->path,
			                 source->zstd->getErrorName(status));
		source->is_in_frame = status != 0;
	}
	return (ssize_t)to.pos;
}

const struct stat *rollout_source_stat(const struct rollout_source *source)
{
	return &source->st;
}

bool rollout_source_is_packed(const struct rollout_source *source)
{
	return source->stream;
}

/* ---- unpacking files ---- */

static int copy_out(struct rollout_source *source, int fd, struct error *err)
{
	auto_free char *chunk = xmalloc(PACKED_CHUNK);
	size_t all = 0;
	for (;;) {
		ssize_t got = rollout_source_read(source, chunk, PACKED_CHUNK, err);
		if (got < 0)
			return (int)got;
		if (got == 0)
			return fsync(fd) == 0 ? 0 : error_sys(err, errno, "cannot sync it");
		all += (size_t)got;
		if (all > LIMIT_ROLLOUT_FILE)
			return error_set(err, ERR_limit, "%s unpacks to more than %d MiB", source->path,
			                 LIMIT_ROLLOUT_FILE / MIB);
		int status = fd_write_all(fd, chunk, (size_t)got, err);
		if (status < 0)
			return status;
	}
}

static int write_plain(struct rollout_source *source, const char *plain, struct error *err)
{
	auto_free char *temp = xasprintf("%s.unpacked-%ld", plain, (long)getpid());
	auto_close int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", temp);
	int status = copy_out(source, fd, err);
	if (status == 0 && link(temp, plain) != 0 && errno != EEXIST)
		status = rename(temp, plain) == 0 ? 0 : error_sys(err, errno, "cannot create %s", plain);
	unlink(temp);
	return status;
}

char *rollout_source_unpack(const char *path, struct error *err)
{
	struct str name = str_of(path);
	auto_free char *plain = str_dup(str_n(name.ptr, name.len - 4));
	struct rollout_source *source = access(plain, F_OK) == 0 ? NULL : rollout_source_create(path, err);
	if (source) {
		int status = write_plain(source, plain, err);
		rollout_source_destroy(source);
		if (status < 0)
			return NULL;
		unlink(path);
	} else if (access(plain, F_OK) != 0) {
		return NULL;
	}
	return steal(plain);
}
