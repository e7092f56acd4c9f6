/* A table from op.def maps each Op to its handler: an Op without one does not compile, unless op.def names the feature
 * that it lacks. */
#include "engine/codex/op.h"

#include <stdio.h>

#include "base/error.h"
#include "engine/codex/agents.h"
#include "engine/codex/op_priv.h"

typedef void (*op_fn)(struct codex *codex, const struct submission *submission);

static const op_fn op_handlers[OP_count] = {
#define OP(tag, wire, record, doc) [OP_##tag] = on_op_##tag,
#define OP_UNIT(tag, wire, doc) [OP_##tag] = on_op_##tag,
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

/* The missing feature of each Op without a handler. */
static const struct op_lack {
	const char *op, *what;
} op_lacks[OP_count] = {
#define OP_LACKS(tag, wire, record, what, doc) [OP_##tag] = {wire, what},
#define OP_UNIT_LACKS(tag, wire, what, doc) [OP_##tag] = {wire, what},
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

void op_refuse(struct codex *codex, const struct submission *submission, const char *info, const char *message)
{
	struct ev_error event = {.message = str_of(message), .codex_error_info = str_of(info)};
	eq_push(&codex->eq, submission->id, EV_error, &event);
}

void op_refuse_request(struct codex *codex, const struct submission *submission, const char *message)
{
	op_refuse(codex, submission, "\"bad_request\"", message);
}

static void refuse_lack(struct codex *codex, const struct submission *submission)
{
	char text[ERROR_TEXT_MAX];
	const struct op_lack *lack = &op_lacks[submission->op.tag];
	snprintf(text, sizeof(text),
	         "This version of Codex has no %s, so it cannot do `%s`. Nothing was changed; the session continues.",
	         lack->what, lack->op);
	op_refuse_request(codex, submission, text);
}

/* Submissions after a shutdown are discarded: shutdown_complete is the last event. */
void op_dispatch(struct codex *codex, const struct submission *submission)
{
	op_fn handler = op_handlers[submission->op.tag];
	if (codex->is_shut_down)
		return;
	if (!codex->session && submission->op.tag != OP_configure_session && submission->op.tag != OP_shutdown)
		op_refuse_request(codex, submission, "No session initialized, expected 'ConfigureSession' as first Op");
	else if (handler)
		handler(codex, submission);
	else
		refuse_lack(codex, submission);
}

/* ---- answers ---- */

/* Call ids come from the provider, and some providers number the calls of each response: the approval of one agent's
 * command must not start the command of another agent. */
enum op_answer op_answer(struct codex *codex, enum event_tag asks, struct str id, const void *body)
{
	struct session *session = codex->session;
	enum pending_kind kind = pending_kind_of(asks);
	if ((pending_find(&session->pending, kind, id) != NULL) + agents_count_pending(codex, kind, id) > 1) {
		session_warn(session, STR(""),
		             "Requests of several agents are pending under `%.*s`; the answer was ignored. Answer with "
		             "the id of the event that asked.",
		             STR_ARG(id));
		return OP_ANSWER_ambiguous;
	}
	bool is_taken = session_answer(session, kind, id, body) || agents_answer(codex, kind, id, body);
	return is_taken ? OP_ANSWER_taken : OP_ANSWER_unknown;
}
