/* exec_link.h — a connection to an exec-server: JSON-RPC in the messages of a WebSocket.
 *
 * Each command and each question has a link of its own: a server that floods one of them, or does not read, disturbs no
 * other, and a link that is paused stops its sender. The server is not trusted: messages that are no JSON, or longer
 * than LIMIT_ENVIRONMENT_MESSAGE, end the link; at most LIMIT_ENVIRONMENT_STRAY that nothing waits for are ignored, of
 * LIMIT_WEBSOCKET_MESSAGE bytes together; an answer must come within LIMIT_ENVIRONMENT_ANSWER_MS.
 *
 * A link that is kept connects again when its connection is lost, and resumes its session at the server, at most for
 * LIMIT_ENVIRONMENT_RESUME_MS until a request has an answer. A session that the server no longer knows ends the link.
 *
 * Owns: the WebSocket. Holds a reference to its environment. Loop thread only. No callback runs inside a call to this
 * module; the link may be closed in any of them. */
#ifndef REMOTE_EXEC_LINK_H
#define REMOTE_EXEC_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct environment;
struct error;
struct exec_link;
struct json;

struct exec_link_handler {
	/* Requests can be sent. Called again when the session was resumed: requests without an answer get none. */
	void (*on_ready)(void *self);
	/* result is NULL if the server has refused the request, with err (ERR_not_found: no such file). Both are
	 * borrowed. */
	void (*on_answer)(int64_t id, const struct json *result, const struct error *err, void *self);
	/* False, with the link still open: nothing waits for it. */
	bool (*on_notify)(struct str method, const struct json *params, void *self);
	/* Called once, last, when the link could not be opened or was lost. It must still be closed. */
	void (*on_end)(const struct error *err, void *self);
};

/* handler must live as long. Never NULL. */
struct exec_link *exec_link_open(struct environment *environment, const struct exec_link_handler *handler, void *self);
/* Sends a request, after on_ready, and returns its id. method is a constant, params JSON. */
int64_t exec_link_request(struct exec_link *link, const char *method, struct str params);
/* From now on the session is resumed when the connection is lost. No-op if the server has named no session. */
void exec_link_keep(struct exec_link *link);
/* False before on_ready, and while the session is being resumed. */
bool exec_link_is_ready(const struct exec_link *link);
/* Allows a message with a file, of at most LIMIT_WEBSOCKET_MESSAGE, until this is called with false. */
void exec_link_allow_file(struct exec_link *link, bool is_allowed);
/* Stop and restart callbacks; a message that has arrived with the current one may still follow. */
void exec_link_pause(struct exec_link *link);
void exec_link_resume(struct exec_link *link);
/* Closes it, after an attempt to send what is queued; no callback follows. NULL is fine. */
void exec_link_close(struct exec_link *link);

/* ---- one question, over a link of its own ---- */

struct exec_question;

/* Called once, later. result is borrowed, and NULL with err. The question must still be cancelled. */
typedef void (*exec_question_fn)(const struct json *result, const struct error *err, void *self);

/* Sends a request without parameters; method is a constant. Never NULL. */
struct exec_question *exec_question_start(struct environment *environment, const char *method, exec_question_fn on_done,
                                          void *self);
/* Ends the question; on_done does not follow. May be called in on_done. NULL is fine. */
void exec_question_cancel(struct exec_question *question);

#endif
