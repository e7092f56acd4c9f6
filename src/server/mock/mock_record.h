/* mock_record.h — the requests that the scripted model has seen, one JSON line each.
 *
 * Owns: the file. Thread: loop only. Credentials in headers are masked.
 * A line is in the file before its request is answered: whoever has the answer can read it. */
#ifndef SERVER_MOCK_RECORD_H
#define SERVER_MOCK_RECORD_H

#include <stdint.h>

struct error;
struct mock_record;
struct mock_request;

/* Appends to path, making it if need be. */
struct mock_record *mock_record_create(const char *path, struct error *err);
void mock_record_destroy(struct mock_record *record); /* NULL is fine */

/* number is the request's, from 1; 0 for one that no reply of the script is for. at_ms counts from the start. */
int mock_record_write(struct mock_record *record, uint64_t number, const struct mock_request *request, uint64_t at_ms,
                      struct error *err);

#endif
