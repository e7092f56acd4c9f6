/* An environment is looked up by its id once, when it is selected: a later one with the same id does not move the
 * commands of a session. */
#include "engine/session/session_environment.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "remote/environments.h"

struct turn_environment session_environment_of(const struct settings *settings)
{
	struct environment *environment = settings->environment;
	return (struct turn_environment){
		.environment_id = environment ? environment->id : STR(ENVIRONMENT_LOCAL),
		.cwd = str_of(settings_folder(settings)),
	};
}

bool session_environment_is_same(const struct settings *a, const struct settings *b)
{
	return a->environment == b->environment && strcmp(settings_folder(a), settings_folder(b)) == 0;
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
