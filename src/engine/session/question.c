/* As with approvals the list is short, one entry for each call that waits. They are apart because an approval is a yes
 * or a no that may be given for good, and what is answered here is text. */
#include "engine/session/question.h"

#include "base/mem.h"
#include "tool/tool.h"

struct question {
	struct list link;
	enum event_tag asks;
	struct tool_call *call;
	tool_reply_fn reply;
};

static void question_destroy(struct question *question)
{
	list_remove(&question->link);
	free(question);
}

void questions_init(struct questions *questions)
{
	list_init(&questions->waiting);
}

void questions_finish(struct questions *questions)
{
	struct question *it;
	while ((it = list_first(&questions->waiting, struct question, link)))
		question_destroy(it);
}

void questions_add(struct questions *questions, enum event_tag asks, struct tool_call *call, tool_reply_fn reply)
{
	struct question *question = xnew(struct question);
	*question = (struct question){.asks = asks, .call = call, .reply = reply};
	list_append(&questions->waiting, &question->link);
}

static struct question *question_find(struct questions *questions, enum event_tag asks, struct str id)
{
	struct question *it;
	list_for_each(it, &questions->waiting, link) {
		if (it->asks == asks && (str_eq(it->call->turn_id, id) || str_eq(it->call->call_id, id)))
			return it;
	}
	return NULL;
}

bool questions_answer(struct questions *questions, enum event_tag asks, struct str id, const void *answer)
{
	struct question *question = question_find(questions, asks, id);
	if (!question)
		return false;
	struct tool_call *call = question->call;
	tool_reply_fn reply = question->reply;
	question_destroy(question);
	reply(call, answer);
	return true;
}

void questions_drop(struct questions *questions, const struct tool_call *call)
{
	struct question *it;
	list_for_each(it, &questions->waiting, link) {
		if (it->call == call)
			question_destroy(it);
	}
}

bool questions_waiting(const struct questions *questions)
{
	return !list_empty(&questions->waiting);
}
