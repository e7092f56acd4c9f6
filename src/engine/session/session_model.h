/* session_model.h — prepares a session's requests to its model: client, tools, instructions. Private to engine/.
 * Loop thread only. */
#ifndef ENGINE_SESSION_MODEL_H
#define ENGINE_SESSION_MODEL_H

#include "base/error.h"
#include "base/str.h"
#include "protocol/record/types.h"

struct buf;
struct conversation;
struct config;
struct model_prompt;
struct model_provider;
struct session;
struct settings;

/* Resolves the provider that the JSON text describes; STR_NONE: the configured one. Returns NULL and err if it does
 * not exist or lacks its key. Owned by the caller. */
must_check struct model_provider *session_read_provider(const struct session *session, struct str described,
                                                        struct error *err);
/* Replaces the client by one for this provider, taking ownership of the provider. No request may be in progress. */
void session_model_open(struct session *session, struct model_provider *provider);

/* The thread ids above a subagent, borrowed from the tree; both are STR_NONE for a root. */
struct session_kin {
	struct str root_id, parent_id;
};
struct session_kin session_kin(const struct session *session);

/* True if requests continue from the provider's last response and contain only the new items. */
bool session_is_chained(const struct session *session);

/* Builds the system prompt: `own` if present, else the configured file, else the built-in text; then the additions of
 * the configuration. A subagent copies its parent's. Fails if the file cannot be read. */
must_check int session_read_base(struct session *session, struct str own, struct error *err);
/* Appends the text of a file that the configuration names under `key`. A project can name any file, and a command can
 * replace it by a link, so auth.json and the files of /proc, which may contain keys, are refused. */
must_check int session_read_prompt_file(const struct config *config, const char *key, const char *path, struct buf *out,
                                        struct error *err);
/* Returns the instructions for a personality. */
struct str session_personality_text(enum personality personality);
/* Returns the system prompt, borrowed. */
struct str conversation_instructions(const struct conversation *conversation);

/* True if the history begins with the tools and the instructions, so that its requests have the lite form. */
bool conversation_is_lite(const struct conversation *conversation);
/* True if requests under these settings need the lite form. */
bool conversation_wants_lite(const struct conversation *conversation, const struct settings *settings);
/* True if the history was made for another form of request, or for a model of another kind, and must be summarised
 * before these settings can use it. */
bool conversation_must_switch(const struct conversation *conversation, const struct settings *settings);
/* Writes the item with the tools with which a history of the lite form begins. */
void conversation_write_tools_item(struct conversation *conversation, const struct settings *settings, struct buf *out);

/* Returns a request with the conversation's settings and tools, but without input. Borrows from the conversation. */
struct model_prompt conversation_prompt(struct conversation *conversation, const struct settings *settings);
/* Sends settings and tools ahead of the first request, if the provider has a WebSocket. */
void session_warm_up(struct session *session);

#endif
