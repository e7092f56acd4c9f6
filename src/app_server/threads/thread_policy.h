/* thread_policy.h — converts approval and sandbox policies between the records of the wire and of the engine.
 *
 * Owns: nothing; results live in the arena. Any thread. */
#ifndef APP_SERVER_THREAD_POLICY_H
#define APP_SERVER_THREAD_POLICY_H

#include "protocol/message/app.h"

struct arena;
struct config;
struct error;

struct ask_for_approval *policy_to_engine(const struct app_ask_for_approval *policy, struct arena *arena);
struct app_ask_for_approval *policy_from_engine(const struct ask_for_approval *policy, struct arena *arena);
/* Converts `reject`, which Symphony sends, to the equivalent `granular`; returns other policies unchanged. */
const struct app_ask_for_approval *policy_normalize(const struct app_ask_for_approval *policy, struct arena *arena);

enum approvals_reviewer reviewer_to_engine(enum app_approvals_reviewer reviewer);
enum app_approvals_reviewer reviewer_from_engine(enum approvals_reviewer reviewer);

struct sandbox *sandbox_to_engine(const struct app_sandbox_policy *policy, struct arena *arena);
struct app_sandbox_policy *sandbox_from_engine(const struct sandbox *sandbox, struct arena *arena);

/* Returns the permission profile of a configuration that does not set sandbox_mode; NULL if it is set. */
struct app_active_permission_profile *policy_default_profile(const struct config *config, struct arena *arena);

/* Converts a client's decision on a command; *amendment belongs to the result. */
struct review_decision policy_decision(const struct app_command_execution_approval_decision *decision,
                                       struct exec_amendment *amendment);

#endif
