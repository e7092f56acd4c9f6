/* token_gate.h — authenticates a connection by a token before other input is read.
 *
 * The first line must be {"token":"…"}, at most LIMIT_TOKEN_LINE bytes, within LIMIT_TOKEN_MS; there is one attempt.
 * Input after that line stays in the socket. A refusal is an error event, sent after LIMIT_TOKEN_REFUSE_MS to slow down
 * guessing. Owns: the descriptor until it is passed on. Loop thread only. */
#ifndef SERVER_TOKEN_GATE_H
#define SERVER_TOKEN_GATE_H

struct loop;
struct token_gate;

/* fd is the connection, which the callee owns; -1: it was refused and closed. The gate may be destroyed here or
 * later. */
typedef void (*token_gate_done_fn)(int fd, void *self);

/* fd: a connected, nonblocking socket; token: borrowed. on_done runs once, from the loop. */
struct token_gate *token_gate_create(struct loop *loop, int fd, const char *token, token_gate_done_fn on_done,
                                     void *self);
void token_gate_destroy(struct token_gate *gate); /* closes a pending connection; NULL is a no-op */

#endif
