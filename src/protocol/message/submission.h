/* submission.h — a request to the engine: an id chosen by the front end, and an Op.
 * Owns: everything in it, in one arena. */
#ifndef PROTOCOL_SUBMISSION_H
#define PROTOCOL_SUBMISSION_H

#include "base/arena.h"
#include "base/list.h"
#include "protocol/record/types.h"

struct error;

struct submission {
	struct str id;
	struct op op;
	struct str mode_word; /* the mode in op.collaboration_mode as written by the client; absent if it has none */
	/* private */
	struct list link; /* in a submission queue */
	struct arena arena;
};

/* A deep copy of id and op. */
struct submission *submission_create(struct str id, const struct op *op);
/* From one JSON text {"id":…,"op":…}; NULL and err if it is invalid. */
struct submission *submission_decode(struct str json, struct error *err);
void submission_destroy(struct submission *submission);

#endif
