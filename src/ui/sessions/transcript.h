/* transcript.h — writes a session as Markdown: messages, commands with their output, patches; and what other forms
 * share with it. Owns: nothing. Any thread. */
#ifndef UI_TRANSCRIPT_H
#define UI_TRANSCRIPT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct app_item_command_execution;
struct app_item_file_change;
struct app_item_reasoning;
struct app_item_user_message;
struct rollout_meta;
struct thread_history;

void transcript_write(const struct rollout_meta *meta, struct str name, const struct thread_history *history,
                      struct buf *out);

/* A form of transcripts: how it writes each kind of item. */
struct transcript_form {
	void (*user)(struct buf *out, const struct app_item_user_message *message);
	void (*message)(struct buf *out, bool is_plan, struct str text); /* Markdown of the agent */
	void (*reasoning)(struct buf *out, const struct app_item_reasoning *reasoning);
	void (*command)(struct buf *out, const struct app_item_command_execution *command);
	void (*patch)(struct buf *out, const struct app_item_file_change *patch);
	void (*search)(struct buf *out, struct str query);
	void (*note)(struct buf *out, const char *text);
	void (*failure)(struct buf *out, struct str text); /* of a turn */
};

void transcript_append_turns(struct buf *out, const struct transcript_form *form, const struct thread_history *history);
/* Returns the name, or the first line of the first prompt. */
struct str transcript_title(struct str name, const struct thread_history *history);

#endif
