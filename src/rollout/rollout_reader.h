/* rollout_reader.h — reads the data that a resume needs from a session's file.
 *
 * Reads files of 2025, of January 2026 and numbered ones of codex 0.169, even if one file mixes them, and follows
 * history_base to the files that a fork refers to. Damaged, unknown and oversized lines are skipped and counted; the
 * remaining ones are those that codex 0.169 would restore.
 *
 * Owns: the bytes of the files; all slices live as long as the reader. Blocking: use it at start-up or on a worker.
 * Any thread, one at a time. Errors: ERR_not_found, ERR_invalid ("empty session file", no session_meta), ERR_limit.
 * Source: docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_READER_H
#define ROLLOUT_ROLLOUT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "rollout/rollout_item.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_meta.h"

struct rollout_segment;

/* The role of a line for the turns of a session. */
enum rollout_role {
	ROLLOUT_PART,     /* a part of the current turn */
	ROLLOUT_USER,     /* a message of the user, which begins a turn */
	ROLLOUT_PREAMBLE, /* a message that precedes the user's: permissions, environment, … */
};

struct rollout_record {
	enum rollout_line_type type : 8;
	enum rollout_role role : 4;
	enum rollout_call call : 4; /* whether a response_item is a call or an output, and its call_id */
	bool is_numbered : 1;       /* the line has an ordinal, so legacy events repeat its items */
	bool is_replacement : 1;    /* a compacted line with a replacement history */
	uint32_t segment;           /* index of the file that contains the line */
	uint32_t end;               /* offset of the line's end in that file; 0: unknown */
	struct str call_id;
	struct str payload; /* JSON; for a response_item as it is sent in a request */
	int64_t at_ms;      /* Unix time when the line was written; 0: unknown */
	uint64_t ordinal;   /* set if is_numbered */
};

struct rollout_open_call {
	struct str id, text; /* borrow from the reader */
};

/* A response that the session can be rolled back to. */
struct rollout_mark {
	struct str response_id;
	size_t item_count; /* length of the history at that point */
	size_t user_turns;
	bool ends_task; /* the last response of its task */
};

struct rollout_damage {
	size_t bad_lines;      /* lines that are not JSON, or not lines of a rollout */
	size_t long_lines;     /* lines longer than LIMIT_ROLLOUT_LINE */
	size_t unknown_lines;  /* lines of a kind that this version does not know */
	size_t repeated_lines; /* lines whose number an earlier line has */
	size_t stray_items;    /* outputs without a call, and repeated calls; not sent again */
	bool is_disordered;    /* the lines had to be sorted by number */
	size_t unknown_items;  /* items of a kind that this version does not know: not sent again */
	bool is_torn;          /* the last line is incomplete */
};

/* The data that the reader keeps. */
enum rollout_wants {
	ROLLOUT_ALL,
	ROLLOUT_HISTORY, /* history, marks and subagents; no other events */
	ROLLOUT_EVENTS,  /* events without history; of numbered lines, only events have a payload */
};

/* A part of a file: its first `most` bytes; of more than twice `tail` bytes (unless that is 0) the first line and the
 * last `tail` bytes. from: the first line and those that begin at this byte or later; 0: all. */
struct rollout_part {
	uint64_t most, tail, from;
};

struct rollout_reader {
	/* read-only */
	char *path;
	struct rollout_meta meta;
	VEC(struct rollout_record) records; /* without the turns that were rolled back */
	VEC(struct str) history;            /* the items of the next request, in order */
	VEC(struct rollout_mark) marks;     /* in the order of the file */
	size_t compacted_items;             /* number of items that the newest compaction left; 0: no compaction */
	struct rollout_turn turn;           /* the settings of the last turn; all STR_NONE without a turn */
	/* the history lacks the preamble, which must be added before the next turn */
	bool needs_context;
	/* the member command_environment of the last turn_context, rolled back or not; STR_NONE: this machine */
	struct str environment;
	bool is_cut;       /* earlier lines were not read: rollout_reader_create_part */
	bool is_turn_open; /* the last turn has started but not ended */
	size_t user_turns;
	struct str token_info; /* JSON of the last token_count's info (record token_usage_info), or STR_NONE */
	struct str goal;       /* JSON of the last thread_goal_updated's goal (record thread_goal), or STR_NONE */
	struct rollout_damage damage;
	/* private */
	VEC(struct rollout_segment) segments;
	struct arena arena; /* decoded data */
	struct arena line;  /* the tree of the current line */
	int64_t line_at_ms; /* time of the current line */
	bool line_is_numbered;
	uint64_t line_ordinal;
	uint32_t line_end;                        /* end of the current line */
	uint64_t next_ordinal;                    /* the smallest number that the next line may have */
	bool is_disordered;                       /* a line has a smaller number than the line before it */
	VEC(struct rollout_open_call) open_calls; /* calls without an output so far */
	VEC(struct str) scripts;                  /* calls of exec, which may have further outputs */
	enum rollout_wants wants;
	struct rollout_part part;
	struct rollout_segment *segment; /* the current segment */
	bool ends_turn;                  /* the current event ends its turn */
	struct buf usage;                /* holds token_info */
	struct buf goal_text;            /* holds goal */
};

/* Reads the file. NULL and err if it cannot be read. */
must_check struct rollout_reader *rollout_reader_create(const char *path, struct error *err);
must_check struct rollout_reader *rollout_reader_create_for(const char *path, enum rollout_wants wants,
                                                            struct error *err);
/* As rollout_reader_create_for, for a part of the file; is_cut says whether there is more before it. The positions of
 * records in a file that was cut are unknown. */
must_check struct rollout_reader *rollout_reader_create_part(const char *path, enum rollout_wants wants,
                                                             struct rollout_part part, struct error *err);
void rollout_reader_destroy(struct rollout_reader *reader);
/* Frees the bytes of the files, and with them records, history and marks; the data about the session remains. */
void rollout_reader_forget(struct rollout_reader *reader);

typedef bool (*rollout_keeps_fn)(enum rollout_line_type type, struct str payload);
/* Gets an item of the history; borrowed. */
typedef void (*rollout_take_fn)(struct str item, void *self);

/* As rollout_reader_forget, but keeps copies of the records and items of the history that `keeps` accepts. Before, each
 * item of the history is handed to `take`, in order; the bytes before it are freed meanwhile, so that a copy of the
 * history and its source do not need memory at the same time. */
void rollout_reader_thin(struct rollout_reader *reader, rollout_keeps_fn keeps, rollout_take_fn take, void *self);

/* Finds the position after a record, for a fork: sets base_rollout_id (borrowed), base_bytes and base_ordinal of
 * *ret. False if the position is unknown or cannot be referred to (a file without numbers, outside of a home, out of
 * order, or one that itself refers to others). */
bool rollout_reader_find_base(const struct rollout_reader *reader, size_t record, struct rollout_meta *ret);

/* Writes the array of recorded events that a client receives after a resume (initial_messages). */
void rollout_reader_write_events(const struct rollout_reader *reader, struct json_writer *w);
/* Appends a sentence about skipped lines; false if the file is undamaged, and then nothing is appended. */
bool rollout_reader_describe_damage(const struct rollout_reader *reader, struct buf *out);

/* True for the output of a call, JSON that begins with its type, if a command was declined shortly before this record:
 * the output may be the reason. */
bool rollout_reader_is_denial(const struct rollout_reader *reader, size_t record, struct str item);

/* True for events from which the tree of subagents is restored. */
bool rollout_is_about_agents(enum rollout_line_type type, struct str payload);

#endif
