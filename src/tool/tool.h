/* tool.h — one call of a tool by the model, from its arguments to the output for the model.
 *
 * A tool's start function reads call->args and either finishes at once or keeps the call and finishes later;
 * tool_call_finish is called exactly once unless the call is cancelled before. The creator's on_done is called from
 * the loop, never inside start. Loop thread only. */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "loop/loop.h"
#include "tool/tool_args.h"
#include "tool/tool_host.h"

enum tool_tag {
#define TOOL(name, wire, args, flags) TOOL_##name,
#include "tool/tool.def"
#undef TOOL
	TOOL_count
};

enum tool_flags {
	TOOL_PARALLEL = 1,
	TOOL_FREEFORM = 2,
	TOOL_OF_AGENTS = 4,
	TOOL_NAMES_ARGUMENTS = 8,
	TOOL_OF_COLLAB = 16,
	TOOL_OF_SHELL = 32,
	TOOL_IN_REVIEW = 64,
	TOOL_OF_CODE = 128,
	TOOL_OF_TEAM = 256,
	TOOL_OF_CLOCK = 512, /* exists for models of the gpt-6 family only */
};
#define TOOL_FUNCTIONS "functions"   /* the namespace of tools without one in the lite form of requests */
#define TOOL_AGENTS "multi_agent_v1" /* the namespace in which the tools flagged OF_AGENTS are offered */
#define TOOL_TEAM "collaboration"    /* that of the tools flagged OF_TEAM */

struct tool_type {
	const char *wire;
	const struct record *args;
	unsigned flags;
	const struct str *description; /* the content of spec/<name>.md */
	void (*start)(struct tool_call *call);
};

typedef void (*tool_done_fn)(struct tool_call *call, void *self);

struct tool_call {
	/* read-only */
	const struct tool_type *type;       /* NULL: no such tool */
	const struct dynamic_tool *dynamic; /* the client's tool that is called; else NULL */
	struct {
		const struct mcp_offered *offered;     /* the MCP server's tool that is called */
		void (*start)(struct tool_call *call); /* NULL: another kind of tool is called */
		bool is_parallel;
		bool is_approving; /* the request that the tool makes now is for approval of the call */
	} mcp;
	struct tool_host *host;
	struct environment *environment; /* where it acts; NULL: on this machine. Owned */
	const char *cwd;                 /* its folder there */
	struct str turn_id;              /* id of the task that made the call */
	struct str call_id;
	struct str namespace; /* of a tool that is not built in; may be STR_NONE */
	struct str name;
	struct str input;  /* arguments as JSON text, or the raw text of a custom tool */
	bool is_custom;    /* the call came as custom_tool_call */
	bool is_search;    /* the call came as tool_search_call, and is answered by tool_search_output */
	bool is_twin;      /* an earlier call of the response has the same id, which names requests and items: both must
	                    * not run at the same time */
	const void *args;  /* a decoded record of the type */
	bool is_blocked;   /* a hook has blocked the call: it was not started */
	struct str denial; /* the reason of a hook or the reviewer that denied the call's request; STR_NONE: none */
	bool is_denial_shown; /* front ends have an event with it */
	bool is_finished;
	bool is_success;
	struct buf output;    /* UTF-8 text for the model */
	struct buf recorded;  /* text for the session's file in place of output; empty: output */
	struct buf parts;     /* the output as a JSON array of texts and images, in place of output; often empty */
	bool is_nested;       /* a script has made the call: the tool sets value, if it has one */
	struct buf value;     /* the JavaScript value for that script as JSON; often empty */
	struct buf follow_up; /* further input items for the model: JSON, comma-separated; often empty */
	uint64_t started_ns;
	/* Private to the tool: */
	void *state;
	void (*stop)(struct tool_call *call); /* set together with state: ends the work of a cancelled call */
	/* Private to tool.c: */
	struct arena arena;
	struct loop_deferred done;
	tool_done_fn on_done;
	void *self;
};

/* Returns the row of a wire name; NULL if it does not exist. */
const struct tool_type *tool_find(struct str wire);
const struct tool_type *tool_get(enum tool_tag tag);

/* The call as the model sent it. */
struct tool_call_words {
	struct str call_id;
	struct str namespace; /* STR_NONE: none */
	struct str name;
	struct str input;
	bool is_custom, is_search;
};

/* Copies the words. on_done is called once after tool_call_start, unless the call is destroyed before. */
struct tool_call *tool_call_create(struct tool_host *host, const struct tool_call_words *words, tool_done_fn on_done,
                                   void *self);
void tool_call_start(struct tool_call *call);
/* True if the call may run at the same time as others of its response. */
bool tool_call_is_parallel(const struct tool_call *call);
/* Cancels the call if it still runs, without on_done. NULL is fine. */
void tool_call_destroy(struct tool_call *call);

/* For tools: ends the call. Text is made valid UTF-8 and copied; success is false for a failed call. */
void tool_call_finish(struct tool_call *call, bool success, struct str text);
void tool_call_finishf(struct tool_call *call, bool success, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Notes for the host's watch a decision about the call, a command or patch. */
void tool_call_note_decision(const struct tool_call *call, const char *decision, const char *source);
/* Notes that it runs without a question. is_known: the user has approved it for the session before. */
void tool_call_note_allowed(const struct tool_call *call, bool is_known);
/* For tools: emits, if the host reports refusals, what was refused before it began, and why (may be empty). */
void tool_call_report_refusal(const struct tool_call *call, struct str what, struct str reason);
/* For tools: takes the place that the call names. False if the call was ended, because there is no such one. */
bool tool_call_choose(struct tool_call *call, struct str environment_id);
/* For tools: emits EV_item_started or EV_item_completed with an item of the call's turn. */
void tool_call_emit_item(struct tool_call *call, enum event_tag tag, struct turn_item *item);
/* For tools: ends the call with the content of call->output. */
void tool_call_finish_output(struct tool_call *call, bool success);

#endif
