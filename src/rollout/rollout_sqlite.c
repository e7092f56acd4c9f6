/* SQLite detects malformed pages, but not a changed byte in a text or in a list of matches, which would yield wrong
 * answers. The file is therefore opened through a VFS that stores a checksum in the last bytes of each page and
 * verifies it on each read. It supports the single page size that is used here, and passes journals through.
 *
 * The library is loaded with the first list or search. */
#include "rollout/rollout_sqlite.h"

#include <stdint.h>
#include <string.h>

#include "base/library.h"

enum { PAGE = 4096, CHECKSUM = 8, HEADER = 100 };

static struct rollout_sqlite sqlite;
static sqlite3_vfs vfs, *below; /* `below` is SQLite's own VFS */

/* ---- files ---- */

struct checked_file {
	sqlite3_file base;  /* must be the first member */
	sqlite3_file *real; /* follows this struct in memory */
};

static sqlite3_file *real(sqlite3_file *file)
{
	return ((struct checked_file *)(void *)file)->real;
}

/* Includes the page's offset, so that a misplaced page is detected, too. */
static uint64_t checksum(const unsigned char *page, sqlite3_int64 at)
{
	uint64_t hash = 0x9e3779b97f4a7c15ull ^ (uint64_t)at;
	for (size_t i = 0; i < PAGE - CHECKSUM; i += sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, page + i, sizeof(word));
		hash = (hash ^ word) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
	}
	return hash;
}

static bool is_page(int len, sqlite3_int64 at)
{
	return len == PAGE && at % PAGE == 0;
}

/* Reads and verifies a page. Other reads are of the header on the first page, which SQLite reads before it knows the
 * page size. */
static int on_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
	uint64_t found;
	int status = real(file)->pMethods->xRead(real(file), out, len, at);
	if (status == SQLITE_IOERR_SHORT_READ && at > 0 && is_page(len, at))
		return SQLITE_IOERR_DATA; /* SQLite would treat the missing bytes as zeros */
	if (status != SQLITE_OK)
		return status;
	if (!is_page(len, at))
		return at + len <= HEADER ? SQLITE_OK : SQLITE_IOERR_DATA;
	memcpy(&found, (unsigned char *)out + PAGE - CHECKSUM, CHECKSUM);
	return found == checksum(out, at) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

static int on_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
	unsigned char page[PAGE];
	if (!is_page(len, at))
		return SQLITE_IOERR_WRITE;
	memcpy(page, bytes, PAGE - CHECKSUM);
	uint64_t sum = checksum(page, at);
	memcpy(page + PAGE - CHECKSUM, &sum, CHECKSUM);
	return real(file)->pMethods->xWrite(real(file), page, PAGE, at);
}

static int on_close(sqlite3_file *file)
{
	return real(file)->pMethods->xClose(real(file));
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return real(file)->pMethods->xTruncate(real(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
	return real(file)->pMethods->xSync(real(file), flags);
}

static int on_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	return real(file)->pMethods->xFileSize(real(file), ret);
}

static int on_lock(sqlite3_file *file, int level)
{
	return real(file)->pMethods->xLock(real(file), level);
}

static int on_unlock(sqlite3_file *file, int level)
{
	return real(file)->pMethods->xUnlock(real(file), level);
}

static int on_check_lock(sqlite3_file *file, int *ret)
{
	return real(file)->pMethods->xCheckReservedLock(real(file), ret);
}

static int on_control(sqlite3_file *file, int what, void *more)
{
	return real(file)->pMethods->xFileControl(real(file), what, more);
}

static int on_sector(sqlite3_file *file)
{
	return real(file)->pMethods->xSectorSize(real(file));
}

/* Returns the capabilities of the real file, without those that allow writing anything but pages. */
static int on_abilities(sqlite3_file *file)
{
	return real(file)->pMethods->xDeviceCharacteristics(real(file)) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* Version 1 has neither shared memory nor mapping. */
static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = on_close,
	.xRead = on_read,
	.xWrite = on_write,
	.xTruncate = on_truncate,
	.xSync = on_sync,
	.xFileSize = on_size,
	.xLock = on_lock,
	.xUnlock = on_unlock,
	.xCheckReservedLock = on_check_lock,
	.xFileControl = on_control,
	.xSectorSize = on_sector,
	.xDeviceCharacteristics = on_abilities,
};

/* ---- the VFS ---- */

static int on_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct checked_file *checked = (struct checked_file *)(void *)file;
	(void)self;
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return below->xOpen(below, name, file, flags, ret_flags);
	*checked = (struct checked_file){.real = (sqlite3_file *)(void *)(checked + 1)};
	memset(checked->real, 0, sizeof(*checked->real));
	int status = below->xOpen(below, name, checked->real, flags, ret_flags);
	checked->base.pMethods = checked->real->pMethods ? &methods : NULL;
	return status;
}

/* Makes the VFS. All its methods but xOpen are those of SQLite's own VFS and expect that one as argument. */
static int make_vfs(struct error *err)
{
	(void)err;
	below = sqlite.vfs_find(NULL);
	vfs = *below;
	vfs.zName = "codex-checked";
	vfs.szOsFile = (int)sizeof(struct checked_file) + below->szOsFile;
	vfs.pNext = NULL;
	vfs.xOpen = on_open;
	sqlite.vfs_register(&vfs, 0);
	return 0;
}

static const char *const names[] = {
#define SQLITE(name) "sqlite3_" #name,
#include "rollout/rollout_sqlite.def"
#undef SQLITE
};

LIBRARY(libsqlite, sqlite, names, LIBRARY_ROW(libsqlite3), .purpose = "libsqlite3, which keeps the index of sessions",
        .on_loaded = make_vfs);

const struct rollout_sqlite *rollout_sqlite_load(struct error *err)
{
	return library_load(&libsqlite, err) == 0 ? &sqlite : NULL;
}

int rollout_sqlite_open(const struct rollout_sqlite *lib, const char *path, sqlite3 **ret)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	int reserved = CHECKSUM;
	int status = lib->open_v2(path, ret, flags, vfs.zName);
	if (status == SQLITE_OK)
		status = lib->file_control(*ret, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
	return status;
}
