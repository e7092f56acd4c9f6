/* exec_gate.h — decides whether a command may run, and whether outside the sandbox. Private to tool/exec.
 *
 * The verdict is returned at once, or passed to a callback after the user's decision; never both. */
#ifndef TOOL_EXEC_GATE_H
#define TOOL_EXEC_GATE_H

#include "sandbox/sandbox_denial.h"
#include "tool/exec/exec_command.h"

enum exec_verdict {
	EXEC_RUN,     /* the command may start */
	EXEC_WAIT,    /* the user was asked; the answer function is called later */
	EXEC_REFUSED, /* *ret_reason is the reason, for the model */
};

/* Sets the call's arguments sandbox_permissions, justification and prefix_rule. Copied. */
void exec_gate_request(struct exec_command *command, struct str permissions, struct str justification,
                       const struct str *prefix, size_t prefix_count);

/* Judges a command. EXEC_WAIT: an approval request is pending, and answer is called with the decision. */
enum exec_verdict exec_gate_check(struct exec_command *command, struct tool_call *call, tool_answer_fn answer,
                                  struct buf *ret_reason);

/* Applies a decision; true if the command may start. Stores approvals for the session and new rules; interrupts the
 * task on abort. */
bool exec_gate_read(struct exec_command *command, const struct review_decision *decision);

/* True if input to the running command must be reviewed: the automatic reviewer has seen its arguments only, and
 * outside the sandbox a shell does what it reads. Users are not asked, as by codex 0.169. */
bool exec_gate_reviews_input(const struct exec_command *command);
/* Requests the approval of the input that the call, of write_stdin, writes to the command. The request shows the text:
 * if the reviewer is switched off meanwhile, the user answers. */
void exec_gate_ask_input(const struct exec_command *command, struct tool_call *call, struct str text,
                         tool_answer_fn answer);

/* Appends the call's output for a command that the user refused. */
void exec_gate_refusal(bool is_unified, struct buf *out);

/* ---- a second run, outside the sandbox: only if the user approved or approves this very command ---- */

/* True if the command ran in the sandbox and failed. */
bool exec_retry_is_due(const struct exec_command *command, const struct process_result *result);
/* Judges a command that ended before its call was answered; emits a background event if the sandbox stopped it.
 * EXEC_RUN: start it again, outside. EXEC_WAIT: an approval request is pending; answer passes the decision to
 * exec_retry_read. EXEC_REFUSED: the end is final. */
enum exec_verdict exec_retry_check(struct exec_command *command, struct tool_call *call,
                                   const struct sandbox_outcome *outcome, tool_answer_fn answer);
/* See exec_gate_read. */
bool exec_retry_read(struct exec_command *command, const struct review_decision *decision);

/* Appends a line for the model if the sandbox stopped the command. */
void exec_retry_note(const struct exec_command *command, struct buf *out);

#endif
