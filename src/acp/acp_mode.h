/* acp_mode.h — modes and configuration options of a session: what clients see of them, and what the engine gets.
 *
 * Owns: nothing; results live in the arena. Loop thread only. */
#ifndef ACP_ACP_MODE_H
#define ACP_ACP_MODE_H

#include "protocol/message/acp.h"

struct arena;
struct config;

enum acp_mode {
#define MODE(tag, ...) ACP_MODE_##tag,
#include "acp/acp_mode.def"
#undef MODE
	ACP_MODE_count
};

/* The settings of a session that its client may change. */
struct acp_choices {
	enum acp_mode mode, active_mode; /* for the next prompt, and of the running one */
	bool has_config_mode; /* the settings at the start were not those of another mode, so this one is offered */
	enum mode_kind collaboration;
	char *model;
	char *configured_model; /* offered even if the catalogue does not have it */
	bool has_effort;
	enum reasoning_effort effort;
	bool is_policy_changed, is_model_changed, is_collaboration_changed; /* since the engine was last told */
};

void acp_choices_finish(struct acp_choices *choices);

/* Sets everything from the settings that the engine reports at the start. */
void acp_choices_init(struct acp_choices *choices, const struct ev_session_configured *event,
                      enum mode_kind collaboration);

struct acp_mode_state *acp_mode_state_make(const struct acp_choices *choices, struct arena *arena);
/* Returns all options; *ret_count is their number. */
struct acp_option_info *acp_options_make(const struct acp_choices *choices, struct arena *arena, size_t *ret_count);

/* Sets the mode; false if there is no mode with that id. */
bool acp_mode_set(struct acp_choices *choices, struct str id);
/* An error if the administrator's requirements exclude the mode with that id, for the chosen model. */
must_check int acp_mode_check(const struct acp_choices *choices, const struct config *config, struct str id,
                              struct error *err);
/* Sets an option. False, and *ret_wrong is "option" or "value", if it does not exist. */
bool acp_option_set(struct acp_choices *choices, struct str id, struct str value, const char **ret_wrong);

/* Returns the word of the approval policy for the next prompt. */
const char *acp_choices_approval(const struct acp_choices *choices, const struct config *config);
/* True if the approval policy of the running prompt lets the engine ask the user. */
bool acp_choices_may_ask(const struct acp_choices *choices, const struct config *config);
/* Returns the sandbox of a mode in a session with these additional writable folders. */
struct sandbox *acp_mode_sandbox(enum acp_mode mode, const struct config *config, const struct str *roots,
                                 size_t root_count, struct arena *arena);
/* Fills the change to submit before the next prompt; false if nothing has changed. */
bool acp_choices_take(struct acp_choices *choices, const struct config *config, const struct str *roots,
                      size_t root_count, struct arena *arena, struct op_override_turn_context *ret);
/* To be called if that change could not be submitted: everything is submitted the next time. */
void acp_choices_repeat(struct acp_choices *choices);

#endif
