/* preamble.h — writes the messages before the user's input: permissions, AGENTS.md, environment, mode, skills.
 * Private to engine/. Loop thread only. */
#ifndef ENGINE_PREAMBLE_H
#define ENGINE_PREAMBLE_H

struct context;
struct conversation;
struct settings;

/* Adds messages before a task's input: all of them for the first task of a session, later those that have changed. */
void preamble_update(struct conversation *conversation, struct settings *settings);
/* Adds all messages, as for a first task, to a history that will replace the conversation's. */
void preamble_write(struct context *fresh, struct conversation *conversation, const struct settings *settings);
/* Adds a message about an interrupt, which explains the unfinished work to the model. */
void preamble_add_abort(struct conversation *conversation);

#endif
