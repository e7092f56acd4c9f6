/* A grant widens a copy of the policy that the tools of this Session use. The settings stay as they are:
 * clients and subagents see the policy that the user chose. A grant ends with its task, unless it was given for the
 * session. One that the administrator's requirements exclude is refused. */
#include "engine/session/session_grant.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/session/session.h"

struct grant_set {
	VEC(char *) roots;
	bool network;
};

struct session_grants {
	struct grant_set turn, lasting;
	char *turn_id;           /* the task that `turn` is for */
	VEC(const char *) roots; /* of the policy */
	struct sandbox_policy policy;
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
	clear(&grants->turn);
	clear(&grants->lasting);
	vec_finish(&grants->roots);
	free(grants->turn_id);
	free(grants);
}

/* A folder that is gone would fail every command. */
static bool is_usable(const char *root)
{
	auto_free char *real = realpath(root, NULL);
	return real && strcmp(real, root) == 0;
}

static void add(struct session_grants *grants, const struct grant_set *set)
{
	vec_for_each(root, &set->roots)
		if (is_usable(*root))
			vec_push(&grants->roots, *root);
	grants->policy.network_access |= set->network;
}

/* A read-only policy becomes one that permits writing in the granted folders alone. */
static void widen(struct session_grants *grants, const struct sandbox_policy *base)
{
	grants->policy = *base;
	vec_finish(&grants->roots);
	for (size_t i = 0; i < base->writable_root_count; i++)
		vec_push(&grants->roots, base->writable_roots[i]);
	if (base->mode == sandbox_mode_read_only) {
		grants->policy.mode = sandbox_mode_workspace_write;
		grants->policy.exclude_cwd = grants->policy.exclude_tmpdir = grants->policy.exclude_slash_tmp = true;
	}
	add(grants, &grants->lasting);
	add(grants, &grants->turn);
	grants->policy.writable_roots = grants->roots.items;
	grants->policy.writable_root_count = grants->roots.count;
}

static bool is_empty(const struct grant_set *set)
{
	return !set->roots.count && !set->network;
}

void session_grants_apply(struct session *session, const struct settings *settings)
{
	struct session_grants *grants = session->grants;
	session->host.sandbox = &settings->sandbox_policy;
	if (!grants)
		return;
	if (!str_eq(session->host.turn_id, str_of(grants->turn_id)))
		clear(&grants->turn);
	if (settings->environment || !sandbox_is_needed(settings->sandbox_policy.mode) ||
	    (is_empty(&grants->turn) && is_empty(&grants->lasting)))
		return;
	widen(grants, &settings->sandbox_policy);
	session->host.sandbox = &grants->policy;
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

/* A command may have replaced the folder by a link to another one. The list is rebuilt only then: commands that run
 * borrow it. */
static void host_recheck(struct tool_host *host)
{
	struct session *session = container_of(host, struct session, host);
	const struct grant_set *sets[] = {&session->grants->lasting, &session->grants->turn};
	bool has_changed = false;
	if (host->sandbox != &session->grants->policy)
		return;
	for (size_t i = 0; i < countof(sets); i++)
		vec_for_each(root, &sets[i]->roots)
			has_changed |= !is_usable(*root);
	if (has_changed)
		session_grants_apply(session, session->lent);
}

static int host_grant(struct tool_host *host, const struct tool_grant *grant, struct error *err)
{
	struct session *session = container_of(host, struct session, host);
	if (check(session, grant, err) != 0)
		return -(int)err->code;
	if (!session->grants)
		session->grants = xnew(struct session_grants);
	struct session_grants *grants = session->grants;
	struct grant_set *set = grant->for_session ? &grants->lasting : &grants->turn;
	if (set->roots.count + grant->count > LIMIT_GRANTED_ROOTS * 4)
		return error_set(err, ERR_limit, "this session has too many granted folders");
	if (!str_eq(host->turn_id, str_of(grants->turn_id))) {
		clear(&grants->turn);
		free(grants->turn_id);
		grants->turn_id = str_dup(host->turn_id);
	}
	for (size_t i = 0; i < grant->count; i++)
		vec_push(&set->roots, str_dup(grant->roots[i]));
	set->network |= grant->network;
	host->recheck = host_recheck;
	session_grants_apply(session, session->lent);
	return 0;
}

void session_grants_lend(struct session *session)
{
	session->host.grant = host_grant;
}
