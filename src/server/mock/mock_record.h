/* mock_record.h — logs the scripted model's requests, one JSON line each.
 *
 * Owns: the file. Thread: loop only. Credentials in headers are masked. A line is written before its request is
 * answered, so a client that has the response can read it. */
#ifndef SERVER_MOCK_RECORD_H
#define SERVER_MOCK_RECORD_H

#include <stdint.h>

#include "base/error.h"

struct mock_record;
struct mock_request;

/* Opens path for appending and creates it if it does not exist. */
must_check struct mock_record *mock_record_create(const char *path, struct error *err);
void mock_record_destroy(struct mock_record *record); /* NULL is fine */

/* number: that of the request, from 1, or 0 if it takes no reply of the script. at_ms: time since the start. */
must_check int mock_record_write(struct mock_record *record, uint64_t number, const struct mock_request *request,
                                 uint64_t at_ms, struct error *err);

#endif
