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

bool session_environment_is_same(const struct settings *a, const struct settings *b)
{
	return settings_have_same_places(a, b) && strcmp(settings_shell(a), settings_shell(b)) == 0;
}

bool session_environment_is_moved(const struct settings *a, const struct settings *b)
{
	return (settings_name_places(a) || settings_name_places(b)) && !session_environment_is_same(a, b);
}

static int find_place(const struct session *session, const struct turn_environment *from,
                      struct settings_change *change, struct environment_place *ret, struct error *err)
{
	*ret = (struct environment_place){NULL, from->cwd};
	if (str_is(from->environment_id, ENVIRONMENT_LOCAL)) {
		change->cwd = from->cwd;
		return 0;
	}
	ret->environment = environments_find(session->env->environments, from->environment_id);
	if (!ret->environment)
		return error_set(err, ERR_not_found, "unknown turn environment id `%.*s`",
		                 STR_ARG(from->environment_id));
	if (!str_has_prefix(from->cwd, "/"))
		return error_set(err, ERR_invalid, "cwd is not absolute: %.*s", STR_ARG(from->cwd));
	return 0;
}

int session_environment_select(const struct session *session, const struct turn_environment *list, size_t count,
                               struct settings_change *change, struct error *err)
{
	struct environment_place first;
	if (!count)
		return 0;
	if (count > LIMIT_ENVIRONMENT_PLACES)
		return error_set(err, ERR_limit, "there can be at most %d environments", LIMIT_ENVIRONMENT_PLACES);
	change->has_environment = true;
	if (find_place(session, list, change, &first, err) != 0)
		return -(int)err->code;
	change->environment = first.environment;
	change->environment_cwd = first.cwd;
	for (size_t i = 1; i < count; i++)
		if (find_place(session, &list[i], change, &change->further[change->further_count++], err) != 0)
			return -(int)err->code;
	return 0;
}

struct settings_change session_environment_change(const struct settings *settings)
{
	struct settings_change change = {
		.has_environment = true,
		.environment = settings->environment,
		.environment_cwd = str_of(settings->environment_cwd),
		.further_count = settings->further_count,
	};
	for (size_t i = 0; i < settings->further_count; i++)
		change.further[i] = settings->further[i];
	return change;
}

/* ---- in the rollout ---- */

struct str session_environment_recorded(const struct settings *settings, bool is_pending, struct buf *buf)
{
	struct rollout_environment recorded = {environment_id(settings->environment), str_of(settings_folder(settings)),
	                                       is_pending};
	if (!settings_name_places(settings) && !is_pending)
		return STR_NONE;
	for (size_t i = 0; i < settings->further_count; i++) {
		const struct environment_place *place = &settings->further[i];
		recorded.further[i].id = environment_id(place->environment);
		recorded.further[i].cwd = str_of(settings_folder_of(settings, place));
	}
	recorded.further_count = settings->further_count;
	struct json_writer w = json_writer(buf);
	rollout_environment_encode(&recorded, &w);
	return buf_str(buf);
}

/* Returns a reference; NULL: this machine. */
static struct environment *get(const struct session *session, struct str id)
{
	return str_is(id, ENVIRONMENT_LOCAL) ? NULL : environments_get(session->env->environments, id);
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
	change->environment = get(session, place.id);
	change->environment_cwd = place.cwd;
	for (; change->further_count < place.further_count; change->further_count++)
		change->further[change->further_count] =
			(struct environment_place){get(session, place.further[change->further_count].id),
		                                   place.further[change->further_count].cwd};
	return 0;
}

void session_environment_release(struct settings_change *change)
{
	if (change->environment)
		environment_unref(change->environment);
	for (size_t i = 0; i < change->further_count; i++)
		if (change->further[i].environment)
			environment_unref(change->further[i].environment);
}

int session_environment_restore(struct session *session, struct str recorded, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct settings_change change = {0};
	int status = session_environment_read(session, recorded, &change, &arena, err);
	if (status != 0 || (!change.environment && !change.further_count))
		return status;
	status = session_change_settings(session, &change, err);
	session_environment_release(&change);
	session->has_new_environment = false;
	return status;
}

/* True if the environment was registered meanwhile, and *place has it now. */
static bool refresh(const struct session *session, struct environment **place)
{
	struct environment *found = NULL;
	if (*place && !(*place)->url)
		found = environments_find(session->env->environments, (*place)->id);
	*place = found ? found : *place;
	return found;
}

void session_environment_refresh(struct session *session)
{
	struct error err;
	struct settings_change change = session_environment_change(session->settings);
	bool is_new = session->has_new_environment, has_found = refresh(session, &change.environment);
	for (size_t i = 0; i < change.further_count; i++)
		has_found |= refresh(session, &change.further[i].environment);
	if (has_found) /* nothing else changes, so this cannot be refused */
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
