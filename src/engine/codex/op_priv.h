/* op_priv.h — the handlers of Ops: on_op_<tag>. Private to op*.c. */
#ifndef ENGINE_OP_PRIV_H
#define ENGINE_OP_PRIV_H

#include "engine/codex/codex_data.h"
#include "engine/codex/op.h"

#define OP(tag, wire, record, doc) void on_op_##tag(struct codex *codex, const struct submission *submission);
#define OP_UNIT(tag, wire, doc) void on_op_##tag(struct codex *codex, const struct submission *submission);
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"

/* Emits an error event for a submission that is not carried out. info is CodexErrorInfo as JSON. */
void op_refuse(struct codex *codex, const struct submission *submission, const char *info, const char *message);
/* As op_refuse, with bad_request. */
void op_refuse_request(struct codex *codex, const struct submission *submission, const char *message);

#endif
