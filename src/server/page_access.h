/* page_access.h — who may use codex serve: codes that are good once, and the devices that were signed in with them.
 *
 * A code has 128 bits and lives for LIMIT_PAGE_CODE_MS; LIMIT_PAGE_CODES are open, the oldest goes first. A device has
 * a token of 256 bits, of which only the SHA-256 is kept, in memory: it ends with the process. Owns: codes and devices.
 * Borrows: the fixed token. Loop thread only. */
#ifndef SERVER_PAGE_ACCESS_H
#define SERVER_PAGE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct json_writer;
struct page_access;
struct page_device;

enum { PAGE_CODE_SIZE = 33, PAGE_TOKEN_SIZE = 65 };

/* token: a bearer that is good as long as the process runs, and as a code as often as it is shown; NULL: none. */
struct page_access *page_access_create(const char *token);
void page_access_destroy(struct page_access *access); /* NULL is fine */

void page_access_make_code(struct page_access *access, char ret[PAGE_CODE_SIZE]);
/* Spends a code for a new device, whose token is written to ret. NULL: the code is wrong, was used or is too old. If
 * there are LIMIT_PAGE_DEVICES already, *ret_evicted is the one that was idle longest, which is to be signed out. */
struct page_device *page_access_sign_in(struct page_access *access, struct str code, struct str name,
                                        char ret[PAGE_TOKEN_SIZE], struct page_device **ret_evicted);
/* Returns the device with this token; for the fixed token one that is in no list. NULL: it belongs to none. */
struct page_device *page_access_find(struct page_access *access, struct str token);
struct page_device *page_access_find_id(struct page_access *access, struct str id);
void page_access_seen(struct page_device *device);
/* Frees a device, whose token is dead from now on; the one of the fixed token stays. */
void page_access_sign_out(struct page_access *access, struct page_device *device);
const char *page_device_id(const struct page_device *device);
const char *page_device_name(const struct page_device *device); /* on one line, without control characters */
/* Writes a list of objects with id, name, since, last_seen (Unix seconds) and current. */
void page_access_write(const struct page_access *access, const struct page_device *current, struct json_writer *w);

/* Notes a wrong code or token. Returns 0, or the seconds to wait if there were more than LIMIT_PAGE_ATTEMPTS in
 * LIMIT_PAGE_ATTEMPTS_MS. */
unsigned page_access_fail(struct page_access *access);

#endif
