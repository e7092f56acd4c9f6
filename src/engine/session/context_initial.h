/* context_initial.h — what the model is told about its surroundings before the user's words (core 1.3). */
#ifndef ENGINE_CONTEXT_INITIAL_H
#define ENGINE_CONTEXT_INITIAL_H

struct context;
struct session;
struct settings;

/* Before a Task's input: everything at the first Task of a session, later only what changed. */
void context_tell_settings(struct session *session, struct settings *settings);
/* Everything, as at a first Task, into a history that is still being made. */
void context_write_settings(struct context *fresh, struct session *session, const struct settings *settings);
/* After an interrupt: a marker, so that the model knows why its work stops short. */
void context_tell_abort(struct session *session);

#endif
