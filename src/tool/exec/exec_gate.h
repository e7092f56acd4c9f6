/* exec_gate.h — may this command run, and behind which fence? (core 2.3)
 * Private to tool/. The answer comes at once, or after the user's; never both. */
#ifndef TOOL_EXEC_GATE_H
#define TOOL_EXEC_GATE_H

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

/* Puts the question, with this reason for the user, and registers answer. Begins the command if it was not begun,
 * unless the host wants that after the answer: then whoever runs it does. */
struct exec_judgement;
void exec_gate_ask(struct exec_command *command, const struct exec_judgement *judgement, struct str reason,
                   struct tool_call *call, tool_answer_fn answer);
/* The user allowed this very command for the session. */
bool exec_gate_is_approved(const struct exec_command *command);

/* Reads an answer: true to go on. Remembers "for the session" and "for good"; interrupts the Task on abort. */
bool exec_gate_read(struct exec_command *command, const struct review_decision *decision);

/* Appends the text a model gets for a command that the user refused. */
void exec_gate_refusal(bool is_unified, struct buf *out);

#endif
