/* Each step reads the options and does nothing if they do not ask for it, so that the caller has one order for all. */
#include "ui/exec/exec_resume.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "config/config.h"
#include "rollout/rollout_fork.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_path.h"
#include "ui/exec/exec_options.h"
#include "ui/sessions/session_pick.h"

static const char *verb_of(const struct exec_options *options)
{
	return options->forks ? "fork" : "resume";
}

int exec_resume_pick(struct exec_resume *resume, struct error *err)
{
	const struct exec_options *options = resume->options;
	struct session_pick pick = {
		.home = config_home(resume->config),
		.cwd = options->all ? NULL : resume->cwd,
		.provider = resume->config->model_provider,
		.verb = verb_of(options),
	};
	if (!options->picks)
		return 0;
	int status = session_pick(&pick, &resume->path, err);
	resume->has_listed = status == 0 && !resume->path;
	return status;
}

static int find_latest(struct exec_resume *resume, struct error *err)
{
	const struct exec_options *options = resume->options;
	struct rollout_filter filter = {
		.cwd = options->all ? STR_NONE : str_of(resume->cwd),
		.model_provider = str_of(resume->config->model_provider),
	};
	resume->path = rollout_list_find_latest(config_home(resume->config), &filter, err);
	if (resume->path)
		return 0;
	if (err->code != ERR_not_found)
		return -(int)err->code;
	fprintf(stderr, "warning: no session to %s%s; a new one is started\n", verb_of(options),
	        options->all ? "" : " in this folder");
	return 0;
}

int exec_resume_find(struct exec_resume *resume, struct error *err)
{
	const struct exec_options *options = resume->options;
	if (!options->resume || resume->path)
		return 0;
	if (!options->resume_id)
		return find_latest(resume, err);
	resume->path = session_find(config_home(resume->config), options->resume_id, err);
	return resume->path ? 0 : error_wrap(err, "no session to %s", verb_of(options));
}

int exec_resume_fork(struct exec_resume *resume, const char *originator, struct error *err)
{
	const struct exec_options *options = resume->options;
	if (!options->forks || !resume->path || options->ephemeral)
		return 0;
	char *copy = rollout_fork_whole(config_home(resume->config), resume->path, originator, err);
	if (!copy)
		return error_wrap(err, "the session cannot be copied");
	free(resume->path);
	resume->path = copy;
	return 0;
}

int exec_resume_check(const char *path, struct error *err)
{
	struct rollout_file_name name;
	if (rollout_lock_is_ending(path) || !rollout_path_parse(path_name(path), &name))
		return 0;
	return error_set(err, ERR_busy, "session %.*s runs in another process; watch it with: codex attach %.*s",
	                 STR_ARG(name.thread_id), STR_ARG(name.thread_id));
}
