/* A message is one allocation that includes its text. The two queues are linked lists, because a wait for one sender
 * takes messages from the middle. */
#include "agent/agent_inbox.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

void agent_inbox_init(struct agent_inbox *inbox)
{
	*inbox = (struct agent_inbox){0};
	list_init(&inbox->regular);
	list_init(&inbox->interrupts);
}

void agent_message_destroy(struct agent_message *message)
{
	free(message);
}

void agent_inbox_finish(struct agent_inbox *inbox)
{
	struct agent_message *message;
	while ((message = agent_inbox_take(inbox)))
		agent_message_destroy(message);
}

bool agent_inbox_is_empty(const struct agent_inbox *inbox)
{
	return inbox->regular_count + inbox->interrupt_count == 0;
}

static int check_room(const struct agent_inbox *inbox, const struct agent_message *message, struct error *err)
{
	if (message->outcome != agent_outcome_none)
		return 0; /* results are always accepted */
	if (message->text.len > LIMIT_AGENT_MESSAGE)
		return error_set(err, ERR_limit, "a message may have at most %d KiB; put more into a file",
		                 LIMIT_AGENT_MESSAGE / KIB);
	if (inbox->regular_count + inbox->interrupt_count >= LIMIT_AGENT_INBOX)
		return error_set(err, ERR_limit, "%d messages wait there unread; send more when some have been read",
		                 LIMIT_AGENT_INBOX);
	return 0;
}

int agent_inbox_add(struct agent_inbox *inbox, const struct agent_message *message, struct error *err)
{
	int status = check_room(inbox, message, err);
	if (status != 0)
		return status;
	struct agent_message *copy = xmalloc(sizeof(*copy) + message->text.len + 1);
	*copy = *message;
	char *text = (char *)(copy + 1);
	if (message->text.ptr) {
		memcpy(text, message->text.ptr, message->text.len);
		copy->text = str_n(text, message->text.len);
	}
	text[message->text.len] = '\0';
	copy->order = inbox->arrived++;
	list_append(message->is_interrupt ? &inbox->interrupts : &inbox->regular, &copy->link);
	*(message->is_interrupt ? &inbox->interrupt_count : &inbox->regular_count) += 1;
	return 0;
}

static struct agent_message *take(struct agent_inbox *inbox, struct agent_message *message)
{
	if (!message)
		return NULL;
	list_remove(&message->link);
	*(message->is_interrupt ? &inbox->interrupt_count : &inbox->regular_count) -= 1;
	return message;
}

struct agent_message *agent_inbox_take(struct agent_inbox *inbox)
{
	struct agent_message *first = list_first(&inbox->interrupts, struct agent_message, link);
	return take(inbox, first ? first : list_first(&inbox->regular, struct agent_message, link));
}

/* Returns the oldest message of the sender in both queues. */
static struct agent_message *oldest(const struct agent_inbox *inbox, uint64_t sender)
{
	struct agent_message *found = NULL, *message;
	const struct list *queues[] = {&inbox->interrupts, &inbox->regular};
	for (size_t i = 0; i < 2; i++) {
		list_for_each(message, queues[i], link) {
			if (message->sender == sender && (!found || message->order < found->order))
				found = message;
		}
	}
	return found;
}

struct agent_message *agent_inbox_take_kind(struct agent_inbox *inbox, uint64_t sender, bool is_interrupt)
{
	struct agent_message *message;
	list_for_each(message, is_interrupt ? &inbox->interrupts : &inbox->regular, link) {
		if (message->sender == sender)
			return take(inbox, message);
	}
	return NULL;
}

struct agent_message *agent_inbox_take_from(struct agent_inbox *inbox, uint64_t sender)
{
	return take(inbox, oldest(inbox, sender));
}

const struct agent_message *agent_inbox_find(const struct agent_inbox *inbox, uint64_t sender)
{
	return oldest(inbox, sender);
}

bool agent_inbox_is_quiet(const struct agent_inbox *inbox)
{
	const struct agent_message *message;
	list_for_each(message, &inbox->regular, link) {
		if (!message->is_quiet)
			return false;
	}
	return !inbox->interrupt_count;
}
