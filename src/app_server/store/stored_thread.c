/* The file contains a thread's origin and messages, a loaded thread its current state. A worker makes the view from
 * the file, and the loop corrects it, so that loaded and stored threads look alike. */
#include "app_server/store/stored_thread.h"

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/json.h"
#include "base/mem.h"

/* Values from later versions map to unknown. */
static const enum app_session_source_tag sources[] = {
	[session_source_exec] = app_session_source_exec,       [session_source_cli] = app_session_source_cli,
	[session_source_vscode] = app_session_source_vscode,   [session_source_mcp] = app_session_source_app_server,
	[session_source_unknown] = app_session_source_unknown,
};

static struct app_session_source *source_of(const struct rollout_meta *meta, struct arena *arena)
{
	struct app_session_source *ret = arena_new(arena, struct app_session_source);
	if (!meta->subagent.ptr) {
		ret->tag = sources[meta->source];
		return ret;
	}
	ret->tag = app_session_source_sub_agent;
	ret->sub_agent = arena_new(arena, struct app_session_source_sub_agent);
	ret->sub_agent->source = meta->subagent;
	return ret;
}

static struct app_git_info *git_of(const struct rollout_meta *meta, struct arena *arena)
{
	if (!meta->git_commit.ptr && !meta->git_branch.ptr && !meta->git_url.ptr)
		return NULL;
	struct app_git_info *ret = arena_new(arena, struct app_git_info);
	*ret = (struct app_git_info){meta->git_commit, meta->git_branch, meta->git_url};
	return ret;
}

/* Returns "" for a text that an old file lacks, because the wire requires a string. */
static struct str or_empty(struct str text)
{
	return text.ptr ? text : STR("");
}

/* Sets the parent and the nickname from the source in a subagent's file. */
static void set_agent_origin(const struct rollout_meta *meta, struct arena *arena, struct app_thread *ret)
{
	const struct json *source = meta->subagent.ptr ? json_parse(arena, meta->subagent, NULL) : NULL;
	const struct json *spawn = json_is(source, JSON_object) ? json_get(source, "thread_spawn") : NULL;
	if (!json_is(spawn, JSON_object))
		return;
	ret->parent_thread_id = json_get_str(spawn, "parent_thread_id");
	ret->agent_nickname = json_get_str(spawn, "agent_nickname");
	ret->agent_role = json_get_str(spawn, "agent_role");
}

void stored_thread_view(const struct rollout_summary *summary, struct str name, struct arena *arena,
                        struct app_thread *ret)
{
	const struct rollout_meta *meta = &summary->meta;
	int effort = 0;
	bool has_effort = summary->effort.ptr && enum_parse(&enum_reasoning_effort, summary->effort, &effort);
	struct app_thread_status *status = arena_new(arena, struct app_thread_status);
	status->tag = app_thread_status_not_loaded;
	*ret = (struct app_thread){
		.id = meta->thread_id,
		.session_id = meta->thread_id,
		.forked_from_id = meta->forked_from_id,
		.preview = or_empty(summary->preview),
		.history_mode = meta->is_paginated ? app_thread_history_mode_paginated : app_thread_history_mode_legacy,
		.model_provider = or_empty(meta->model_provider),
		.model = summary->model,
		.has_reasoning_effort = has_effort,
		.reasoning_effort = (enum reasoning_effort)effort,
		.created_at = summary->created_at_ms / 1000,
		.updated_at = summary->updated_at_ms / 1000,
		.has_recency_at = true,
		.recency_at = summary->updated_at_ms / 1000,
		.status = status,
		.path = summary->path,
		.cwd = or_empty(meta->cwd),
		.cli_version = or_empty(meta->cli_version),
		.originator = meta->originator,
		.source = source_of(meta, arena),
		.git_info = git_of(meta, arena),
		.name = name,
	};
	set_agent_origin(meta, arena, ret);
}

void stored_thread_join(const struct app_server *server, struct arena *arena, struct app_thread *thread)
{
	struct app_thread live;
	const struct thread *loaded = threads_find((struct app_server *)(uintptr_t)server, thread->id);
	if (!loaded)
		return;
	thread_view(loaded, arena, &live);
	thread->environments = live.environments;
	thread->environments_count = live.environments_count;
	thread->status = live.status;
	thread->model = live.model;
	thread->model_provider = live.model_provider;
	thread->has_reasoning_effort = live.has_reasoning_effort;
	thread->reasoning_effort = live.reasoning_effort;
	thread->cwd = live.cwd;
	if (live.name.ptr)
		thread->name = live.name;
	thread_note_apply(&loaded->note, thread);
}
