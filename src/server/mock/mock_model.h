/* mock_model.h — a model that says what its script says: a Responses server for demos, tests and benches.
 *
 * Owns: the script, the listening socket, the exchanges going on, the record. Borrows: the loop.
 * Thread: loop only. Only POST …/responses takes a reply from the script; POST …/gate/NAME opens a gate; all else is
 * answered 404. A request that does not fit the script is answered 400 (500 when no reply is left), noted and
 * counted. Source: docs/mock-model.md. */
#ifndef SERVER_MOCK_MODEL_H
#define SERVER_MOCK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct loop;
struct mock_model;

typedef void (*mock_model_note_fn)(const char *text, void *self);

struct mock_options {
	const char *script_path;    /* a file; NULL: script */
	struct str script;          /* the script itself, copied */
	const char *host;           /* numeric; NULL: 127.0.0.1 */
	uint16_t port;              /* 0: any that is free */
	bool allow_remote;          /* host need not be a loopback address */
	const char *record_path;    /* NULL: no record */
	mock_model_note_fn on_note; /* says what did not fit; may be NULL */
	void *self;
};

struct mock_model *mock_model_create(struct loop *loop, const struct mock_options *options, struct error *err);
/* Drops all connections. NULL is fine. */
void mock_model_destroy(struct mock_model *mock);

uint16_t mock_model_port(const struct mock_model *mock);
/* Requests to POST …/responses so far. */
uint64_t mock_model_requests(const struct mock_model *mock);
/* Those among them that did not fit the script. */
uint64_t mock_model_failures(const struct mock_model *mock);
/* Lets replies that wait at the gate go on, now and later. */
void mock_model_open_gate(struct mock_model *mock, struct str name);

#endif
