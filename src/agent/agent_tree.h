/* agent_tree.h — the agents of one session: the root and every subagent below it, by number (seed 001).
 *
 * Numbers only go up, also when agents are gone and when the session is resumed. The tree knows nothing of Sessions:
 * it asks for them through agent_ops, which engine/ implements.
 * Owns: its agents, waits and watchdogs. Loop thread only. Source: subagents 1, 4, 7, 10. */
#ifndef AGENT_AGENT_TREE_H
#define AGENT_AGENT_TREE_H

#include "agent/agent.h"

struct error;
struct loop;

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

struct agent_tree *agent_tree_create(const struct agent_tree_options *options);
/* Closes the Sessions of all subagents and forgets them, without telling anybody. */
void agent_tree_clear(struct agent_tree *tree);
/* The same, and the root goes as well: nobody's calls may be waiting any more. NULL is fine. */
void agent_tree_destroy(struct agent_tree *tree);

/* NULL: no such agent. */
struct agent *agent_tree_find(const struct agent_tree *tree, uint64_t id);
struct agent *agent_tree_find_session(const struct agent_tree *tree, struct str session_id);
/* Agents that take a place. */
size_t agent_tree_active(const struct agent_tree *tree);
/* One more may work. */
bool agent_tree_has_place(const struct agent_tree *tree);
/* True if `agent` stands somewhere below `above`. */
bool agent_is_below(const struct agent *agent, const struct agent *above);
/* What delay_ms means on the tree's clock. */
uint64_t agent_tree_delay(const struct agent_tree *tree, uint64_t delay_ms);

/* A new subagent of parent. NULL and err, in the words the model is told. */
struct agent *agent_launch(struct agent *parent, const struct agent_launch *launch, struct error *err);
/* One that an earlier process had: known, and without a Session. */
struct agent *agent_tree_adopt(struct agent_tree *tree, struct agent *parent, const struct subagent_summary *summary);
/* Drops it from the tree without telling anybody; who stands below it must be gone or have another parent. */
void agent_tree_forget(struct agent *agent);
/* Before it gets new work: it has a place, and a Session behind it. */
int agent_wake(struct agent *agent, struct error *err);
/* Ends what it works on without ending it: it waits for the next words. */
void agent_pause(struct agent *agent);
/* Ends it and its Session, and those of all below it; agent_wake brings one back. */
void agent_shut(struct agent *agent);
/* Ends it for good: canceled. No effect on one that has ended. Those below it are canceled as well. */
void agent_cancel(struct agent *agent);
/* Cancels everything below it. */
void agent_cancel_children(struct agent *agent);
/* Forgets it and all below it; their records stay. */
void agent_prune(struct agent *agent);

#endif
