/* acp_slash.h — prompts that begin with a slash, and the list of commands that clients offer.
 *
 * Some are answered here by a message; others start a task of the engine, whose events answer the prompt. Owns:
 * nothing. Loop thread only. */
#ifndef ACP_ACP_SLASH_H
#define ACP_ACP_SLASH_H

#include "base/str.h"

struct acp_prompt;
struct acp_session;
struct ev_list_skills;
struct ev_mcp_list_tools;

enum acp_slash_outcome {
	ACP_SLASH_none,  /* not a command: the text goes to the model */
	ACP_SLASH_taken, /* the prompt was answered, or will be */
	ACP_SLASH_text,  /* *ret_text goes to the model in place of the prompt */
};

enum acp_slash_outcome acp_slash_run(struct acp_session *session, struct acp_prompt *prompt, struct str text,
                                     struct str *ret_text);
/* Sends available_commands_update: the commands, and `$name` for each skill. */
void acp_slash_announce(struct acp_session *session);
/* Requests the skills from the engine; the answer is passed to acp_slash_take_skills. */
void acp_slash_ask_skills(struct acp_session *session);
void acp_slash_take_skills(struct acp_session *session, const struct ev_list_skills *event);
/* Answers the prompt `/mcp` with this id. */
void acp_slash_take_mcp(struct acp_session *session, struct str prompt_id, const struct ev_mcp_list_tools *event);

#endif
