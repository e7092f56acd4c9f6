/* The names are rows of acp_slash.def. A skill is not a command of this file: the engine finds `$name` in any prompt.
 */
#include "acp/acp_slash.h"

#include <stdio.h>

#include "acp/acp_account.h"
#include "acp/acp_session.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/toml/toml.h"
#include "engine/codex/codex.h"

/* ---- answers without the model ---- */

static enum acp_slash_outcome say(struct acp_session *session, struct acp_prompt *prompt, struct str text)
{
	acp_session_say(session, text, STR_NONE);
	acp_prompt_end(session, prompt, acp_stop_reason_end_turn);
	return ACP_SLASH_taken;
}

static void write_tokens(struct buf *out, const struct token_usage *usage)
{
	buf_printf(out, "- Tokens: %lld (input %lld, cached %lld, output %lld)\n", (long long)usage->total_tokens,
	           (long long)usage->input_tokens, (long long)usage->cached_input_tokens,
	           (long long)usage->output_tokens);
}

static enum acp_slash_outcome slash_status(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                           struct str *ret_text)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	const struct acp_choices *choices = &session->choices;
	const struct sandbox *sandbox =
		acp_mode_sandbox(choices->mode, session->config, session->roots.items, session->roots.count, &arena);
	const char *effort = choices->has_effort ? enum_wire(&enum_reasoning_effort, (int)choices->effort) : "";
	(void)rest;
	(void)ret_text;
	buf_init(&out, LIMIT_LINE);
	buf_printf(&out, "- Model: %s%s%s%s\n", choices->model, *effort ? " (" : "", effort, *effort ? ")" : "");
	buf_printf(&out, "- Folder: %s\n", session->cwd);
	vec_for_each(root, &session->roots)
		buf_printf(&out, "- Additional folder: %.*s\n", STR_ARG(*root));
	buf_printf(&out, "- Approval: %s\n", acp_choices_approval(choices, session->config));
	buf_printf(&out, "- Sandbox: %s\n", union_find_tag(&union_sandbox, (int)sandbox->tag)->wire);
	buf_printf(&out, "- Collaboration: %s\n", enum_wire(&enum_mode_kind, (int)choices->collaboration));
	buf_printf(&out, "- Session: %s\n", session->id);
	write_tokens(&out, &session->usage);
	return say(session, prompt, buf_str(&out));
}

static enum acp_slash_outcome slash_skills(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                           struct str *ret_text)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	const struct json *all = session->skills ? json_parse(&arena, str_of(session->skills), NULL) : NULL;
	(void)rest;
	(void)ret_text;
	buf_init(&out, LIMIT_LINE);
	json_for_each(it, all) {
		struct str name = json_get_str(it, "name"), about = json_get_str(it, "description");
		buf_printf(&out, "- $%.*s: %.*s\n", STR_ARG(name), STR_ARG(about));
	}
	return say(session, prompt, out.len ? buf_str(&out) : STR("This folder has no skills.\n"));
}

static enum acp_slash_outcome slash_logout(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                           struct str *ret_text)
{
	(void)rest;
	(void)ret_text;
	acp_logout_for(session, prompt);
	return ACP_SLASH_taken;
}

static void write_goal(const struct codex *codex, struct buf *out)
{
	struct thread_goal goal;
	if (!codex_goal(codex, &goal)) {
		buf_append_c(out, "No goal is set: /goal What to reach\n");
		return;
	}
	buf_printf(out, "- Goal: %.*s\n- Status: %s\n- Tokens: %lld", STR_ARG(goal.objective),
	           enum_wire(&enum_goal_status, (int)goal.status), (long long)goal.tokensUsed);
	if (goal.has_tokenBudget)
		buf_printf(out, " of %lld", (long long)goal.tokenBudget);
	buf_printf(out, "\n- Time: %lld s\n", (long long)goal.timeUsedSeconds);
}

static bool change_goal(struct codex *codex, struct str rest, struct buf *out)
{
	struct error err;
	bool is_pause = str_is(rest, "pause");
	struct goal_change wanted = {
		.objective = is_pause || str_is(rest, "resume") ? STR_NONE : rest,
		.has_status = true,
		.status = is_pause ? goal_status_paused : goal_status_active,
	};
	if (codex_change_goal(codex, &wanted, &err) == 0)
		return true;
	buf_printf(out, "%s\n", err.text);
	return false;
}

/* Carries out `/goal REST`. Appends the answer; false if turns of the goal answer the prompt later. */
static bool run_goal(struct acp_session *session, struct str rest, struct buf *out)
{
	if (str_is(rest, "clear")) {
		buf_append_c(out, codex_clear_goal(session->codex) ? "The goal was removed.\n" : "No goal is set.\n");
		return true;
	}
	if (rest.len && !change_goal(session->codex, rest, out))
		return true;
	if (rest.len && acp_session_has_goal(session))
		return false;
	write_goal(session->codex, out);
	return true;
}

static enum acp_slash_outcome slash_goal(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                         struct str *ret_text)
{
	auto_buf struct buf out;
	(void)ret_text;
	buf_init(&out, LIMIT_LINE);
	if (run_goal(session, rest, &out))
		return say(session, prompt, buf_str(&out));
	prompt->is_goal = prompt->is_in = true;
	return ACP_SLASH_taken;
}

/* ---- commands that an event answers; they are not tasks ---- */

static enum acp_slash_outcome submit_aside(struct acp_session *session, struct acp_prompt *prompt, enum op_tag tag,
                                           const void *body)
{
	struct error err;
	struct op op = {.tag = tag, .body = (void *)(uintptr_t)body};
	prompt->is_aside = true;
	if (codex_submit_op(session->codex, str_of(prompt->id), &op, &err) != 0)
		acp_prompt_fail(session, prompt, ACP_INTERNAL_ERROR, str_of(err.text));
	return ACP_SLASH_taken;
}

/* Answered by thread_name_updated. */
static enum acp_slash_outcome slash_rename(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                           struct str *ret_text)
{
	struct op_set_thread_name body = {rest};
	(void)ret_text;
	if (!rest.len)
		return say(session, prompt, STR("Name the session: /rename New title\n"));
	return submit_aside(session, prompt, OP_set_thread_name, &body);
}

/* Answered by mcp_list_tools_response, after the servers have started: also those that had failed or exited, so that
 * /mcp and /mcp reconnect do the same. */
static enum acp_slash_outcome slash_mcp(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                        struct str *ret_text)
{
	const struct toml *servers = config_find(session->config, "mcp_servers");
	(void)ret_text;
	if (rest.len && !str_is(rest, "reconnect"))
		return say(session, prompt,
		           STR("Show the servers: /mcp. Start those that have failed again: /mcp reconnect\n"));
	if (!servers || servers->kind != TOML_table || !servers->count)
		return say(session, prompt, STR("No MCP servers are configured.\n"));
	return submit_aside(session, prompt, OP_list_mcp_tools, NULL);
}

/* Returns the prefix of the names of a server's tools. */
static struct str namespace_of(struct str server, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, server.len + 16);
	buf_append_c(&out, "mcp__");
	for (size_t i = 0; i < server.len; i++) {
		char c = server.ptr[i];
		bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		buf_append_char(&out, is_word ? c : '_');
	}
	buf_append_c(&out, "__");
	return arena_str(arena, buf_str(&out));
}

static void write_server(struct buf *out, struct str server, struct str login, const struct json *tools)
{
	auto_arena struct arena arena = {0};
	struct str prefix = namespace_of(server, &arena);
	size_t count = 0;
	buf_printf(out, "- %.*s: ", STR_ARG(server));
	json_for_each(it, tools) {
		struct str name = it->key;
		if (!str_cut_prefix(&name, prefix.ptr))
			continue;
		buf_append_c(out, count++ ? ", " : "");
		buf_append_str(out, name);
	}
	if (str_is(login, "not_logged_in"))
		buf_printf(out, "not logged in: run `codex mcp login %.*s`", STR_ARG(server));
	else if (!count)
		buf_append_c(out, "no tools");
	buf_append_char(out, '\n');
}

void acp_slash_take_mcp(struct acp_session *session, struct str prompt_id, const struct ev_mcp_list_tools *event)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	struct acp_prompt *prompt = acp_prompt_find(session, prompt_id);
	const struct json *tools = json_parse(&arena, event->tools, NULL);
	const struct json *servers = json_parse(&arena, event->auth_statuses, NULL);
	buf_init(&out, LIMIT_LINE);
	json_for_each(it, servers)
		write_server(&out, it->key, it->text, tools);
	if (prompt)
		say(session, prompt, buf_str(&out));
}

/* ---- tasks ---- */

/* Submits an Op whose task answers the prompt. It would replace a running task, so there must be none. */
static enum acp_slash_outcome start(struct acp_session *session, struct acp_prompt *prompt, enum op_tag tag,
                                    const void *body)
{
	struct error err;
	struct op op = {.tag = tag, .body = (void *)(uintptr_t)body};
	if (session->prompt_count > 1)
		return say(session, prompt, STR("A prompt is running: send this command after its end.\n"));
	if (codex_submit_op(session->codex, str_of(prompt->id), &op, &err) != 0)
		acp_prompt_fail(session, prompt, ACP_INTERNAL_ERROR, str_of(err.text));
	return ACP_SLASH_taken;
}

static enum acp_slash_outcome slash_compact(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                            struct str *ret_text)
{
	(void)rest;
	(void)ret_text;
	return start(session, prompt, OP_compact, NULL);
}

static enum acp_slash_outcome start_review(struct acp_session *session, struct acp_prompt *prompt,
                                           struct review_target *target)
{
	struct review_request request = {.target = target};
	struct op_review body = {&request};
	return start(session, prompt, OP_review, &body);
}

static enum acp_slash_outcome slash_review(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                           struct str *ret_text)
{
	struct review_custom custom = {rest};
	struct review_target target = {.tag = review_target_uncommitted_changes};
	(void)ret_text;
	if (rest.len)
		target = (struct review_target){.tag = review_target_custom, .custom = &custom};
	return start_review(session, prompt, &target);
}

static enum acp_slash_outcome slash_review_branch(struct acp_session *session, struct acp_prompt *prompt,
                                                  struct str rest, struct str *ret_text)
{
	struct review_branch branch = {rest};
	struct review_target target = {.tag = review_target_base_branch, .base_branch = &branch};
	(void)ret_text;
	if (!rest.len)
		return say(session, prompt, STR("Name the branch: /review-branch main\n"));
	return start_review(session, prompt, &target);
}

static enum acp_slash_outcome slash_review_commit(struct acp_session *session, struct acp_prompt *prompt,
                                                  struct str rest, struct str *ret_text)
{
	struct review_commit commit = {.sha = rest};
	struct review_target target = {.tag = review_target_commit, .commit = &commit};
	(void)ret_text;
	if (!rest.len)
		return say(session, prompt, STR("Name the commit: /review-commit 1a2b3c4\n"));
	return start_review(session, prompt, &target);
}

static enum acp_slash_outcome slash_plan(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
                                         struct str *ret_text)
{
	const char *wrong;
	auto_arena struct arena arena = {0};
	struct acp_option_result options = {0};
	acp_option_set(&session->choices, STR("collaboration_mode"), STR("plan"), &wrong);
	options.config_options = acp_options_make(&session->choices, &arena, &options.config_options_count);
	acp_session_update(session, acp_update_config_option_update, &options);
	if (!rest.len)
		return say(session, prompt, STR("Plan mode is on: the next prompt is planned first.\n"));
	*ret_text = rest;
	return ACP_SLASH_text;
}

/* ---- the table ---- */

static const struct slash {
	const char *name, *hint, *doc;
	enum acp_slash_outcome (*run)(struct acp_session *session, struct acp_prompt *prompt, struct str rest,
	                              struct str *ret_text);
} slashes[] = {
#define SLASH(tag, name, hint, doc) {name, hint, doc, slash_##tag},
#include "acp/acp_slash.def"
#undef SLASH
};

enum acp_slash_outcome acp_slash_run(struct acp_session *session, struct acp_prompt *prompt, struct str text,
                                     struct str *ret_text)
{
	struct str rest = str_trim(text);
	if (!str_cut_prefix(&rest, "/"))
		return ACP_SLASH_none;
	size_t len = 0;
	while (len < rest.len && rest.ptr[len] != ' ' && rest.ptr[len] != '\n' && rest.ptr[len] != '\t')
		len++;
	for (size_t i = 0; i < countof(slashes); i++) {
		if (str_is(str_n(rest.ptr, len), slashes[i].name))
			return slashes[i].run(session, prompt, str_trim(str_skip(rest, len)), ret_text);
	}
	return ACP_SLASH_none;
}

/* ---- the list ---- */

void acp_slash_announce(struct acp_session *session)
{
	auto_arena struct arena arena = {0};
	const struct json *skills = session->skills ? json_parse(&arena, str_of(session->skills), NULL) : NULL;
	struct acp_commands commands = {
		arena_array(&arena, struct acp_command_info, countof(slashes) + (skills ? skills->count : 0)), 0};
	for (size_t i = 0; i < countof(slashes); i++) {
		struct acp_command_input *input = arena_new(&arena, struct acp_command_input);
		input->hint = str_of(slashes[i].hint);
		commands.available_commands[commands.available_commands_count++] = (struct acp_command_info){
			str_of(slashes[i].name), str_of(slashes[i].doc), slashes[i].hint ? input : NULL};
	}
	json_for_each(it, skills) {
		const char *name = arena_printf(&arena, "$%.*s", STR_ARG(json_get_str(it, "name")));
		struct str about = json_get_str(it, "description");
		commands.available_commands[commands.available_commands_count++] =
			(struct acp_command_info){str_of(name), about.ptr ? about : STR(""), NULL};
	}
	acp_session_update(session, acp_update_available_commands_update, &commands);
}

void acp_slash_ask_skills(struct acp_session *session)
{
	struct op_list_skills body = {0};
	struct op op = {.tag = OP_list_skills, .list_skills = &body};
	best_effort(codex_submit_op(session->codex, STR(""), &op, NULL)); /* the list stays as it is */
}

void acp_slash_take_skills(struct acp_session *session, const struct ev_list_skills *event)
{
	struct buf out;
	buf_init(&out, LIMIT_LINE);
	struct json_writer w = json_writer(&out);
	jw_array(&w);
	for (size_t i = 0; i < event->skills_count; i++) {
		const struct skills_list_entry *entry = &event->skills[i];
		for (size_t n = 0; n < entry->skills_count; n++) {
			if (entry->skills[n].enabled)
				record_encode(&record_skill_metadata, &entry->skills[n], &w);
		}
	}
	jw_array_end(&w);
	bool has_skills = session->skills || out.len > 2;
	free(session->skills);
	session->skills = buf_take(&out);
	if (has_skills)
		acp_slash_announce(session);
}
