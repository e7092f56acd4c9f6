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

/* Whitespace collapsed and trimmed; NULL if nothing is left. */
char *agent_tidy(struct str text);

#endif
