/* agent_log.h — a ring of the latest LIMIT_AGENT_LOG events of a subagent. Owns: the events. */
#ifndef AGENT_AGENT_LOG_H
#define AGENT_AGENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct json_writer;

struct agent_log_entry {
	int64_t at_ms;
	struct event *event;
};

struct agent_log {
	/* private */
	struct agent_log_entry *entries; /* NULL before the first event */
	size_t first, count;
};

/* The part of a log to return. */
struct agent_log_query {
	bool has_since, has_before;
	int64_t since_ms, before_ms; /* both bounds are exclusive */
	size_t limit;                /* at least 1 */
	size_t max_bytes;            /* 0: no limit */
};

void agent_log_finish(struct agent_log *log); /* an all-zero struct is an empty log */
/* Takes ownership of the event. */
void agent_log_add(struct agent_log *log, struct event *event);
/* Writes {"session_id":…,"returned":…,"events":[…]}. */
void agent_log_write(const struct agent_log *log, const char *session_id, const struct agent_log_query *query,
                     struct json_writer *w);

#endif
