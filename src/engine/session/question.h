/* question.h — calls that wait for words of the client: the user's answers, or what a tool of the client's says.
 *
 * A question is registered before it is told, so an answer can never come too early. Answers find it by what it asks
 * for and by the id of the Task (the oldest first) or of the call.
 * Owns: its entries; borrows the calls. Loop thread only. */
#ifndef ENGINE_QUESTION_H
#define ENGINE_QUESTION_H

#include <stdbool.h>

#include "base/list.h"
#include "base/str.h"
#include "tool/tool_host.h"

struct questions {
	/* private */
	struct list waiting;
};

void questions_init(struct questions *questions);
void questions_finish(struct questions *questions);

/* asks: the event that tells the question. */
void questions_add(struct questions *questions, enum event_tag asks, struct tool_call *call, tool_reply_fn reply);
/* Removes the question and runs its reply. False if nobody asked. */
bool questions_answer(struct questions *questions, enum event_tag asks, struct str id, const void *answer);
/* Forgets every question of that call. */
void questions_drop(struct questions *questions, const struct tool_call *call);
bool questions_waiting(const struct questions *questions);

#endif
