/* The encoder writes the fields of January 2026, which all later versions can read, and the fields of codex 0.169
 * that change the meaning of the file: history_mode and history_base. */
#include "rollout/rollout_meta.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/uuid.h"

static void optional(struct json_writer *w, const char *key, struct str text)
{
	if (text.ptr)
		jw_member_str(w, key, text);
}

static void encode_instructions(struct str text, struct json_writer *w)
{
	if (!text.ptr)
		return;
	jw_key(w, "base_instructions");
	jw_object(w);
	jw_member_str(w, "text", text);
	jw_object_end(w);
}

static void encode_git(const struct rollout_meta *meta, struct json_writer *w)
{
	if (!meta->git_commit.ptr && !meta->git_branch.ptr && !meta->git_url.ptr)
		return;
	jw_key(w, "git");
	jw_object(w);
	optional(w, "commit_hash", meta->git_commit);
	optional(w, "branch", meta->git_branch);
	optional(w, "repository_url", meta->git_url);
	jw_object_end(w);
}

/* Writes a source such as {"subagent":{"thread_spawn":{…}}}. */
static void encode_source(const struct rollout_meta *meta, struct json_writer *w)
{
	if (!meta->parent_thread_id.ptr) {
		jw_member_cstr(w, "source", enum_wire(&enum_session_source, meta->source));
		return;
	}
	jw_member_str(w, "parent_thread_id", meta->parent_thread_id);
	jw_key(w, "source");
	jw_object(w);
	jw_key(w, "subagent");
	jw_object(w);
	jw_key(w, "thread_spawn");
	jw_object(w);
	jw_member_str(w, "parent_thread_id", meta->parent_thread_id);
	jw_member_i64(w, "depth", meta->depth);
	jw_member_cstr(w, "agent_path", NULL);
	jw_member_str(w, "agent_nickname", meta->nickname);
	jw_member_str(w, "agent_role", meta->role);
	jw_object_end(w);
	jw_object_end(w);
	jw_object_end(w);
	jw_member_cstr(w, "thread_source", "subagent");
	optional(w, "agent_nickname", meta->nickname);
	optional(w, "agent_role", meta->role);
}

static void encode_base(const struct rollout_meta *meta, struct json_writer *w)
{
	if (!meta->base_rollout_id.ptr)
		return;
	jw_key(w, "history_base");
	jw_object(w);
	jw_member_str(w, "thread_id", meta->base_rollout_id);
	jw_member_i64(w, "end_ordinal_exclusive", (int64_t)meta->base_ordinal);
	jw_member_i64(w, "end_byte_offset", (int64_t)meta->base_bytes);
	jw_object_end(w);
}

void rollout_meta_encode(const struct rollout_meta *meta, struct json_writer *w)
{
	char timestamp[CLOCK_RFC3339_SIZE];
	clock_rfc3339(meta->started_at_ms, timestamp);
	jw_object(w);
	if (meta->is_paginated)
		jw_member_str(w, "session_id", meta->root_thread_id.ptr ? meta->root_thread_id : meta->thread_id);
	jw_member_str(w, "id", meta->thread_id);
	optional(w, "forked_from_id", meta->forked_from_id);
	if (meta->forked_from_id.ptr && meta->base_rollout_id.ptr)
		jw_member_i64(w, "forked_from_ordinal_exclusive", (int64_t)meta->base_ordinal);
	jw_member_cstr(w, "timestamp", timestamp);
	jw_member_str(w, "cwd", meta->cwd);
	jw_member_str(w, "originator", meta->originator);
	jw_member_str(w, "cli_version", meta->cli_version);
	encode_source(meta, w);
	jw_member_str(w, "model_provider", meta->model_provider);
	encode_instructions(meta->base_instructions, w);
	if (meta->is_paginated)
		jw_member_cstr(w, "history_mode", "paginated");
	encode_base(meta, w);
	encode_git(meta, w);
	if (meta->dynamic_tools.ptr)
		jw_member_raw(w, "dynamic_tools", meta->dynamic_tools);
	jw_object_end(w);
}

struct rollout_meta *rollout_meta_copy(const struct rollout_meta *meta, struct arena *arena)
{
	struct rollout_meta *copy = arena_new(arena, struct rollout_meta);
	*copy = *meta;
	struct str *const texts[] = {
		&copy->thread_id,      &copy->timestamp,        &copy->cwd,
		&copy->originator,     &copy->cli_version,      &copy->subagent,
		&copy->root_thread_id, &copy->parent_thread_id, &copy->nickname,
		&copy->role,           &copy->model_provider,   &copy->forked_from_id,
		&copy->git_commit,     &copy->git_branch,       &copy->git_url,
		&copy->dynamic_tools,  &copy->base_rollout_id,
	};
	for (size_t i = 0; i < countof(texts); i++)
		*texts[i] = arena_str(arena, *texts[i]);
	return copy;
}

/* Copies a text member; STR_NONE if absent. */
static struct str text_of(const struct json *object, const char *key, struct arena *arena)
{
	return arena_str(arena, json_get_str(object, key));
}

static void decode_source(const struct json *source, struct arena *arena, struct rollout_meta *meta)
{
	const struct json *kind = json_get(source, "subagent");
	int value = source ? session_source_unknown : session_source_vscode; /* vscode files name no source */
	struct str word;
	if (json_to_str(source, &word))
		enum_parse(&enum_session_source, word, &value);
	meta->source = (enum session_source)value;
	meta->is_subagent = json_is(source, JSON_object);
	meta->subagent = kind ? arena_str(arena, kind->span) : STR_NONE;
}

static int decode_base(const struct json *base, struct arena *arena, struct rollout_meta *meta, struct error *err)
{
	if (!json_is(base, JSON_object))
		return 0;
	meta->base_rollout_id = text_of(base, "thread_id", arena);
	if (!uuid_is_valid(meta->base_rollout_id) || !json_to_u64(json_get(base, "end_byte_offset"), &meta->base_bytes))
		return error_set(err, ERR_invalid, "history_base has no valid thread_id or end_byte_offset");
	return 0;
}

int rollout_meta_decode(const struct json *payload, struct arena *arena, struct rollout_meta *ret, struct error *err)
{
	const struct json *git = json_get(payload, "git"), *tools = json_get(payload, "dynamic_tools");
	struct rollout_meta meta = {
		.thread_id = text_of(payload, "id", arena),
		.timestamp = text_of(payload, "timestamp", arena),
		.cwd = text_of(payload, "cwd", arena),
		.originator = text_of(payload, "originator", arena),
		.cli_version = text_of(payload, "cli_version", arena),
		.model_provider = text_of(payload, "model_provider", arena),
		.base_instructions = arena_str(arena, json_get_str(json_get(payload, "base_instructions"), "text")),
		.forked_from_id = text_of(payload, "forked_from_id", arena),
		.git_commit = text_of(git, "commit_hash", arena),
		.git_branch = text_of(git, "branch", arena),
		.git_url = text_of(git, "repository_url", arena),
		.dynamic_tools = json_is(tools, JSON_array) ? arena_str(arena, tools->span) : STR_NONE,
		.is_paginated = str_is(json_get_str(payload, "history_mode"), "paginated"),
	};
	if (!uuid_is_valid(meta.thread_id))
		return error_set(err, ERR_invalid, "the first line has no session id");
	decode_source(json_get(payload, "source"), arena, &meta);
	*ret = meta;
	return decode_base(json_get(payload, "history_base"), arena, ret, err);
}
