/* mock_model.h — a scripted model: a Responses server for demos, tests and benchmarks (docs/mock-model.md).
 *
 * Owns: the script, the listening socket, the running exchanges, the record. Borrows: the loop.
 * Thread: loop only. POST …/responses takes a reply from the script; POST …/gate/NAME opens a gate; other requests are
 * answered with 404. A request that does not match the script is answered with 400 (500 if no reply is left), reported
 * and counted. */
#ifndef SERVER_MOCK_MODEL_H
#define SERVER_MOCK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct loop;
struct mock_model;

typedef void (*mock_model_note_fn)(const char *text, void *self);

struct mock_options {
	const char *script_path;    /* a file; NULL: use script */
	struct str script;          /* the text of the script, copied */
	const char *host;           /* a numeric address; NULL: 127.0.0.1 */
	uint16_t port;              /* 0: any free port */
	bool allow_remote;          /* host need not be a loopback address */
	const char *record_path;    /* NULL: requests are not recorded */
	mock_model_note_fn on_note; /* receives reports of mismatches; may be NULL */
	void *self;
};

must_check struct mock_model *mock_model_create(struct loop *loop, const struct mock_options *options,
                                                struct error *err);
/* Closes all connections. NULL is a no-op. */
void mock_model_destroy(struct mock_model *mock);

uint16_t mock_model_port(const struct mock_model *mock);
/* Returns the number of requests to POST …/responses so far. */
uint64_t mock_model_requests(const struct mock_model *mock);
/* Returns the number of those that did not match the script. */
uint64_t mock_model_failures(const struct mock_model *mock);

#endif
