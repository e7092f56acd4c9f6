/* agent.h — one agent of a session's tree: the root, or a subagent with its inbox (seed 001).
 *
 * An agent is what the tree knows of somebody's Session, whether that runs, is finished, or was of an earlier process.
 * Owns: its texts, its inbox, its log, what became of it. Borrows: the Session behind it, which engine/ owns.
 * Loop thread only. Source: subagents 1, 2. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent_inbox.h"
#include "agent/agent_log.h"
#include "base/buf.h"
#include "base/uuid.h"
#include "loop/loop.h"
#include "protocol/record/types.h"

struct agent_tree;
struct error;

enum { AGENT_SUMMARY_LENGTH = 80 }; /* characters of a prompt that stand for it */

/* How an agent's last piece of work ended; none: it has not ended, or new work has begun. */
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
	char *summary; /* what it was told last, cut, or NULL */
	char *header;  /* what it is thinking about, or NULL */
	int64_t started_at_ms;
	uint64_t initial_messages; /* it inherited */
	struct agent_inbox inbox;
	struct agent_log log;
	struct agent_result result;
	bool is_shut; /* it was closed, and not just stopped */
	/* of engine/: what runs it; NULL: nothing does now */
	void *session;
	char *model;                        /* that it was started with; NULL: by an earlier process */
	enum reasoning_effort effort;       /* likewise, the model's default where none was chosen */
	const struct agent_message *taking; /* what was just taken out, while that is told; else NULL */
	/* private */
	struct list link;       /* in the tree, by id */
	struct buf header_text; /* thinking from which a header may still come */
	bool has_header;        /* of the work at hand */
	unsigned aborts_due;    /* ends of its Tasks to be told yet that are no ends of its work */
};

/* What a new agent is to be. */
struct agent_launch {
	enum subagent_origin origin;
	struct str prompt; /* blank: it waits for one */
	struct str label;
	struct str model;  /* absent: its parent's */
	struct str effort; /* absent: its parent's */
	bool has_sandbox;
	enum sandbox_mode sandbox;
	/* With a history: the call that asks for the fork, which the child sees answered in its own way. */
	bool shares_history;
	bool tells_role; /* the child reads the call as answered for its side of the fork */
	struct str call_id, arguments;
	const char *tool; /* for errors: the name a model knows, if it is not one of subagent_*; else NULL */
	/* In place of a prompt in words; borrowed during the call. */
	const struct user_input *items;
	size_t item_count;
};

/* What the tree asks of the Sessions behind its agents. */
struct agent_ops {
	/* Makes its Session, with its session_id and initial_messages, and gives it the prompt. */
	int (*open)(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err);
	/* Makes the Session of an agent that has none any more, from what is recorded of it. */
	int (*reopen)(struct agent *agent, void *self, struct error *err);
	/* Its inbox has something: to be taken out when the Session can hear it, never within this call. */
	void (*deliver)(struct agent *agent, void *self);
	/* Ends what it works on; false: it works on nothing. Told as turn_aborted later, never within this call. */
	bool (*interrupt)(struct agent *agent, void *self);
	/* Ends its Session. Must take no time. */
	void (*close)(struct agent *agent, void *self);
	/* An event about it, for its parent's record and for the root's front end. */
	void (*tell)(struct agent *about, enum event_tag tag, const void *body, void *self);
};

struct agent_tree_options {
	struct loop *loop;             /* borrowed */
	const struct agent_ops *ops;   /* borrowed */
	void *self;
	const char *root_session;      /* its id */
	size_t max_active;
	unsigned max_depth;
	uint64_t clock_scale;          /* timers run this many times faster; 1: as they should */
	bool keeps_places;             /* ended agents take their place until they are pruned */
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

/* A wait for news, as far as this file wakes it; agent_wait.c has the rest. */
struct agent_waiter {
	struct list link; /* in the tree */
	struct agent *waiter;
	struct loop_deferred look; /* looks for news */
};

/* NULL: no such agent. */
struct agent *agent_tree_find(const struct agent_tree *tree, uint64_t id);
struct agent *agent_tree_find_session(const struct agent_tree *tree, struct str session_id);
/* One more may work. */
bool agent_tree_has_place(const struct agent_tree *tree);
/* True if `agent` stands somewhere below `above`. */
bool agent_is_below(const struct agent *agent, const struct agent *above);
/* What delay_ms means on the tree's clock. */
uint64_t agent_tree_delay(const struct agent_tree *tree, uint64_t delay_ms);

const struct agent *agent_root(const struct agent *agent);
/* queued, running and ready: it takes one of the places for active agents. */
bool agent_is_active(const struct agent *agent);
/* A name for people: the label, else "agent-<id>". */
void agent_write_name(const struct agent *agent, struct buf *out);

/* ---- changes; each is told as an event where something did change ---- */

void agent_set_status(struct agent *agent, enum subagent_status status);
/* Blank: stays as it is. */
void agent_set_label(struct agent *agent, struct str label);
void agent_set_summary(struct agent *agent, struct str prompt);
/* More of a summary of its thinking: the first words in bold become its header. */
void agent_add_thinking(struct agent *agent, struct str text);
/* New work: what became of the old one is forgotten. */
void agent_begin(struct agent *agent);
/* A Task of it has begun; it may have been canceled before that came to be told. */
void agent_note_start(struct agent *agent);
/* Its work ended. Told to its parent's inbox, and to who waits for it. */
void agent_end(struct agent *agent, enum agent_outcome outcome, struct str text);

/* Puts a message into its inbox. from: the sender's id. ERR_limit: the inbox is full, or the text too long. */
int agent_post(struct agent *agent, uint64_t from, bool is_interrupt, struct str prompt, struct error *err);
/* Takes the next message out, interrupts first; NULL: there is none. The caller destroys it. */
struct agent_message *agent_take(struct agent *agent);
/* The same, but the oldest of one sender. */
struct agent_message *agent_take_from(struct agent *agent, uint64_t sender);

/* Wakes the waits of this agent: there may be news for it. */
void agent_waits_wake(struct agent *waiter);

/* Whitespace collapsed and trimmed; NULL if nothing is left. */
char *agent_tidy(struct str text);

#endif
