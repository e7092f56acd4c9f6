/* rollout_list.h — finds the file of a session: by id, by name, or the latest one.
 *
 * Reads folders and file names, newest first, without an index. Blocking: for start-up, or on a worker. Owns:
 * nothing; returned paths are owned by the caller. Any thread. Errors: ERR_not_found. */
#ifndef ROLLOUT_ROLLOUT_LIST_H
#define ROLLOUT_ROLLOUT_LIST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct rollout_meta;
struct rollout_file_name;

/* Called for each file; returning true ends the walk. Names are slices of the path, valid during the call. */
typedef bool (*rollout_list_visit_fn)(const char *path, const struct rollout_file_name *name, void *self);
/* Visits the files of sessions, or of the archive, in descending order of their names. A folder that does not exist
 * is empty. */
must_check int rollout_list_walk(const char *home, bool is_archive, rollout_list_visit_fn visit, void *self,
                                 struct error *err);

/* Called for each folder before its entries are read; the folder may not exist. */
typedef void (*rollout_list_folder_fn)(const char *path, void *self);
/* As rollout_list_walk, and calls on_folder for each folder. With visit NULL the folders of files are not read. */
must_check int rollout_list_walk_folders(const char *home, bool is_archive, rollout_list_folder_fn on_folder,
                                         rollout_list_visit_fn visit, void *self, struct error *err);

/* Returns the newest file of a thread; archived files are considered last. */
must_check char *rollout_list_find_id(const char *home, struct str thread_id, struct error *err);
/* Returns the file with this rollout id (rollout_path.h), as named by a history_base. */
must_check char *rollout_list_find_segment(const char *home, struct str rollout_id, struct error *err);
/* Returns the newest file of the thread that has this name in session_index.jsonl. */
must_check char *rollout_list_find_name(const char *home, struct str name, struct error *err);

struct rollout_filter {
	struct str cwd;            /* STR_NONE: any folder */
	struct str model_provider; /* STR_NONE: any provider */
};

/* Returns the most recently written file that passes the filter and does not belong to a subagent. */
must_check char *rollout_list_find_latest(const char *home, const struct rollout_filter *filter, struct error *err);

/* Decodes the first line of a file, and reads no further. */
must_check int rollout_list_read_head(const char *path, struct arena *arena, struct rollout_meta *ret,
                                      struct error *err);

#endif
