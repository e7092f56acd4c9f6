/* fleet_log.h — the log of a session: the lines of its rollout and of its subagents' rollouts, and notes between them
 * about submissions, tasks and calls, from which another worker continues.
 *
 * A note is {"type":"fleet","payload":{"kind":…}}, a line that readers of rollouts skip. fleet_log_add reads the log:
 * it writes the rollouts to files of a private folder, and collects what is unfinished. Owns: its texts; the folder
 * until fleet_folder_remove. Loop thread only. */
#ifndef FLEET_FLEET_LOG_H
#define FLEET_FLEET_LOG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/session/unfinished.h"

struct event_msg;
struct fleet_log;

struct fleet_log *fleet_log_create(const char *folder);
void fleet_log_destroy(struct fleet_log *log); /* NULL is fine */
/* Takes the next line. An error is one of the disk; the log cannot be used then. */
must_check int fleet_log_add(struct fleet_log *log, struct str line, struct error *err);
/* Writes what is left. */
must_check int fleet_log_end(struct fleet_log *log, struct error *err);

/* True if a submission with this id was applied. */
bool fleet_log_has_id(const struct fleet_log *log, struct str id);
void fleet_log_add_id(struct fleet_log *log, struct str id);
/* Appends the op that restores the settings: configure_session, with the path, or override_turn_context. */
void fleet_log_write_configure(const struct fleet_log *log, struct buf *out);
/* False if there is nothing to override. */
bool fleet_log_write_override(const struct fleet_log *log, struct buf *out);
/* Returns the task that has not ended, borrowed from the log; NULL: none. worker: for the warning. */
const struct unfinished *fleet_log_unfinished(struct fleet_log *log, const char *worker);

/* ---- notes; each appends a line without its line break ---- */

/* text: the submission as JSON. Its op is recorded if a later worker needs it. */
void fleet_note_submission(struct buf *out, struct str id, struct str text);
/* is_end: the task has ended. */
void fleet_note_task(struct buf *out, struct str id, bool is_end);
void fleet_note_begin(struct buf *out, const char *thread_id, struct str call_id);
void fleet_note_event(struct buf *out, const struct event_msg *event);
/* A line of a subagent's rollout. */
void fleet_note_line(struct buf *out, const char *thread_id, struct str line);

/* Removes a folder with all files in it. */
void fleet_folder_remove(const char *path);

#endif
