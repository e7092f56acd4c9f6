/* An environment is looked up by its id once, when it is selected: a later one with the same id does not move the
 * commands of a session. */
#include "engine/session/session_environment.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "remote/environments.h"
#include "rollout/rollout_line.h"

static struct turn_environment place_of(const struct settings *settings)
{
	struct environment *environment = settings->environment;
	return (struct turn_environment){
		.environment_id = environment ? environment->id : STR(ENVIRONMENT_LOCAL),
		.cwd = str_of(settings_folder(settings)),
	};
}

static bool is_same_folder(const struct settings *a, const struct settings *b)
{
	return str_eq(place_of(a).environment_id, place_of(b).environment_id) &&
	       strcmp(settings_folder(a), settings_folder(b)) == 0;
}

bool session_environment_is_same(const struct settings *a, const struct settings *b)
{
	return is_same_folder(a, b) && strcmp(settings_shell(a), settings_shell(b)) == 0;
}

bool session_environment_has_other_docs(const struct settings *a, const struct settings *b)
{
	return (a->environment || b->environment) && !is_same_folder(a, b);
}

bool session_environment_is_moved(const struct settings *a, const struct settings *b)
{
	return (a->environment || b->environment) && !session_environment_is_same(a, b);
}

int session_environment_select(const struct session *session, const struct turn_environment *list, size_t count,
                               struct settings_change *change, struct error *err)
{
	if (!count)
		return 0;
	if (count > 1)
		return error_set(err, ERR_unsupported, "commands can run in one environment only");
	change->has_environment = true;
	if (str_is(list->environment_id, ENVIRONMENT_LOCAL)) {
		change->cwd = list->cwd;
		return 0;
	}
	change->environment = environments_find(session->env->environments, list->environment_id);
	change->environment_cwd = list->cwd;
	if (!change->environment)
		return error_set(err, ERR_not_found, "unknown turn environment id `%.*s`",
		                 STR_ARG(list->environment_id));
	if (!str_has_prefix(list->cwd, "/"))
		return error_set(err, ERR_invalid, "cwd is not absolute: %.*s", STR_ARG(list->cwd));
	return 0;
}

/* ---- in the rollout ---- */

struct str session_environment_recorded(const struct settings *settings, bool is_pending, struct buf *buf)
{
	struct turn_environment place = place_of(settings);
	struct rollout_environment recorded = {place.environment_id, place.cwd, is_pending};
	if (!settings->environment && !is_pending)
		return STR_NONE;
	struct json_writer w = json_writer(buf);
	rollout_environment_encode(&recorded, &w);
	return buf_str(buf);
}

int session_environment_read(const struct session *session, struct str recorded, struct settings_change *change,
                             struct arena *arena, struct error *err)
{
	struct rollout_environment place;
	change->has_environment = true;
	change->environment = NULL;
	if (!recorded.ptr)
		return 0;
	int status = rollout_environment_decode(recorded, arena, &place, err);
	if (status != 0)
		return status;
	if (str_is(place.id, ENVIRONMENT_LOCAL))
		return 0;
	change->environment = environments_get(session->env->environments, place.id);
	change->environment_cwd = place.cwd;
	return 0;
}

int session_environment_restore(struct session *session, struct str recorded, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct settings_change change = {0};
	int status = session_environment_read(session, recorded, &change, &arena, err);
	if (status != 0 || !change.environment)
		return status;
	status = session_change_settings(session, &change, err);
	environment_unref(change.environment);
	session->has_new_environment = false;
	return status;
}

void session_environment_refresh(struct session *session)
{
	const struct settings *settings = session->settings;
	struct error err;
	if (!settings->environment || settings->environment->url)
		return;
	struct settings_change change = {
		.has_environment = true,
		.environment = environments_find(session->env->environments, settings->environment->id),
		.environment_cwd = str_of(settings->environment_cwd),
	};
	bool is_new = session->has_new_environment;
	if (change.environment) /* nothing else changes, so this cannot be refused */
		best_effort(session_change_settings(session, &change, &err));
	session->has_new_environment = is_new;
}

/* ---- variables ---- */

static void write_patterns(struct json_writer *w, const char *key, const struct str *patterns, size_t count)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++)
		jw_str(w, patterns[i]);
	jw_array_end(w);
}

struct str session_environment_inherited(struct tool_host *host)
{
	struct session *session = container_of(host, struct session, host);
	const struct config_env_policy *policy = &session->env->config->shell_environment_policy;
	buf_finish(&session->inherited_env);
	buf_init(&session->inherited_env, LIMIT_WEBSOCKET_MESSAGE);
	struct json_writer w = json_writer(&session->inherited_env);
	jw_object(&w);
	jw_member_cstr(&w, "inherit", enum_wire(&enum_env_inherit, (int)policy->inherit));
	jw_member_bool(&w, "ignoreDefaultExcludes", policy->ignore_default_excludes);
	write_patterns(&w, "exclude", policy->exclude.items, policy->exclude.count);
	jw_key(&w, "set");
	jw_object(&w);
	for (size_t i = 0; i < policy->set.count; i++) {
		jw_key_str(&w, policy->set.items[i].key);
		jw_str(&w, policy->set.items[i].value);
	}
	jw_object_end(&w);
	write_patterns(&w, "includeOnly", policy->include_only.items, policy->include_only.count);
	jw_object_end(&w);
	return buf_str(&session->inherited_env);
}
