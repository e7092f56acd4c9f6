/* fleet_log_priv.h — what the reader and the writer of the log share. */
#ifndef FLEET_FLEET_LOG_PRIV_H
#define FLEET_FLEET_LOG_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "fleet/fleet_log.h"

struct json;

/* Begins each note. */
#define FLEET_NOTE "{\"type\":\"fleet\",\"payload\":"

/* Submissions of which the log keeps the whole text. */
struct fleet_kept_op {
	const char *type; /* NULL: the end of the list */
	bool has_task;    /* it starts or joins a task; otherwise it changes settings */
};
extern const struct fleet_kept_op fleet_kept_ops[];

/* A rollout that is being written. */
struct fleet_log_thread {
	char id[UUID_TEXT_SIZE];
	char *path;
	struct buf pending;
	/* of a subagent: its last task */
	struct str turn_id;
	bool is_open, is_first_recorded;
	VEC(struct str) begun; /* calls */
};

struct fleet_log_call {
	struct str id, output;
	bool has_begun, has_ended;
	struct event_msg *begin; /* NULL: unknown */
};

struct fleet_log_input {
	struct str id;
	struct submission *submission;
};

struct fleet_log {
	char *folder;
	VEC(struct fleet_log_thread) threads; /* the first one is the session's */
	VEC(uint64_t) ids;                    /* hashes of the ids of submissions that were applied */
	struct buf configure, override;       /* members of the merged settings, as objects */
	struct str task, turn_id;             /* of the task that has not ended; STR_NONE: none */
	bool is_first_recorded;
	VEC(struct fleet_log_input) inputs;
	VEC(struct fleet_log_call) calls;
	struct arena arena; /* holds the begin events */
	struct unfinished unfinished;
	VEC(const struct submission *) given;
	VEC(struct unfinished_call) given_calls;
	VEC(struct unfinished) given_agents;
};

/* Merges the settings that an op has. */
void fleet_log_take_settings(struct fleet_log *log, const struct json *op);

#endif
