/* An entry's header precedes its data but holds the data's length and checksum, so it is written again after the
 * data. Entries are stored without compression: archives are read rarely, and compression would need another
 * library. */
#include "base/zip.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

enum {
	HEAD_SIZE = 30,
	CHUNK = 64 * KIB,
	NAMES_ARE_UTF8 = 1 << 11,
	VERSION = 20,
	DATE = 1 << 5 | 1, /* 1980-01-01, the earliest date of the format: file times are not recorded */
};

struct zip_entry {
	struct str name;
	uint32_t crc, size, at;
};

/* ---- numbers ---- */

static uint32_t crc32_add(uint32_t crc, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put(struct buf *out, uint32_t value, int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		buf_append_char(out, (char)(value & 0xff));
}

/* ---- records ---- */

/* The fields that an entry's header and its directory record share. */
static void put_common(struct buf *out, const struct zip_entry *entry)
{
	put(out, VERSION, 2);
	put(out, NAMES_ARE_UTF8, 2);
	put(out, 0, 2); /* compression method: stored */
	put(out, 0, 2); /* time: midnight */
	put(out, DATE, 2);
	put(out, entry->crc, 4);
	put(out, entry->size, 4);
	put(out, entry->size, 4);
	put(out, (uint32_t)entry->name.len, 2);
	put(out, 0, 2); /* length of the extra field */
}

static void put_head(struct buf *out, const struct zip_entry *entry)
{
	put(out, 0x04034b50, 4);
	put_common(out, entry);
}

static void put_line(struct buf *out, const struct zip_entry *entry)
{
	put(out, 0x02014b50, 4);
	put(out, 3 << 8 | VERSION, 2); /* version made by: Unix */
	put_common(out, entry);
	put(out, 0, 2); /* length of the comment */
	put(out, 0, 2); /* number of the disk */
	put(out, 0, 2);
	put(out, 0100600u << 16, 4); /* mode: a regular file that only its owner can access */
	put(out, entry->at, 4);
	buf_append_str(out, entry->name);
}

/* ---- writing ---- */

static int write_out(struct zip *zip, const void *bytes, size_t len, struct error *err)
{
	if (zip->size + len > LIMIT_ZIP)
		return error_set(err, ERR_limit, "the archive would have more than %d MiB", LIMIT_ZIP / MIB);
	zip->size += len;
	return fd_write_all(zip->fd, bytes, len, err);
}

static int begin(struct zip *zip, struct zip_entry *entry, struct error *err)
{
	if (entry->name.len > UINT16_MAX || zip->count == UINT16_MAX)
		return error_set(err, ERR_limit, "too many files for an archive, or a file name is too long");
	auto_buf struct buf head;
	entry->at = (uint32_t)zip->size;
	buf_init(&head, HEAD_SIZE + entry->name.len);
	put_head(&head, entry);
	buf_append_str(&head, entry->name);
	return write_out(zip, head.data, head.len, err);
}

static int more(struct zip *zip, struct zip_entry *entry, const void *bytes, size_t len, struct error *err)
{
	entry->crc = crc32_add(entry->crc, bytes, len);
	entry->size += (uint32_t)len;
	return write_out(zip, bytes, len, err);
}

/* Writes the header again, now with length and checksum. */
static int end(struct zip *zip, const struct zip_entry *entry, struct error *err)
{
	auto_buf struct buf head;
	buf_init(&head, HEAD_SIZE);
	put_head(&head, entry);
	if (pwrite(zip->fd, head.data, head.len, (off_t)entry->at) != (ssize_t)head.len)
		return error_sys(err, errno, "cannot write the header of %.*s", STR_ARG(entry->name));
	put_line(&zip->directory, entry);
	zip->count++;
	return 0;
}

/* ---- what is offered ---- */

void zip_init(struct zip *zip, int fd)
{
	*zip = (struct zip){.fd = fd};
	buf_init(&zip->directory, LIMIT_ZIP);
}

void zip_finish(struct zip *zip)
{
	buf_finish(&zip->directory);
}

int zip_add(struct zip *zip, struct str name, struct str bytes, struct error *err)
{
	struct zip_entry entry = {.name = name};
	int status = begin(zip, &entry, err);
	if (status == 0)
		status = more(zip, &entry, bytes.ptr, bytes.len, err);
	return status == 0 ? end(zip, &entry, err) : status;
}

int zip_add_fd(struct zip *zip, struct str name, int fd, const char *what, struct error *err)
{
	auto_free char *chunk = xmalloc(CHUNK);
	struct zip_entry entry = {.name = name};
	int status = begin(zip, &entry, err);
	while (status == 0) {
		ssize_t got = read(fd, chunk, CHUNK);
		if (got == 0)
			return end(zip, &entry, err);
		if (got > 0)
			status = more(zip, &entry, chunk, (size_t)got, err);
		else if (errno != EINTR)
			status = error_sys(err, errno, "cannot read %s", what);
	}
	return status;
}

int zip_end(struct zip *zip, struct error *err)
{
	auto_buf struct buf last;
	uint32_t at = (uint32_t)zip->size;
	int status = write_out(zip, zip->directory.data, zip->directory.len, err);
	buf_init(&last, HEAD_SIZE);
	put(&last, 0x06054b50, 4);
	put(&last, 0, 4); /* number of this disk, and of the one where the directory begins */
	put(&last, zip->count, 2);
	put(&last, zip->count, 2);
	put(&last, (uint32_t)zip->directory.len, 4);
	put(&last, at, 4);
	put(&last, 0, 2); /* length of the archive's comment */
	return status == 0 ? write_out(zip, last.data, last.len, err) : status;
}
