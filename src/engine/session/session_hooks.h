/* session_hooks.h — the hooks of one session: starts those of an event with what the session knows, and emits their
 * runs. Private to engine/.
 *
 * A caller that gets NULL from a start continues at once; otherwise it waits for done, or cancels the batch. Owned by
 * the session. Loop thread only. */
#ifndef ENGINE_SESSION_HOOKS_H
#define ENGINE_SESSION_HOOKS_H

#include "base/json.h"
#include "hook/hook_batch.h"

struct conversation;
struct session;
struct session_hooks;
struct settings;

struct session_hook {
	enum hook_event event;
	struct str turn_id; /* STR_NONE for events of the session */
	const struct settings *settings;
	struct hook_subject subject;
	const char *tag; /* distinguishes runs of one event, such as a call id; or NULL */
	/* Writes the members of the input that are particular to the event; may be NULL. */
	void (*write)(struct json_writer *w, const void *arg);
	const void *arg;
};

/* Reads the hooks of the configuration. ERR_limit if engines have been started by hooks of engines LIMIT_HOOK_DEPTH
 * times. */
must_check int session_hooks_open(struct session *session, struct error *err);
/* Warns of hooks that do not run. */
void session_hooks_warn(struct session *session);
void session_hooks_destroy(struct session_hooks *hooks); /* NULL is fine */

bool session_hooks_has(const struct session *session, enum hook_event event);
/* As hook_batch_start. */
struct hook_batch *session_hooks_start(struct session *session, const struct session_hook *hook, hook_done_fn done,
                                       void *self);
/* Starts hooks that only observe: nothing waits for them, and they end with the session. */
void session_hooks_notify(struct session *session, const struct session_hook *hook);

/* The event with which this session's agent starts and stops: a subagent has its own. */
enum hook_event session_hooks_start_event(const struct session *session);
enum hook_event session_hooks_stop_event(const struct session *session);
/* Returns why the session starts ("startup", "resume", "compact"), once for each start; NULL: it has started. */
const char *session_hooks_take_source(struct session *session);
/* Takes the hooks of this configuration from now on. */
void session_hooks_renew(struct session *session, const struct config *config);
void session_hooks_set_source(struct session *session, const char *source);

/* Adds each context as a developer message to the conversation. */
void session_hooks_add_contexts(struct conversation *conversation, const struct hook_result *result);

#endif
