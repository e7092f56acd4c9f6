/* agent.h — the agents of a session: their data, and the changes of one of them.
 *
 * An agent is the root or a subagent with its inbox. It represents a session that runs, has ended, or belonged to an
 * earlier process.
 * Owns: its texts, inbox, log and result. Borrows: its session, which engine/ owns. Loop thread only. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent_inbox.h"
#include "agent/agent_log.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/uuid.h"
#include "loop/loop.h"
#include "protocol/record/types.h"

struct agent_tree;

enum { AGENT_SUMMARY_LENGTH = 80 }; /* characters of a prompt that stand for it */

/* How an agent's last work ended; none: the agent is still at work. */
struct agent_result {
	enum agent_outcome outcome;
	char *text; /* its last message, the reason, or the error; may be NULL */
};

struct agent {
	/* read-only */
	struct agent_tree *tree;
	struct agent *parent; /* NULL: the root */
	uint64_t id;          /* 0: the root */
	unsigned depth;       /* of the root 0 */
	char session_id[UUID_TEXT_SIZE];
	enum subagent_origin origin;
	enum subagent_status status;
	char *label;   /* the parent's name for it, or NULL */
	char *summary; /* start of its latest prompt, or NULL */
	char *header;  /* the headline of its latest reasoning, or NULL */
	int64_t started_at_ms;
	uint64_t initial_messages; /* it inherited */
	struct agent_inbox inbox;
	struct agent_log log;
	struct agent_result result;
	bool is_shut; /* it was closed, and not just stopped */
	/* of engine/: its session; NULL: not loaded */
	void *session;
	char *model;                        /* that it was started with; NULL: by an earlier process */
	enum reasoning_effort effort;       /* likewise, the model's default where none was chosen */
	const struct agent_message *taking; /* the message whose removal is being emitted; else NULL */
	/* private */
	struct list link;       /* in the tree, by id */
	struct buf header_text; /* reasoning in which no headline was found yet */
	bool has_header;        /* of the current work */
	unsigned aborts_due;    /* pending turn_aborted events that do not end its work */
};

/* The parameters of a new agent. */
struct agent_launch {
	enum subagent_origin origin;
	struct str prompt; /* blank: the agent waits for one */
	struct str label;
	struct str model;  /* absent: its parent's */
	struct str effort; /* absent: its parent's */
	bool has_sandbox;
	enum sandbox_mode sandbox;
	/* With a history: the call that asked for the fork. The child's copy has an answer of its own. */
	bool shares_history;
	bool tells_role; /* that answer says that the reader is the child */
	struct str call_id, arguments;
	const char *tool; /* for errors: the called tool, unless it is one of subagent_*; else NULL */
	/* In place of a text prompt; borrowed during the call. */
	const struct user_input *items;
	size_t item_count;
};

/* The sessions of agents, as engine/ implements them. */
struct agent_ops {
	/* Creates its session, sets session_id and initial_messages, and submits the prompt. */
	int (*open)(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err);
	/* Loads the session of an agent from its rollout. */
	int (*reopen)(struct agent *agent, void *self, struct error *err);
	/* Its inbox is not empty. The session takes the messages later, never within this call. */
	void (*deliver)(struct agent *agent, void *self);
	/* Interrupts its task; false: no task runs. turn_aborted follows later, never within this call. */
	bool (*interrupt)(struct agent *agent, void *self);
	/* Closes its session. Must not block. */
	void (*close)(struct agent *agent, void *self);
	/* Emits an event about it to its parent's rollout and to the root's front end. */
	void (*emit)(struct agent *about, enum event_tag tag, const void *body, void *self);
};

struct agent_tree_options {
	struct loop *loop;           /* borrowed */
	const struct agent_ops *ops; /* borrowed */
	void *self;
	const char *root_session; /* its id */
	size_t max_active;
	unsigned max_depth;
	uint64_t clock_scale; /* timers run this many times faster; 1: normal */
	bool keeps_places;    /* ended agents count as active until they are pruned */
};

struct agent_tree {
	/* read-only */
	struct agent *root;
	struct list agents; /* by id; the root among them */
	size_t count;       /* of subagents */
	uint64_t next_id;
	/* private */
	struct agent_tree_options options;
	struct list waits, watchdogs;
};

/* The part of a wait for news that agent.c needs to wake it; agent_wait.c has the rest. */
struct agent_waiter {
	struct list link; /* in the tree */
	struct agent *waiter;
	struct loop_deferred look; /* looks for news */
};

/* NULL: no such agent. */
struct agent *agent_tree_find(const struct agent_tree *tree, uint64_t id);
struct agent *agent_tree_find_session(const struct agent_tree *tree, struct str session_id);
/* Fewer than max_active agents are active. */
bool agent_tree_has_place(const struct agent_tree *tree);
/* True if `agent` is `above` or a descendant of it. */
bool agent_is_below(const struct agent *agent, const struct agent *above);
/* delay_ms on the tree's clock. */
uint64_t agent_tree_delay(const struct agent_tree *tree, uint64_t delay_ms);

const struct agent *agent_root(const struct agent *agent);
/* queued, running or ready: it counts towards max_active. */
bool agent_is_active(const struct agent *agent);
/* A name for people: the label, else "agent-<id>". */
void agent_write_name(const struct agent *agent, struct buf *out);

/* ---- changes; each emits an event if a value did change ---- */

void agent_set_status(struct agent *agent, enum subagent_status status);
/* No-op if the text is blank. */
void agent_set_label(struct agent *agent, struct str label);
void agent_set_summary(struct agent *agent, struct str prompt);
/* Appends to its reasoning summary: the first words in bold become its header. */
void agent_add_thinking(struct agent *agent, struct str text);
/* Begins new work; clears the old result. */
void agent_begin(struct agent *agent);
/* A task of it began; it may have been canceled before this call. */
void agent_note_start(struct agent *agent);
/* Ends its work: posts the result to its parent's inbox and wakes the waits. */
void agent_end(struct agent *agent, enum agent_outcome outcome, struct str text);

/* Puts a message into its inbox. from: the sender's id. ERR_limit: the inbox is full, or the text too long. */
must_check int agent_post(struct agent *agent, uint64_t from, bool is_interrupt, struct str prompt, struct error *err);
/* Takes the next message out, interrupts first; NULL: the inbox is empty. The caller destroys it. */
struct agent_message *agent_take(struct agent *agent);
/* The same, but the oldest of one sender. */
struct agent_message *agent_take_from(struct agent *agent, uint64_t sender);

/* Wakes the waits of this agent: there may be news for it. */
void agent_waits_wake(struct agent *waiter);

/* Whitespace collapsed and trimmed; NULL if nothing is left. */
char *agent_tidy(struct str text);

#endif
