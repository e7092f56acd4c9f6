/* model_assembly.h — makes items of the Responses API from a response of another wire.
 *
 * Text arrives as deltas of a thought or of a message; when the kind changes, the open item is completed. Calls are
 * emitted whole. Owns: the text of the open item, up to LIMIT_SSE_EVENT bytes; a longer one fails the stream. Thread:
 * any, one at a time. */
#ifndef MODEL_MODEL_ASSEMBLY_H
#define MODEL_MODEL_ASSEMBLY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct model_stream;

enum assembly_kind { ASSEMBLY_none, ASSEMBLY_thought, ASSEMBLY_message };

struct model_assembly {
	/* read-only */
	enum assembly_kind open;
	/* private */
	const char *wire;
	struct buf text;
};

/* wire: the name that the items carry; static. */
void model_assembly_init(struct model_assembly *assembly, const char *wire);
void model_assembly_finish(struct model_assembly *assembly);

/* Adds text to the open item of this kind, or opens one. */
void model_assembly_add(struct model_assembly *assembly, struct model_stream *stream, enum assembly_kind kind,
                        struct str text);
/* Opens an item of this kind, even if no text follows. */
void model_assembly_open(struct model_assembly *assembly, struct model_stream *stream, enum assembly_kind kind);
/* Completes the open item. own: members that the wire needs to send the item again, as JSON without braces; may be
 * empty. No-op without an open item. */
void model_assembly_close(struct model_assembly *assembly, struct model_stream *stream, struct str own);

struct assembly_call {
	struct str id;
	struct str name;      /* as the wire's request named it */
	struct str arguments; /* blank: none */
	struct str own;       /* as in model_assembly_close */
};
/* Emits a call; a name of the request is translated back to a namespace and a name. Makes an id if the server sent
 * none. */
void model_assembly_call(const struct model_assembly *assembly, struct model_stream *stream,
                         const struct assembly_call *call);

#endif
