/* preamble.h — what the model is told about its surroundings before the user's words (core 1.3). */
#ifndef ENGINE_PREAMBLE_H
#define ENGINE_PREAMBLE_H

struct context;
struct conversation;
struct settings;

/* Before a Task's input: everything at the first Task of a session, later only what changed. */
void preamble_update(struct conversation *conversation, struct settings *settings);
/* Everything, as at a first Task, into a history that is still being made. */
void preamble_write(struct context *fresh, struct conversation *conversation, const struct settings *settings);
/* After an interrupt: a marker, so that the model knows why its work stops short. */
void preamble_add_abort(struct conversation *conversation);

#endif
