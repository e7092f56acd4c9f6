/* agent_json.h — how agents look to a model: the answers of the tools (subagents 3). */
#ifndef AGENT_AGENT_JSON_H
#define AGENT_AGENT_JSON_H

#include "agent/agent.h"
#include "base/json.h"

/* Borrowed from the agent until it changes. */
struct subagent_summary agent_summary(const struct agent *agent);

/* What spawn, fork and send_message answer with: `{session_id … status`, then the caller's own members, then
 * `label … pending_interrupts}`. */
void agent_write_head(const struct agent *agent, struct json_writer *w);
void agent_write_tail(const struct agent *agent, struct json_writer *w);
/* An entry of subagent_list. */
void agent_write_listed(const struct agent *agent, struct json_writer *w);
/* subagent_cancel's answer. */
void agent_write_canceled(const struct agent *agent, struct str reason, struct json_writer *w);

/* What a wait comes back with, or what an inbox is emptied into. */
struct agent_news {
	struct agent *about; /* whose news; NULL: somebody's that is known no more */
	struct agent_message **messages; /* for `reader`, by time; the ends among them stand for themselves */
	size_t count;
	bool timed_out;
	bool is_injected; /* nobody waited for it */
	bool has_more;    /* other news follow at once: those say how the others are */
};
void agent_write_news(const struct agent *reader, const struct agent_news *news, struct json_writer *w);

#endif
