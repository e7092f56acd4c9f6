/* fleet_log_priv.h — what the reader and the writer of the log share. */
#ifndef FLEET_FLEET_LOG_PRIV_H
#define FLEET_FLEET_LOG_PRIV_H

#include <stdbool.h>

/* Begins each note. */
#define FLEET_NOTE "{\"type\":\"fleet\",\"payload\":"

/* Submissions of which the log keeps the whole text. */
struct fleet_kept_op {
	const char *type; /* NULL: the end of the list */
	bool has_task;    /* it starts or joins a task; otherwise it changes settings */
};
extern const struct fleet_kept_op fleet_kept_ops[];

#endif
