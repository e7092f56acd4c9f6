/* The engine resumes from files only, so a fork is a file first. The file of an ephemeral fork is written to the folder
 * of temporary files and removed as soon as the engine has read it. */
#include "app_server/threads/thread_fork.h"

#include <stdlib.h>
#include <unistd.h>

#include "app_server/history/thread_history.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config_env.h"
#include "rollout/rollout_fork.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_reader.h"

static char *dup_or_null(struct str text)
{
	return text.ptr ? str_dup(text) : NULL;
}

struct thread_fork *thread_fork_create(struct str last_turn_id, struct str before_turn_id, const char *running_turn_id,
                                       const char *originator, bool is_ephemeral)
{
	struct thread_fork *fork = xnew(struct thread_fork);
	fork->last_turn_id = dup_or_null(last_turn_id);
	fork->before_turn_id = dup_or_null(before_turn_id);
	fork->running_turn_id = dup_or_null(str_of(running_turn_id));
	fork->originator = xstrdup(originator);
	fork->is_ephemeral = is_ephemeral;
	return fork;
}

void thread_fork_destroy(struct thread_fork *fork)
{
	if (!fork)
		return;
	if (fork->path)
		unlink(fork->path);
	free(fork->path);
	free(fork->last_turn_id);
	free(fork->before_turn_id);
	free(fork->running_turn_id);
	free(fork->originator);
	free(fork);
}

/* Finds the number of the source's records to copy. */
static int find_cut(const struct thread_fork *fork, const struct rollout_reader *reader,
                    const struct thread_history *history, size_t *ret, struct error *err)
{
	const char *id = fork->last_turn_id ? fork->last_turn_id : fork->before_turn_id;
	*ret = reader->records.count;
	if (!id)
		return 0;
	const struct app_turn *turn = thread_history_find(history, str_of(id));
	if (!turn)
		return error_set(err, ERR_not_found, "turn not found: %s", id);
	if (fork->last_turn_id && fork->running_turn_id && str_is(turn->id, fork->running_turn_id))
		return error_set(err, ERR_invalid, "turn %s is in progress: fork after its end", id);
	size_t index = (size_t)(turn - history->turns) + (fork->last_turn_id ? 1 : 0);
	if (index < history->count)
		*ret = history->starts[index];
	return 0;
}

static char *choose_path(const struct thread_fork *fork, const char *home, const struct rollout_meta *meta)
{
	const char *folder = config_env("TMPDIR");
	if (!fork->is_ephemeral)
		return rollout_path(home, meta->started_at_ms, meta->thread_id);
	return xasprintf("%s/codex-fork-%.*s.jsonl", folder ? folder : "/tmp", STR_ARG(meta->thread_id));
}

void thread_fork_keep(struct thread_fork *fork)
{
	if (fork->is_ephemeral)
		return;
	free(fork->path);
	fork->path = NULL;
}

int thread_fork_make(struct thread_fork *fork, const char *home, const struct rollout_reader *reader,
                     const struct thread_history *history, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	size_t cut;
	struct rollout_meta meta = reader->meta;
	if (find_cut(fork, reader, history, &cut, err) != 0)
		return -(int)err->code;
	uuid_v7(id);
	meta.forked_from_id = meta.thread_id;
	meta.thread_id = str_of(id);
	meta.started_at_ms = clock_unix_ms();
	meta.originator = str_of(fork->originator);
	meta.cli_version = STR(CODEX_VERSION);
	meta.source = session_source_vscode;
	auto_free char *path = choose_path(fork, home, &meta);
	if (rollout_fork(reader, cut, &meta, path, err) != 0)
		return -(int)err->code;
	fork->path = steal(path);
	return 0;
}
