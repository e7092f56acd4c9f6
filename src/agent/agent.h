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

enum { AGENT_SUMMARY_LENGTH = 80 }; /* number of characters of a prompt that are its summary */

/* How an agent's last work ended; agent_outcome_none while it works. */
struct agent_result {
	enum agent_outcome outcome;
	char *text; /* its last message, the reason, or the error; may be NULL */
};

struct agent {
	/* read-only */
	struct agent_tree *tree;
	struct agent *parent; /* NULL for the root */
	uint64_t id;          /* 0 for the root */
	unsigned depth;       /* 0 for the root */
	char session_id[UUID_TEXT_SIZE];
	enum subagent_origin origin;
	enum subagent_status status;
	char *label;   /* the parent's name for it, or NULL */
	char *role;    /* the name of its role in the configuration, or NULL */
	char *summary; /* start of its latest prompt, or NULL */
	char *header;  /* the headline of its latest reasoning, or NULL */
	int64_t started_at_ms;
	uint64_t initial_messages; /* number of messages that it inherited */
	struct agent_inbox inbox;
	struct agent_log log;
	struct agent_result result;
	bool is_shut; /* the agent was closed, not only stopped */
	/* Used by engine/: its session; NULL if it is not loaded. */
	void *session;
	/* the model that it was started with; NULL: started by an earlier process */
	char *model;
	enum reasoning_effort effort;       /* the effort that it was started with, or else the model's default */
	const struct agent_message *taking; /* the message whose removal is being emitted; else NULL */
	/* private */
	struct list link;       /* a node of the tree, sorted by id */
	struct buf header_text; /* reasoning that is searched for a headline */
	bool has_header;        /* a headline was found for the current work */
	unsigned aborts_due;    /* number of pending turn_aborted events that do not end its work */
};

/* The parameters of a new agent. */
struct agent_launch {
	enum subagent_origin origin;
	struct str prompt; /* blank: the agent waits for a prompt */
	struct str label;
	struct str role;     /* a role of the configuration; STR_NONE: none */
	struct str model;    /* STR_NONE: its parent's */
	struct str effort;   /* STR_NONE: its parent's */
	bool has_own_label;  /* a role does not give it another one */
	bool has_own_model;  /* the model comes from the configuration, so it may be unknown */
	bool has_own_effort; /* likewise: any word, which is sent as it is */
	bool has_sandbox;
	enum sandbox_mode sandbox;
	/* With a history: the call that requested the fork. In the child's copy, that call has an output of its own. */
	bool shares_history;
	bool tells_role; /* that output informs the child of its role */
	struct str call_id, arguments;
	const char *tool; /* the called tool, for errors, unless it is one of subagent_*; else NULL */
	/* Replaces a text prompt; borrowed during the call. */
	const struct user_input *items;
	size_t item_count;
};

/* Operations on the sessions of agents, implemented by engine/. */
struct agent_ops {
	/* Sets the label that its role gives to a new agent, if any, before its first event. May be NULL. */
	void (*name)(struct agent *agent, const struct agent_launch *launch);
	/* Creates the agent's session, sets session_id and initial_messages, and submits the prompt. */
	int (*open)(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err);
	/* Loads the session of an agent from its rollout. */
	int (*reopen)(struct agent *agent, void *self, struct error *err);
	/* Called when the inbox is not empty. The session takes the messages later, never within this call. */
	void (*deliver)(struct agent *agent, void *self);
	/* Interrupts the agent's task; false if no task runs. turn_aborted follows later, never within this call. */
	bool (*interrupt)(struct agent *agent, void *self);
	/* Closes the agent's session. Must not block. */
	void (*close)(struct agent *agent, void *self);
	/* Emits an event about the agent to its parent's rollout and to the root's front end. */
	void (*emit)(struct agent *about, enum event_tag tag, const void *body, void *self);
};

struct agent_tree_options {
	struct loop *loop;           /* borrowed */
	const struct agent_ops *ops; /* borrowed */
	void *self;
	const char *root_session; /* id of the root's session */
	size_t max_active;
	unsigned max_depth;
	uint64_t clock_scale; /* factor by which timers run faster; 1: normal */
	bool keeps_places;    /* ended agents count as active until they are pruned */
};

struct agent_tree {
	/* read-only */
	struct agent *root;
	struct list agents; /* sorted by id, including the root */
	size_t count;       /* number of subagents */
	uint64_t next_id;
	/* private */
	struct agent_tree_options options;
	struct list waits, watchdogs;
};

/* The part of a wait that agent.c needs to wake it; agent_wait.c has the other members. */
struct agent_waiter {
	struct list link; /* a node of the tree's waits */
	struct agent *waiter;
	struct loop_deferred look; /* looks for news on the loop */
};

/* Returns NULL if there is no such agent. */
struct agent *agent_tree_find(const struct agent_tree *tree, uint64_t id);
struct agent *agent_tree_find_session(const struct agent_tree *tree, struct str session_id);
/* True if fewer than max_active agents are active. */
bool agent_tree_has_place(const struct agent_tree *tree);
/* True if `agent` is `above` or a descendant of it. */
bool agent_is_below(const struct agent *agent, const struct agent *above);
/* Converts delay_ms to the tree's clock. */
uint64_t agent_tree_delay(const struct agent_tree *tree, uint64_t delay_ms);

const struct agent *agent_root(const struct agent *agent);
/* True if the agent is queued, running or ready: it then counts towards max_active. */
bool agent_is_active(const struct agent *agent);
/* Writes a name for people: the label, else "agent-<id>". */
void agent_write_name(const struct agent *agent, struct buf *out);

/* Writes its path: "/root", with the names of the agents below it. */
void agent_write_path(const struct agent *agent, struct buf *out);

/* ---- changes; each emits an event if a value did change ---- */

void agent_set_status(struct agent *agent, enum subagent_status status);
/* Sets the label; no-op if the text is blank. */
void agent_set_label(struct agent *agent, struct str label);
void agent_set_summary(struct agent *agent, struct str prompt);
/* Appends to the agent's reasoning summary, in which the first words in bold become its header. */
void agent_add_thinking(struct agent *agent, struct str text);
/* Begins new work; clears the old result. */
void agent_begin(struct agent *agent);
/* To be called when a task of the agent has started; the agent may have been canceled before. */
void agent_note_start(struct agent *agent);
/* Ends the agent's work: posts the result to its parent's inbox and wakes waits. */
void agent_end(struct agent *agent, enum agent_outcome outcome, struct str text);

/* Puts a message into the agent's inbox. from: the sender's id. ERR_limit: the inbox is full, or the text too long. */
must_check int agent_post(struct agent *agent, uint64_t from, bool is_interrupt, struct str prompt, struct error *err);
/* As agent_post, but the message begins no turn of an idle agent. */
must_check int agent_post_quiet(struct agent *agent, uint64_t from, struct str prompt, struct error *err);
/* Takes the next message, interrupts first; NULL if the inbox is empty. The caller destroys it. */
struct agent_message *agent_take(struct agent *agent);
/* As agent_take, but the oldest message of one sender. */
struct agent_message *agent_take_from(struct agent *agent, uint64_t sender);

/* Wakes the waits of this agent, for which there may be news. */
void agent_waits_wake(struct agent *waiter);

/* Returns the text with white space collapsed and trimmed; NULL if nothing is left. */
char *agent_tidy(struct str text);

#endif
