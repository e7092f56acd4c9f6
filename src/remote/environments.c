/* A new environment is asked for its shell at once, so that it is known when the first command is written; a server
 * that cannot be reached is reported by the first question of the client, or the first command. */
#include "remote/environments.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "remote/exec_link.h"
#include "remote/remote_command.h"

struct entry {
	struct environment *environment;
	struct exec_question *probe; /* NULL when it has ended */
};

struct environments {
	struct loop *loop;
	struct http_client *http;
	uint64_t last_number;
	VEC(struct entry *) list;
	struct environment_watcher watcher;
	struct list leaving; /* commands that are being ended (remote_command.h) */
};

struct environments *environments_create(struct loop *loop, struct http_client *http)
{
	struct environments *all = xnew(struct environments);
	all->loop = loop;
	all->http = http;
	list_init(&all->leaving);
	return all;
}

static void entry_clear(struct entry *entry)
{
	exec_question_cancel(steal(entry->probe));
	environment_unref(entry->environment);
}

void environments_destroy(struct environments *all)
{
	remote_commands_abandon(&all->leaving);
	vec_for_each(it, &all->list) {
		entry_clear(*it);
		free(*it);
	}
	vec_finish(&all->list);
	free(all);
}

void environments_watch(struct environments *all, struct environment_watcher watcher)
{
	all->watcher = watcher;
}

static struct entry *find(struct environments *all, struct str id)
{
	vec_for_each(it, &all->list)
		if (str_eq((*it)->environment->id, id))
			return *it;
	return NULL;
}

struct environment *environments_find(struct environments *all, struct str id)
{
	struct entry *entry = find(all, id);
	return entry ? entry->environment : NULL;
}

struct environment *environments_get(struct environments *all, struct str id)
{
	struct environment *environment = environments_find(all, id);
	if (environment)
		return environment_ref(environment);
	environment = environment_create_absent(all->loop, id);
	environment->place = remote_command_place;
	environment->leaving = &all->leaving;
	return environment;
}

/* The link has told the environment its shell. */
static void on_probed(const struct json *result, const struct error *err, void *self)
{
	struct entry *entry = self;
	(void)result;
	(void)err;
	exec_question_cancel(steal(entry->probe));
}

int environments_add(struct environments *all, const struct environment_words *words, struct error *err)
{
	struct environment *environment = environment_create(all->loop, all->http, words, err);
	if (!environment)
		return -(int)err->code;
	struct entry *entry = find(all, words->id);
	if (!entry && all->list.count >= LIMIT_ENVIRONMENTS) {
		environment_unref(environment);
		return error_set(err, ERR_limit, "there are %d environments already", LIMIT_ENVIRONMENTS);
	}
	if (entry)
		entry_clear(entry);
	else
		vec_push(&all->list, entry = xnew(struct entry));
	environment->place = remote_command_place;
	environment->leaving = &all->leaving;
	environment->watcher = &all->watcher;
	environment->number = ++all->last_number;
	entry->environment = environment;
	entry->probe = exec_question_start(environment, "environment/info", on_probed, entry);
	return 0;
}
