/* exec_link.h — a connection to an exec-server: JSON-RPC in the messages of a WebSocket.
 *
 * Each question has a link of its own: a server that floods one of them, or does not answer, disturbs no other. The
 * server is not trusted: messages that are no JSON end the link, unknown ones and answers to nothing are ignored, and
 * an answer must come within LIMIT_ENVIRONMENT_ANSWER_MS.
 *
 * Owns: the WebSocket. Holds a reference to its environment. Loop thread only. */
#ifndef REMOTE_EXEC_LINK_H
#define REMOTE_EXEC_LINK_H

struct environment;
struct error;
struct exec_question;
struct json;

/* Called once, later. result is borrowed, and NULL with err. The question must still be cancelled. */
typedef void (*exec_question_fn)(const struct json *result, const struct error *err, void *self);

/* Sends a request without parameters; method is a constant. Never NULL. */
struct exec_question *exec_question_start(struct environment *environment, const char *method, exec_question_fn on_done,
                                          void *self);
/* Ends the question; on_done does not follow. May be called in on_done. NULL is fine. */
void exec_question_cancel(struct exec_question *question);

#endif
