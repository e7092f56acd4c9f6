/* rollout_writer.h — appends to the one file that is a session's memory.
 *
 * Lines gather in a batch; rollout_writer_flush hands the batch to the system in one write before the
 * events of that batch leave the process, so that a client never knows more than the file does.
 *
 * Owns: the file, its lock and the batch. Loop thread. Errors: a failed flush keeps the batch, and the
 * next one goes on where it stopped, also in the middle of a line: ERR_no_space is a reason to wait, not
 * to give up. ERR_busy names the process that writes the session.
 * Source: core 10, docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_WRITER_H
#define ROLLOUT_ROLLOUT_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "protocol/record/enum.h"
#include "rollout/rollout_line.h"

struct loop;
struct rollout_meta;
struct rollout_writer;

/* A new session's writer. Touches no disk: the file, readable by its owner only, appears at the first
 * flush that has more to write than the session_meta line, which this call puts in front. Its lines are numbered if
 * the meta says so. */
struct rollout_writer *rollout_writer_create(const char *home, const struct rollout_meta *meta,
                                             enum fsync_policy fsync);

/* Goes on in an existing file: locks it, unpacks it if it is packed (then its name changes, see rollout_writer_path),
 * then makes sure it ends with a whole line (see rollout_writer_torn_path). Open it before reading it, so that nothing
 * is added in between. */
struct rollout_writer *rollout_writer_open(const char *path, enum fsync_policy fsync, struct error *err);

/* Lets the lock and the file go. What was not flushed is gone. NULL is fine. */
void rollout_writer_destroy(struct rollout_writer *writer);

/* Adds one line to the batch. payload is one JSON object. ERR_limit if the batch is full: flush first. */
must_check int rollout_writer_append(struct rollout_writer *writer, enum rollout_line_type type, struct str payload,
                                     struct error *err);
/* The same without a copy: write one JSON object with the returned writer, then call _end. */
struct json_writer rollout_writer_begin(struct rollout_writer *writer, enum rollout_line_type type);
must_check int rollout_writer_end(struct rollout_writer *writer, struct error *err);

/* The next flush makes the file even if session_meta is all that it would hold. */
void rollout_writer_keep(struct rollout_writer *writer);
/* Writes the batch. Nothing to write is success. With fsync policy `always` the disk has it on return. */
must_check int rollout_writer_flush(struct rollout_writer *writer, struct error *err);
/* What a flush found: the file was deleted, and is there again; or another was put in its place, which stays, and the
 * session's has another name (rollout_writer_path). All that was ever written is in it. */
enum rollout_rescue_kind { ROLLOUT_UNTOUCHED, ROLLOUT_DELETED, ROLLOUT_REPLACED };
/* Since the last call. */
enum rollout_rescue_kind rollout_writer_take_rescue(struct rollout_writer *writer);
/* The file is being removed on purpose: it is not made anew when it is gone. */
void rollout_writer_let_go(struct rollout_writer *writer, bool is_let_go);
size_t rollout_writer_pending_bytes(const struct rollout_writer *writer);

/* Forces what was flushed onto the disk, on a worker thread, and then calls done on the loop; err is NULL
 * on success. The writer may be destroyed before that. False, and no call, where the policy asks for
 * nothing or nothing was written since. To be called when a turn ends. */
typedef void (*rollout_writer_sync_fn)(const struct error *err, void *self);
bool rollout_writer_sync(struct rollout_writer *writer, struct loop *loop, rollout_writer_sync_fn done, void *self);

/* Where the file is or will be. */
const char *rollout_writer_path(const struct rollout_writer *writer);
/* Where _open put the broken last line that it found; NULL if there was none. */
const char *rollout_writer_torn_path(const struct rollout_writer *writer);
/* True for a file whose lines are numbered, as 0.169's and ours are; turns must then be told by item_completed. */
bool rollout_writer_is_paginated(const struct rollout_writer *writer);

#endif
