/* zip.h — a ZIP archive, written entry by entry without compression.
 *
 * Owns: the list of entries. Borrows: the descriptor of an empty file. Blocking; any thread, one at a time.
 * Errors: those of write, ERR_limit beyond LIMIT_ZIP. After an error the file is unusable.
 * Source: PKWARE APPNOTE 4.3, without encryption and ZIP64. */
#ifndef BASE_ZIP_H
#define BASE_ZIP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct zip {
	/* private */
	int fd;
	uint64_t size;
	uint16_t count;
	struct buf directory;
};

void zip_init(struct zip *zip, int fd);
void zip_finish(struct zip *zip);

/* name: a relative path with slashes. */
must_check int zip_add(struct zip *zip, struct str name, struct str bytes, struct error *err);
/* Adds the bytes of fd up to its end; `what` names the input in errors. */
must_check int zip_add_fd(struct zip *zip, struct str name, int fd, const char *what, struct error *err);
/* Completes the archive; no entry may be added after this. */
must_check int zip_end(struct zip *zip, struct error *err);

#endif
