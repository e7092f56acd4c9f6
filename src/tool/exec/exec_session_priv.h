/* exec_session_priv.h — one command of unified exec, from its start until somebody has read its end (core 3).
 * Private to exec_session.c and exec_session_tools.c.
 *
 * At most LIMIT_EXEC_SESSIONS of them a Session: when one more starts, an ended one goes, or else the one
 * not used for longest; the EXEC_PROTECTED used last are spared. */
#ifndef TOOL_EXEC_SESSION_PRIV_H
#define TOOL_EXEC_SESSION_PRIV_H

#include "base/list.h"
#include "process/output.h"
#include "tool/exec/exec_command.h"
#include "tool/exec/exec_session.h"

struct loop_timer;

struct exec_sessions {
	struct tool_host *host;
	struct list all; /* in the order of their last use */
	size_t count;
};

/* True: that end does not count. The session was rewound, and is or may be started again; or it is gone. */
struct exec_session;
typedef bool (*exec_session_ended_fn)(struct exec_session *session, const struct process_result *result);

struct exec_session {
	struct list link;
	struct exec_sessions *sessions;
	int64_t id; /* what the model calls it: 1000 to 99999 */
	char id_text[24];
	struct exec_command command;
	bool has_ended;
	int exit_code;
	bool is_answered;         /* at least once: until then all of the transcript is unread */
	struct output unread;     /* since the last answer */
	struct output transcript; /* of the whole command; at its end it becomes `text` */
	struct buf text;          /* told as the end, then answered with if there was no answer before */
	struct tool_call *waiter; /* the call that waits for output, or NULL */
	struct str typed;         /* by it, and not yet told */
	struct loop_timer *skim;  /* runs while output goes by unread */
	bool is_skimming;
	size_t read_on;           /* bytes to be read before the next skimming, unless a read is short */
	bool is_due;              /* an answer waits for what is in the pipe: no skimming */
	struct loop_timer *timer; /* ends the waiter's wait */
	uint64_t yield_ms;        /* of that wait */
	uint64_t wait_started_ns;
	int64_t max_tokens;
	bool has_terminal;                  /* of its own, in which write_stdin types */
	exec_session_ended_fn on_early_end; /* asked while the first answer is waited for; may be NULL */
};

/* A new one for a call of exec_command, registered and not started; makes room first. argv as exec_command_init. */
struct exec_session *exec_session_create(struct exec_sessions *sessions, struct tool_call *call,
                                         const char *const *argv, struct str workdir);
/* NULL if there is none of that id. Counts as a use. */
struct exec_session *exec_session_find(struct exec_sessions *sessions, int64_t id);
/* Kills what runs and frees it, without events. */
void exec_session_destroy(struct exec_session *session);

/* Starts the command and lets call wait for it as exec_session_wait does, from the start of its process on. */
void exec_session_start(struct exec_session *session, struct tool_call *call, uint64_t yield_ms, int64_t max_tokens);
/* Back to before the start; nobody waits. */
void exec_session_rewind(struct exec_session *session);
/* Lets call wait for output until yield_ms have passed or the command has ended; it then finishes with the answer. */
void exec_session_wait(struct exec_session *session, struct tool_call *call, uint64_t yield_ms, int64_t max_tokens);
/* The call is gone: nobody waits any more. */
void exec_session_unwait(struct exec_session *session);

#endif
