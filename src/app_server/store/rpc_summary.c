/* getConversationSummary returns the summary of a thread for older clients, read from the file only. */
#include "app_server/rpc/server.h"
#include "app_server/store/store_job.h"
#include "app_server/store/stored_thread.h"
#include "app_server/threads/thread_note.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "rollout/rollout_list.h"

struct summary {
	struct app_thread thread;
	struct rollout_summary file;
};

static char *find_path(struct store_job *job, struct error *err)
{
	const struct app_get_conversation_summary_params *params = job->params;
	if (!params->conversation_id.ptr) {
		auto_free char *name = str_dup(params->rollout_path);
		if (file_is_regular(name))
			return steal(name);
		error_set(err, ERR_not_found, "failed to resolve rollout path `%s`: file does not exist", name);
		return NULL;
	}
	char *path = rollout_list_find_id(job->home, params->conversation_id, err);
	if (!path)
		error_set(err, ERR_not_found, "no rollout found for conversation id %.*s",
		          STR_ARG(params->conversation_id));
	return path;
}

static int run(struct store_job *job, struct error *err)
{
	struct summary *summary = job->out;
	struct thread_note note;
	auto_free char *path = find_path(job, err);
	if (!path || rollout_summary_read(path, &job->arena, &summary->file, err) != 0)
		return -1;
	stored_thread_view(&summary->file, STR_NONE, &job->arena, &summary->thread);
	thread_note_read(job->home, summary->thread.id, &job->arena, &note);
	thread_note_apply(&note, &summary->thread);
	return 0;
}

static struct str time_text(int64_t unix_ms, struct arena *arena)
{
	char text[CLOCK_RFC3339_SIZE];
	clock_rfc3339(unix_ms, text);
	return arena_str(arena, str_of(text));
}

/* Converts the source. Older clients expect the words that rollouts use: "mcp" and "subagent". */
static struct app_rollout_session_source *rollout_source(const struct app_session_source *from, struct arena *arena)
{
	static const enum app_rollout_session_source_tag tags[] = {
		[app_session_source_cli] = app_rollout_session_source_cli,
		[app_session_source_vscode] = app_rollout_session_source_vscode,
		[app_session_source_exec] = app_rollout_session_source_exec,
		[app_session_source_app_server] = app_rollout_session_source_mcp,
		[app_session_source_unknown] = app_rollout_session_source_unknown,
		[app_session_source_custom] = app_rollout_session_source_custom,
		[app_session_source_sub_agent] = app_rollout_session_source_subagent,
	};
	struct app_rollout_session_source *ret = arena_new(arena, struct app_rollout_session_source);
	ret->tag = tags[from->tag];
	if (from->tag == app_session_source_custom)
		ret->custom = from->custom;
	else if (from->tag == app_session_source_sub_agent)
		ret->subagent = from->sub_agent;
	return ret;
}

static void reply(struct store_job *job)
{
	struct summary *found = job->out;
	const struct app_thread *thread = &found->thread;
	struct app_conversation_git_info git = {0};
	struct app_conversation_summary summary = {
		.conversation_id = thread->id,
		.path = thread->path,
		.preview = thread->preview,
		.timestamp = time_text(found->file.created_at_ms, &job->arena),
		.updated_at = time_text(found->file.updated_at_ms, &job->arena),
		.model_provider = thread->model_provider,
		.cwd = thread->cwd,
		.cli_version = thread->cli_version,
		.source = rollout_source(thread->source, &job->arena),
	};
	if (thread->git_info) {
		git = (struct app_conversation_git_info){thread->git_info->sha, thread->git_info->branch,
		                                         thread->git_info->origin_url};
		summary.git_info = &git;
	}
	struct app_get_conversation_summary_response response = {&summary};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_get_conversation_summary(struct rpc_request *request,
                                                 const struct app_get_conversation_summary_params *params)
{
	bool has_id = params->conversation_id.ptr && uuid_is_valid(params->conversation_id);
	if (!has_id && (params->conversation_id.ptr || !params->rollout_path.len))
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "Invalid request: data did not match any variant of untagged enum "
		                "GetConversationSummaryParams");
	return store_job_start(request, sizeof(struct summary), run, reply);
}
