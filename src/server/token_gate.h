/* token_gate.h — a connection that must show a token before anything else of it is read.
 *
 * The first line has to be {"token":"…"}, at most LIMIT_TOKEN_LINE bytes and within LIMIT_TOKEN_MS; there is one try.
 * What follows that line stays in the socket for whoever serves the connection. A refusal is an error event, and comes
 * LIMIT_TOKEN_REFUSE_MS late, so that guessing is slow. Owns: the descriptor while it waits. Loop thread only. */
#ifndef SERVER_TOKEN_GATE_H
#define SERVER_TOKEN_GATE_H

struct loop;
struct token_gate;

/* fd: the connection, now the callee's; -1: it was refused and is closed. Destroy the gate in it or later. */
typedef void (*token_gate_done_fn)(int fd, void *self);

/* fd: a connected socket that does not block; token: borrowed. on_done runs once, from the loop. */
struct token_gate *token_gate_create(struct loop *loop, int fd, const char *token, token_gate_done_fn on_done,
                                     void *self);
void token_gate_destroy(struct token_gate *gate); /* closes a connection that still waits; NULL is fine */

#endif
