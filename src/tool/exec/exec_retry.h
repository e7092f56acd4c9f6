/* exec_retry.h — a command that its fence has stopped: does it run again without, and what is said of it? (core 2.3)
 * Private to tool/.
 *
 * Nothing here lets a command out on its own: either the user has approved this very command, or is asked now. */
#ifndef TOOL_EXEC_RETRY_H
#define TOOL_EXEC_RETRY_H

#include "sandbox/sandbox_denial.h"
#include "tool/exec/exec_gate.h"

/* Worth a look: the command was inside a fence, and has failed. */
bool exec_retry_is_due(const struct exec_command *command, const struct process_result *result);
/* For a command that ended while call still waits for its first answer; tells the client if the fence stopped it.
 * EXEC_RUN: start it again, it leaves its fence now. EXEC_WAIT: the user was asked; answer runs later, and says with
 * exec_retry_read whether to start it again. EXEC_REFUSED: this end stands. */
enum exec_verdict exec_retry_check(struct exec_command *command, struct tool_call *call,
                                   const struct sandbox_outcome *outcome, tool_answer_fn answer);
/* As exec_gate_read. */
bool exec_retry_read(struct exec_command *command, const struct review_decision *decision);

/* Appends a line for the model if the fence stopped the command; nothing else. */
void exec_retry_note(const struct exec_command *command, struct buf *out);

#endif
