/* exec_session_priv.h — one command of unified exec, from its start until the model has read its end. Private to
 * exec_session.c and exec_session_tools.c.
 *
 * A session of the engine has at most LIMIT_EXEC_SESSIONS of them. To make room for another one, an ended command is
 * evicted, or else the least recently used one; the last EXEC_PROTECTED used are never evicted. */
#ifndef TOOL_EXEC_SESSION_PRIV_H
#define TOOL_EXEC_SESSION_PRIV_H

#include "base/list.h"
#include "process/output.h"
#include "tool/exec/exec_command.h"
#include "tool/exec/exec_session.h"

struct loop_timer;

struct exec_sessions {
	struct tool_host *host;
	struct list all; /* sorted by last use */
	size_t count;
};

/* Called if a command ends before its first answer. Returns true if the end must not be reported, because the
 * session was rewound for another start, or was destroyed. */
struct exec_session;
typedef bool (*exec_session_ended_fn)(struct exec_session *session, const struct process_result *result);

struct exec_session {
	struct list link;
	struct exec_sessions *sessions;
	int64_t id; /* the number by which the model refers to it: 1000 to 99999 */
	char id_text[24];
	struct exec_command command;
	bool has_ended;
	int exit_code;
	bool is_answered;         /* answered at least once; until then the whole transcript is unread */
	struct output unread;     /* output since the last answer */
	struct output transcript; /* output of the whole command; at the end it becomes `text` */
	struct buf text;          /* the output in the end event, and in the answer if it is the first one */
	struct tool_call *waiter; /* the call that waits for output, or NULL */
	struct str typed;         /* text written by the waiter whose event was not emitted yet */
	struct loop_timer *skim;  /* runs while output is left unread in the pipe */
	bool is_skimming;
	size_t read_on;           /* bytes to read before skimming again, unless a read is shorter */
	bool is_due;              /* an answer needs the output in the pipe, so it is not skimmed */
	struct loop_timer *timer; /* ends the waiter's wait */
	uint64_t yield_ms;        /* duration of that wait */
	uint64_t wait_started_ns;
	int64_t max_tokens;
	bool has_terminal;                  /* the command has a terminal, so write_stdin can type */
	exec_session_ended_fn on_early_end; /* called if the command ends before the first answer; may be NULL */
};

/* Creates a session for a call of exec_command: registered, but not started. Evicts another one if there are too
 * many. argv: see exec_command_init. */
struct exec_session *exec_session_create(struct exec_sessions *sessions, struct tool_call *call,
                                         const char *const *argv, struct str workdir);
/* Returns NULL if the id is unknown. Counts as a use. */
struct exec_session *exec_session_find(struct exec_sessions *sessions, int64_t id);
/* Kills the command if it runs and frees the session, without events. */
void exec_session_destroy(struct exec_session *session);

/* Starts the command; call waits for it as in exec_session_wait, from the start of the process. */
void exec_session_start(struct exec_session *session, struct tool_call *call, uint64_t yield_ms, int64_t max_tokens);
/* Returns to the state before the start. No call may be waiting. */
void exec_session_rewind(struct exec_session *session);
/* Lets call wait for output until yield_ms have passed or the command has ended; it then finishes with the answer. */
void exec_session_wait(struct exec_session *session, struct tool_call *call, uint64_t yield_ms, int64_t max_tokens);
/* Ends the wait of a call that was answered or cancelled. */
void exec_session_unwait(struct exec_session *session);

#endif
