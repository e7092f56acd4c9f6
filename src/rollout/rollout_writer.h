/* rollout_writer.h — appends lines to the file of a session.
 *
 * Lines are collected in a batch. rollout_writer_flush passes the batch to the system with one write before the events
 * of that batch leave the process, so that clients never know more than the file.
 *
 * Owns: the file, its lock and the batch. Loop thread. Errors: a failed flush keeps the batch, and the next one
 * continues where it stopped, even inside a line; wait and retry after ERR_no_space. ERR_busy names the process that
 * writes the session. Source: docs/rollouts.md. */
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
struct rollout_sink;
struct rollout_meta;
struct rollout_writer;

/* Creates the writer of a new session, without disk access: the file, with mode 0600, is created by the first flush of
 * a line other than session_meta, which this call appends. Lines are numbered if the meta says so. */
struct rollout_writer *rollout_writer_create(const char *home, const struct rollout_meta *meta,
                                             enum fsync_policy fsync);

/* Opens an existing file: locks it, unpacks a packed one (its name changes, see rollout_writer_path), and repairs an
 * incomplete last line (see rollout_writer_torn_path). Open the writer before reading the file, so that no line is
 * appended in between. */
must_check struct rollout_writer *rollout_writer_open(const char *path, enum fsync_policy fsync, struct error *err);

/* Closes the file and releases the lock; lines that were not flushed are lost. NULL is a no-op. */
void rollout_writer_destroy(struct rollout_writer *writer);

/* Appends a line to the batch. payload is a JSON object. ERR_limit if the batch is full: flush first. */
must_check int rollout_writer_append(struct rollout_writer *writer, enum rollout_line_type type, struct str payload,
                                     struct error *err);
/* As rollout_writer_append without a copy: write a JSON object with the returned writer, then call
 * rollout_writer_end. */
struct json_writer rollout_writer_begin(struct rollout_writer *writer, enum rollout_line_type type);
/* Inserts a text that was left out of the line, if possible without a copy. Call it before rollout_writer_end. */
void rollout_writer_insert(struct rollout_writer *writer, const struct json_aside *aside);
must_check int rollout_writer_end(struct rollout_writer *writer, struct error *err);

/* From now on the lines go to the sink, and the file is a cache. Call before the first flush. */
void rollout_writer_use_sink(struct rollout_writer *writer, const struct rollout_sink *sink);
/* Makes the next flush create the file even if session_meta is its only line. */
void rollout_writer_keep(struct rollout_writer *writer);
/* Writes the batch; an empty one is a success. With fsync policy `always` the data is synced on return. */
must_check int rollout_writer_flush(struct rollout_writer *writer, struct error *err);
/* Writes a batch of more than LIMIT_ROLLOUT_DIRECT bytes, if the file exists. After an error it stays pending, and
 * the next flush reports the error. */
void rollout_writer_flush_large(struct rollout_writer *writer);
/* The result of a rescue, which a flush triggers. DELETED: the file was deleted and has been created again.
 * Otherwise it was replaced by another file, which is kept, and the session continues under another name
 * (rollout_writer_path). The new file is complete. */
enum rollout_rescue_kind { ROLLOUT_UNTOUCHED, ROLLOUT_DELETED, ROLLOUT_REPLACED };
/* Returns the kind of the last rescue since the previous call, and resets it. */
enum rollout_rescue_kind rollout_writer_take_rescue(struct rollout_writer *writer);
/* If is_let_go, the file is being deleted on purpose and must not be created again. */
void rollout_writer_let_go(struct rollout_writer *writer, bool is_let_go);
size_t rollout_writer_pending_bytes(const struct rollout_writer *writer);

/* Syncs the flushed data on a worker thread, then calls done on the loop; err is NULL on success. The writer may be
 * destroyed before. False, without a call of done, if the policy requires no sync or nothing was written since the last
 * one. Call it at the end of a turn. */
typedef void (*rollout_writer_sync_fn)(const struct error *err, void *self);
bool rollout_writer_sync(struct rollout_writer *writer, struct loop *loop, rollout_writer_sync_fn done, void *self);

/* Returns the path of the file, which may not exist yet. */
const char *rollout_writer_path(const struct rollout_writer *writer);
/* Returns the file with the torn line that rollout_writer_open found, or NULL. */
const char *rollout_writer_torn_path(const struct rollout_writer *writer);
/* True for a file with numbered lines (new files, and those of codex 0.169), which records items with
 * item_completed. */
bool rollout_writer_is_paginated(const struct rollout_writer *writer);

#endif
