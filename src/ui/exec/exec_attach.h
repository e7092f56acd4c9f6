/* exec_attach.h — the requests of a session in `codex exec`: its terminal has no user, so they are denied at once,
 * unless another terminal is attached (`codex attach`) and can answer.
 *
 * Owns: the socket. Borrows: the Codex. Loop thread only. */
#ifndef UI_EXEC_ATTACH_H
#define UI_EXEC_ATTACH_H

struct codex;
struct event;
struct exec_attach;
struct loop;

/* home: NULL: the session cannot be attached. fail: called if an answer could not be submitted; text is borrowed. */
struct exec_attach *exec_attach_create(struct loop *loop, const char *home, struct codex *codex,
                                       void (*fail)(const char *text, void *self), void *self);
/* To be called with each event. */
void exec_attach_event(struct exec_attach *attach, const struct event *event);
void exec_attach_destroy(struct exec_attach *attach);

#endif
