/* exec_gate.h — may this command run, and behind which fence? (core 2.3)
 * Private to tool/. The answer comes at once, or after the user's; never both. */
#ifndef TOOL_EXEC_GATE_H
#define TOOL_EXEC_GATE_H

#include "sandbox/sandbox_denial.h"
#include "tool/exec/exec_command.h"

enum exec_verdict {
	EXEC_RUN,     /* go on */
	EXEC_WAIT,    /* the user was asked; answer runs later */
	EXEC_REFUSED, /* ret_reason says why; for the model */
};

/* What the model asks for beside running it: its arguments sandbox_permissions, justification, prefix_rule. Copied. */
void exec_gate_request(struct exec_command *command, struct str permissions, struct str justification,
                       const struct str *prefix, size_t prefix_count);

/* Registers answer with the host when the user has to be asked. */
enum exec_verdict exec_gate_check(struct exec_command *command, struct tool_call *call, tool_answer_fn answer,
                                  struct buf *ret_reason);

/* Reads an answer: true to go on. Remembers "for the session" and "for good"; interrupts the Task on abort. */
bool exec_gate_read(struct exec_command *command, const struct review_decision *decision);

/* Appends the text a model gets for a command that the user refused. */
void exec_gate_refusal(bool is_unified, struct buf *out);

/* ---- again, outside the sandbox ----
 *
 * Nothing here lets a command out on its own: either the user has approved this very command, or is asked now. */

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
