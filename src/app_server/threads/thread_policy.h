/* thread_policy.h — what a thread may do, from the words of the wire to those of the engine and back.
 * Owns: nothing; results live in the arena. Source: app-server-wire 3; Symphony's `reject`. */
#ifndef APP_SERVER_THREAD_POLICY_H
#define APP_SERVER_THREAD_POLICY_H

#include "protocol/message/app.h"

struct arena;
struct config;
struct error;

struct ask_for_approval *policy_to_engine(const struct app_ask_for_approval *policy, struct arena *arena);
struct app_ask_for_approval *policy_from_engine(const struct ask_for_approval *policy, struct arena *arena);
/* `reject` as the `granular` that it means; others unchanged. */
const struct app_ask_for_approval *policy_normalize(const struct app_ask_for_approval *policy, struct arena *arena);

struct sandbox *sandbox_to_engine(const struct app_sandbox_policy *policy, struct arena *arena);
struct app_sandbox_policy *sandbox_from_engine(const struct sandbox *sandbox, struct arena *arena);

/* The set that a configuration without any setting amounts to; NULL if it has one. */
struct app_active_permission_profile *policy_default_profile(const struct config *config, struct arena *arena);

#endif
