/* agent_json.h — writes agents as JSON, for the answers of tools to a model. */
#ifndef AGENT_AGENT_JSON_H
#define AGENT_AGENT_JSON_H

#include "agent/agent.h"
#include "base/json.h"

/* Returns a summary, which is borrowed from the agent until it changes. */
struct subagent_summary agent_summary(const struct agent *agent);

/* Writes the answer of spawn, fork and send_message: `{session_id … status`, then the caller's own members, then
 * `label … pending_interrupts}`. */
void agent_write_head(const struct agent *agent, struct json_writer *w);
void agent_write_tail(const struct agent *agent, struct json_writer *w);
/* Writes an entry of subagent_list. */
void agent_write_listed(const struct agent *agent, struct json_writer *w);
/* Writes the answer of subagent_cancel. */
void agent_write_canceled(const struct agent *agent, struct str reason, struct json_writer *w);

/* The result of a wait, or the messages taken out of an inbox. */
struct agent_news {
	struct agent *about;             /* the sender; NULL: the agent was removed */
	struct agent_message **messages; /* messages for `reader` by time, including results */
	size_t count;
	bool timed_out;
	bool is_injected; /* delivered without a wait */
	bool has_more;    /* more news follow at once, and the last of them lists the other children */
};
void agent_write_news(const struct agent *reader, const struct agent_news *news, struct json_writer *w);

#endif
