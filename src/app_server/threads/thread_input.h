/* thread_input.h — the input of a turn: checked, converted for the engine and submitted. Loop thread only. */
#ifndef APP_SERVER_THREAD_INPUT_H
#define APP_SERVER_THREAD_INPUT_H

#include "base/error.h"
#include "protocol/message/app.h"

struct rpc_error;
struct rpc_request;
struct thread;
struct thread_turn;

/* Returns NULL, or the error for a thread that is not loaded (NULL), or for an input that is too long. */
must_check const struct rpc_error *thread_input_check(struct rpc_request *request, const struct thread *thread,
                                                      struct str thread_id, const struct app_user_input *input,
                                                      size_t count);
/* Fills the items of an Op; they refer to the input and the arena. */
must_check int thread_input_copy(const struct app_user_input *from, size_t count, struct arena *arena,
                                 struct op_user_input *to, struct error *err);
/* Submits the input under this id. client_id: the client's name for it, or STR_NONE. */
must_check int thread_input_submit(struct thread *thread, const struct op_user_input *input, struct str id,
                                   struct str client_id, struct error *err);
/* Submits the input as a new turn; the thread must have none. */
must_check struct thread_turn *thread_input_start(struct thread *thread, const struct op_user_input *input,
                                                  struct str client_id, struct error *err);

#endif
