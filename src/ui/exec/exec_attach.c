/* The last request is answered before the next one is looked at, because the answer removes it from the list. */
#include "ui/exec/exec_attach.h"

#include "attach/attach_frame.h"
#include "attach/attach_point.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex/codex.h"

struct exec_attach {
	struct attach_point *point;
	struct codex *codex;
	void (*fail)(const char *text, void *self);
	void *self;
};

static void answer(struct exec_attach *attach, uint64_t seq, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	struct error err;
	if (attach_point_answer(attach->point, &op, seq) &&
	    codex_submit_op(attach->codex, STR("refuse"), &op, &err) != 0)
		attach->fail(err.text, attach->self);
}

static void deny(struct exec_attach *attach, const struct event *event, uint64_t seq)
{
	static struct review_decision denied = {.tag = review_decision_denied};
	const struct event_msg *msg = &event->msg;
	if (msg->tag == EV_exec_approval_request) {
		struct op_exec_approval op = {.id = msg->exec_approval_request->call_id, .decision = &denied};
		answer(attach, seq, OP_exec_approval, &op);
	} else if (msg->tag == EV_apply_patch_approval_request) {
		struct op_patch_approval op = {.id = msg->apply_patch_approval_request->call_id, .decision = &denied};
		answer(attach, seq, OP_patch_approval, &op);
	} else if (msg->tag == EV_elicitation_request) {
		struct op_resolve_elicitation op = {.server_name = msg->elicitation_request->server_name,
		                                    .request_id = msg->elicitation_request->id,
		                                    .decision = elicitation_action_decline};
		answer(attach, seq, OP_resolve_elicitation, &op);
	}
}

/* The question of a tool is answered by the engine itself. */
static void deny_all(struct exec_attach *attach)
{
	const struct event *event;
	uint64_t seq;
	for (size_t left = attach_point_pending(attach->point, &event, &seq); left;) {
		size_t before = left;
		deny(attach, event, seq);
		left = attach_point_pending(attach->point, &event, &seq);
		if (left == before)
			return;
	}
}

static int submit(struct str id, const struct op *op, void *asker, void *self, struct error *err)
{
	struct exec_attach *attach = self;
	(void)asker;
	return codex_submit_op(attach->codex, id, op, err);
}

static void on_count(size_t count, void *self)
{
	if (!count)
		deny_all(self);
}

void exec_attach_event(struct exec_attach *attach, const struct event *event)
{
	auto_buf struct buf name;
	buf_init(&name, LIMIT_LINE);
	if (attach_request_id(event).ptr)
		codex_write_asker(attach->codex, event->id, &name);
	attach_point_event(attach->point, event, &(struct attach_asker){.name = buf_str(&name)});
	if (!attach_point_count(attach->point))
		deny_all(attach);
}

struct exec_attach *exec_attach_create(struct loop *loop, const char *home, struct codex *codex,
                                       void (*fail)(const char *text, void *self), void *self)
{
	static const struct attach_owner owner = {.submit = submit, .on_count = on_count};
	struct exec_attach *attach = xnew(struct exec_attach);
	attach->codex = codex;
	attach->fail = fail;
	attach->self = self;
	attach->point = attach_point_create(loop, home, "exec", &owner, attach);
	return attach;
}

void exec_attach_destroy(struct exec_attach *attach)
{
	attach_point_destroy(attach->point);
	free(attach);
}
