/* rollout_reader.h — a session as its file tells it: what a resume needs.
 *
 * Reads files of 2025, of January 2026 and the numbered ones of 0.169, alone or mixed, following
 * history_base into the files a fork goes on from. Damaged, unknown and oversized lines are passed over and
 * counted, never fatal; what is left is what the reference would restore as well.
 *
 * Owns: the bytes of the files; every slice here lives as long as the reader. Blocking: read it at
 * start-up or on a worker. Any thread, one at a time.
 * Errors: ERR_not_found, ERR_invalid ("empty session file", no session_meta), ERR_limit.
 * Source: core 10 and 11, app-server-wire 20, docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_READER_H
#define ROLLOUT_ROLLOUT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "rollout/rollout_item.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_meta.h"

struct error;
struct rollout_segment;

/* What a line is to the turns of a session. */
enum rollout_role {
	ROLLOUT_PART,     /* of the turn it stands in */
	ROLLOUT_USER,     /* a message by the user: a turn begins */
	ROLLOUT_PREAMBLE, /* sets the scene for the message that follows */
};

struct rollout_record {
	enum rollout_line_type type : 8;
	enum rollout_role role : 4;
	enum rollout_call call : 4; /* what a response_item is to a call, and to which */
	bool is_numbered : 1;       /* the line has an ordinal: what is told in old words is told as an item, too */
	bool is_replacement : 1;    /* a compacted line that brings its own history */
	uint32_t segment;           /* which of the files the line stands in */
	uint32_t end;               /* bytes of that up to its end; 0: nobody can say */
	struct str call_id;
	struct str payload; /* JSON; of a response_item: as a request may carry it */
	int64_t at_ms;      /* when it was written, Unix; 0: nobody knows */
	uint64_t ordinal;   /* if is_numbered */
};

/* A response that can be gone back to. */
struct rollout_mark {
	struct str response_id;
	size_t item_count; /* of history up to there */
	size_t user_turns;
	bool ends_task; /* else more of its task came behind it */
};

struct rollout_damage {
	size_t bad_lines;      /* no JSON, or not the JSON of a line */
	size_t long_lines;     /* longer than LIMIT_ROLLOUT_LINE */
	size_t unknown_lines;  /* of a kind this version does not know */
	size_t repeated_lines; /* of a number that there was before */
	size_t stray_items;    /* outputs that answer no call, calls that were made already: not sent again */
	bool is_disordered;    /* lines had to be sorted by their numbers */
	size_t unknown_items;  /* items of a kind this version does not know: not sent again */
	bool is_torn;          /* the last line has no end and makes no sense */
};

/* What of it is kept. */
enum rollout_wants {
	ROLLOUT_ALL,
	ROLLOUT_HISTORY, /* what the model is sent, how it can be gone back, whom it works with; no other events */
	ROLLOUT_EVENTS,  /* what clients are shown; no history, and of numbered lines only events have a payload */
};

struct rollout_reader {
	/* read-only */
	char *path;
	struct rollout_meta meta;
	VEC(struct rollout_record) records; /* lines that count, without the turns rolled back */
	VEC(struct str) history;            /* the items of the next request, in order */
	VEC(struct rollout_mark) marks;     /* in order */
	size_t compacted_items;             /* of the history that the newest compaction left; 0 without one */
	struct rollout_turn turn;           /* the last turn's settings; all STR_NONE if there was none */
	bool needs_context;                 /* the history lacks the initial context: add it before the next turn */
	bool is_turn_open;                  /* the last turn was told to begin and never to end */
	size_t user_turns;
	struct str token_info; /* JSON of the last token_count's info (record token_usage_info), or STR_NONE */
	struct rollout_damage damage;
	/* private */
	VEC(struct rollout_segment) segments;
	struct arena arena; /* what is decoded */
	struct arena line;  /* the tree of the line being looked at */
	int64_t line_at_ms; /* when it was written */
	bool line_is_numbered;
	uint64_t line_ordinal;
	uint32_t line_end;          /* as a record's */
	uint64_t next_ordinal;      /* the least that a line may have */
	bool is_disordered;         /* one had less */
	VEC(struct str) open_calls; /* without an output so far */
	enum rollout_wants wants;
	struct rollout_segment *segment; /* that is being read */
	bool ends_turn;                  /* the event does */
	struct buf usage;                /* holds token_info */
};

/* NULL and err if the file cannot be read at all. */
struct rollout_reader *rollout_reader_create(const char *path, struct error *err);
struct rollout_reader *rollout_reader_create_for(const char *path, enum rollout_wants wants, struct error *err);
void rollout_reader_destroy(struct rollout_reader *reader);
/* Lets the bytes of the files go, with records, history and marks; what it says of the session stays. */
void rollout_reader_forget(struct rollout_reader *reader);

/* The same, but copies of the records and items of the history stay that `keeps` wants. */
void rollout_reader_thin(struct rollout_reader *reader, bool (*keeps)(enum rollout_line_type type, struct str payload));

/* Where in which file the line of a record ends, for another to go on from there: its rollout id, base_bytes and
 * base_ordinal into *ret, borrowed. False: it cannot be said, or not in a way that would serve (a file without
 * numbers, outside of a home, out of order, or one that itself goes on from many). */
bool rollout_reader_find_base(const struct rollout_reader *reader, size_t record, struct rollout_meta *ret);

/* The array of persisted events that a client is shown after a resume (initial_messages). */
void rollout_reader_write_events(const struct rollout_reader *reader, struct json_writer *w);
/* Appends one sentence on what was passed over; false and nothing if the file is whole. */
bool rollout_reader_describe_damage(const struct rollout_reader *reader, struct buf *out);

/* An event from which the tree of subagents is made again (subagents 6). */
bool rollout_tells_of_agents(enum rollout_line_type type, struct str payload);

#endif
