/* preamble.h — the messages before the user's input: permissions, AGENTS.md, environment, mode, skills. Private to
 * engine/. Loop thread only. */
#ifndef ENGINE_PREAMBLE_H
#define ENGINE_PREAMBLE_H

struct context;
struct conversation;
struct settings;

/* Adds the messages before a Task's input: all at the first Task of a session, later those that changed. */
void preamble_update(struct conversation *conversation, struct settings *settings);
/* Adds all messages, as at a first Task, to a history that will replace the conversation's. */
void preamble_write(struct context *fresh, struct conversation *conversation, const struct settings *settings);
/* Adds the marker of an interrupt, which explains the unfinished work to the model. */
void preamble_add_abort(struct conversation *conversation);

#endif
