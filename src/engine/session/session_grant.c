/* A grant widens a copy of the policy that the tools of this Session use. The settings stay as they are:
 * clients and subagents see the policy that the user chose. A grant ends with its task, unless it was given for the
 * session, and holds in one environment. One that the administrator's requirements exclude is refused. */
#include "engine/session/session_grant.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/session/session.h"
#include "remote/environment.h"

struct grant_set {
	VEC(char *) roots;
	bool network;
};

/* The grants of one machine. */
struct place_grants {
	struct environment *environment; /* NULL: this machine */
	struct grant_set turn, lasting;
	VEC(const char *) roots; /* of the policy */
	struct sandbox_policy policy;
	bool is_wide; /* the policy holds: it permits more than that of the settings */
};

struct session_grants {
	VEC(struct place_grants *) places;
	char *turn_id; /* the task that each `turn` is for */
};

static void clear(struct grant_set *set)
{
	vec_for_each(root, &set->roots)
		free(*root);
	vec_finish(&set->roots);
	*set = (struct grant_set){0};
}

void session_grants_destroy(struct session_grants *grants)
{
	if (!grants)
		return;
	vec_for_each(it, &grants->places) {
		clear(&(*it)->turn);
		clear(&(*it)->lasting);
		vec_finish(&(*it)->roots);
		if ((*it)->environment)
			environment_unref((*it)->environment);
		free(*it);
	}
	vec_finish(&grants->places);
	free(grants->turn_id);
	free(grants);
}

static struct place_grants *find(const struct session_grants *grants, const struct environment *environment)
{
	vec_for_each(it, &grants->places)
		if ((*it)->environment == environment)
			return *it;
	return NULL;
}

/* A folder of this machine that is gone would fail every command. */
static bool is_usable(const char *root)
{
	auto_free char *real = realpath(root, NULL);
	return real && strcmp(real, root) == 0;
}

static void add(struct place_grants *place, const struct grant_set *set)
{
	vec_for_each(root, &set->roots)
		if (place->environment || is_usable(*root))
			vec_push(&place->roots, *root);
	place->policy.network_access |= set->network;
}

/* A read-only policy becomes one that permits writing in the granted folders alone. */
static void widen(struct place_grants *place, const struct sandbox_policy *base)
{
	place->policy = *base;
	vec_finish(&place->roots);
	for (size_t i = 0; i < base->writable_root_count; i++)
		vec_push(&place->roots, base->writable_roots[i]);
	if (base->mode == sandbox_mode_read_only) {
		place->policy.mode = sandbox_mode_workspace_write;
		place->policy.exclude_cwd = place->policy.exclude_tmpdir = place->policy.exclude_slash_tmp = true;
	}
	add(place, &place->lasting);
	add(place, &place->turn);
	place->policy.writable_roots = place->roots.items;
	place->policy.writable_root_count = place->roots.count;
}

static bool is_empty(const struct grant_set *set)
{
	return !set->roots.count && !set->network;
}

void session_grants_apply(struct session *session, const struct settings *settings)
{
	struct session_grants *grants = session->grants;
	const struct sandbox_policy *base = &settings->sandbox_policy;
	session->host.sandbox = base;
	if (!grants)
		return;
	bool is_over = !str_eq(session->host.turn_id, str_of(grants->turn_id));
	vec_for_each(it, &grants->places) {
		struct place_grants *place = *it;
		if (is_over) /* for each machine */
			clear(&place->turn);
		place->is_wide =
			sandbox_is_needed(base->mode) && !(is_empty(&place->turn) && is_empty(&place->lasting));
		if (place->is_wide)
			widen(place, base);
		if (place->is_wide && place->environment == settings->environment)
			session->host.sandbox = &place->policy;
	}
}

/* ---- the host of its tool calls ---- */

/* Checks the sandbox that the grant would make against requirements.toml. */
static int check(const struct session *session, const struct tool_grant *grant, struct error *err)
{
	struct workspace_write write = {
		.writable_roots = grant->roots, .writable_roots_count = grant->count, .network_access = grant->network};
	const struct sandbox sandbox = {.tag = sandbox_workspace_write, .workspace_write = &write};
	return config_required_check_policy(config_required(session->env->config), &sandbox, err);
}

static const struct sandbox_policy *host_granted(const struct tool_host *host, const struct environment *environment)
{
	const struct session *session = container_of(host, struct session, host);
	const struct place_grants *place = find(session->grants, environment);
	return place && place->is_wide ? &place->policy : NULL;
}

/* A command may have replaced the folder by a link to another one. The list is rebuilt only then: commands that run
 * borrow it. */
static void host_recheck(struct tool_host *host)
{
	struct session *session = container_of(host, struct session, host);
	const struct place_grants *place = find(session->grants, NULL);
	bool has_changed = false;
	if (!place || !place->is_wide)
		return;
	const struct grant_set *sets[] = {&place->lasting, &place->turn};
	for (size_t i = 0; i < countof(sets); i++)
		vec_for_each(root, &sets[i]->roots)
			has_changed |= !is_usable(*root);
	if (has_changed)
		session_grants_apply(session, session->lent);
}

/* Returns the grants of a machine, of which a session can have many when they are registered again and again. */
static struct place_grants *get(struct session_grants *grants, struct environment *environment, struct error *err)
{
	struct place_grants *place = find(grants, environment);
	if (place)
		return place;
	if (grants->places.count >= LIMIT_ENVIRONMENTS) {
		error_set(err, ERR_limit, "this session has grants in too many environments");
		return NULL;
	}
	place = xnew(struct place_grants);
	place->environment = environment ? environment_ref(environment) : NULL;
	vec_push(&grants->places, place);
	return place;
}

static void begin_turn(struct session_grants *grants, struct str turn_id)
{
	if (str_eq(turn_id, str_of(grants->turn_id)))
		return;
	vec_for_each(it, &grants->places)
		clear(&(*it)->turn);
	free(grants->turn_id);
	grants->turn_id = str_dup(turn_id);
}

static int host_grant(struct tool_host *host, const struct tool_grant *grant, struct error *err)
{
	struct session *session = container_of(host, struct session, host);
	if (check(session, grant, err) != 0)
		return -(int)err->code;
	if (!session->grants)
		session->grants = xnew(struct session_grants);
	struct place_grants *place = get(session->grants, grant->environment, err);
	if (!place)
		return -(int)err->code;
	begin_turn(session->grants, host->turn_id);
	struct grant_set *set = grant->for_session ? &place->lasting : &place->turn;
	if (set->roots.count + grant->count > LIMIT_GRANTED_ROOTS * 4)
		return error_set(err, ERR_limit, "this session has too many granted folders");
	for (size_t i = 0; i < grant->count; i++)
		vec_push(&set->roots, str_dup(grant->roots[i]));
	set->network |= grant->network;
	host->recheck = host_recheck;
	host->granted = host_granted;
	session_grants_apply(session, session->lent);
	return 0;
}

void session_grants_lend(struct session *session)
{
	session->host.grant = host_grant;
}
