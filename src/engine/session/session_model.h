/* session_model.h — the Session towards its Model: client, tools, instructions. Private to engine/. */
#ifndef ENGINE_SESSION_MODEL_H
#define ENGINE_SESSION_MODEL_H

#include "base/str.h"
#include "protocol/record/types.h"

struct buf;
struct conversation;
struct config;
struct error;
struct session;
struct settings;
struct tool_type;

/* Makes the client of the provider that is described as JSON, else of the configured one. Fails if there is none, or it
 * lacks its key; the session then keeps what it has. No request may be under way. */
int session_model_open(struct session *session, struct str provider, struct error *err);

/* The threads above a subagent's, borrowed from the tree; both absent for a root. */
struct session_kin {
	struct str root_id, parent_id;
};
struct session_kin session_kin(const struct session *session);

/* Requests go on from the provider's last response and bring only what is new. */
bool session_is_chained(const struct session *session);

/* The tools offered to the settings' model, as a JSON array; borrowed until the model changes. */
struct str conversation_tools(struct conversation *conversation, const struct settings *settings);
/* The user has taken this tool from the model: a call of it is none. */
bool session_lacks_tool(const struct session *session, const struct tool_type *type);
/* Whether the model gets the tools that name agents by their threads. */
bool session_offers_agents(const struct session *session);
/* Makes the system prompt: own if it is there, else the configured file, else the built-in text; and what the
 * configuration adds to it. Fails if the file cannot be read. */
int session_read_base(struct session *session, struct str own, struct error *err);
/* Appends the text of a file that the configuration names for the model under `key`. A project's configuration may name
 * one, too, and a command may replace it by a link, so auth.json and files of /proc (its environ has keys) fail. */
int session_read_prompt_file(const struct config *config, const char *key, const char *path, struct buf *out,
                             struct error *err);
/* How the model shall talk, in words. */
struct str session_personality_text(enum personality personality);
/* The system prompt; borrowed. */
struct str conversation_instructions(const struct conversation *conversation);
/* Appends what AGENTS.md files and configure_session say; nothing if they say nothing (core 8). */
void session_read_instructions(struct session *session, const struct settings *settings, struct buf *out);

/* Once a session: a model that is not in the catalog works on assumptions. */
void session_warn_unknown_model(struct session *session, struct str sub_id, const struct settings *settings);

#endif
