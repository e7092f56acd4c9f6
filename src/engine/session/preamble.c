/* The messages are not repeated while nothing changes: that would cost tokens and miss the provider's prompt cache. */
#include "engine/session/preamble.h"

#include <time.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "command/shell.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/session/session.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_model.h"
#include "engine/session/conversation.h"
#include "engine/session/environment_docs.h"
#include "engine/session/session_skills.h"
#include "engine/history/history_item.h"
#include "model/model_permissions.h"
#include "model/prompt.h"
#include "protocol/message/approval.h"
#include "workspace/agents_md.h"

/* The destination of the messages. */
struct destination {
	struct conversation *conversation;
	struct context *fresh; /* a history that will replace the conversation's; NULL: append to the conversation */
};

/* Writes a message. The buffer has room for a text of the maximum length with every byte escaped. */
static void record_text(const struct destination *to, const char *role, struct str text)
{
	auto_buf struct buf item;
	buf_init(&item, (size_t)LIMIT_CONTEXT_TEXT * 6 + KIB);
	if (text.len > LIMIT_CONTEXT_TEXT)
		text.len = text_floor_boundary(text, LIMIT_CONTEXT_TEXT);
	text_message_write(&item, role, text);
	if (to->fresh)
		context_append(to->fresh, buf_str(&item));
	else
		conversation_add(to->conversation, buf_str(&item));
}

static void add_permissions(const struct destination *to, const struct settings *settings)
{
	auto_buf struct buf text;
	buf_init(&text, 256 * KIB);
	VEC(struct str) roots = {0};
	for (size_t i = 0; i < settings->sandbox_policy.writable_root_count; i++)
		vec_push(&roots, str_of(settings->sandbox_policy.writable_roots[i]));
	struct model_permissions permissions = {
		.sandbox = settings->sandbox_policy.mode,
		.approval = settings->approval_policy,
		.has_reviewer = settings->reviewer == approvals_reviewer_auto_review,
		.has_network = settings->sandbox_policy.network_access,
		.writable = roots.items,
		.writable_count = roots.count,
	};
	model_permissions_write(&text, &permissions);
	record_text(to, "developer", buf_str(&text));
	vec_finish(&roots);
}

/* Adds AGENTS.md files with the instructions of configure_session. */
static void add_docs(const struct destination *to, const struct settings *settings, bool is_again)
{
	struct session *session = to->conversation->session;
	auto_buf struct buf docs, text;
	buf_init(&docs, LIMIT_CONTEXT_TEXT);
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	const char *folder = environment_docs_read(session, settings, &docs);
	if (docs.len == 0 && !session->user_instructions && !is_again)
		return;
	buf_append_c(&text, folder ? "# AGENTS.md instructions for " : "# AGENTS.md instructions");
	if (folder)
		text_append_line(&text, str_of(folder));
	buf_append_c(&text, "\n\n<INSTRUCTIONS>\n");
	if (is_again)
		buf_append_c(&text, "They take the place of all earlier AGENTS.md instructions.\n\n");
	if (session->user_instructions)
		buf_printf(&text, "%s\n\n", session->user_instructions);
	text_append_utf8_lossy(&text, buf_str(&docs));
	buf_append_c(&text, "\n</INSTRUCTIONS>");
	record_text(to, "user", buf_str(&text));
}

/* Adds the configured developer instructions, and those files; later only files of another environment. */
static void add_instructions(const struct destination *to, const struct settings *before,
                             const struct settings *settings)
{
	struct conversation *conversation = to->conversation;
	const struct config *config = conversation->session->env->config;
	uint64_t known = conversation->docs_number,
		 now = environment_docs_number(conversation->session, settings, known);
	bool is_resumed = known == DOCS_RESUMED && before && settings_have_same_places(before, settings);
	conversation->docs_number = now;
	if (before) {
		if (now != known && !is_resumed)
			add_docs(to, settings, true);
		return;
	}
	if (config->developer_instructions)
		record_text(to, "developer", str_of(config->developer_instructions));
	const struct config_required *required = config_required(config);
	if (required && required->keys.additional_developer_instructions)
		record_text(to, "developer", str_of(required->keys.additional_developer_instructions));
	add_docs(to, settings, false);
}

static void append_time(struct buf *out)
{
	struct tm local;
	char date[16], zone[64];
	time_t now = (time_t)(clock_unix_ms() / 1000);
	if (!localtime_r(&now, &local) || !strftime(date, sizeof(date), "%Y-%m-%d", &local))
		return;
	buf_printf(out, "  <current_date>%s</current_date>\n", date);
	if (strftime(zone, sizeof(zone), "%Z", &local))
		buf_printf(out, "  <timezone>%s</timezone>\n", zone);
}

static void append_place(const char *cwd, const struct environment *environment, struct buf *out)
{
	buf_append_c(out, "  <cwd>");
	text_append_line(out, str_of(cwd));
	buf_append_c(out, "</cwd>\n  <shell>");
	text_append_line(out, str_of(shell_base_name(environment ? environment->shell : shell_user())));
	buf_append_c(out, "</shell>\n");
}

/* A place that a call can name. */
static void append_named(const char *cwd, const struct environment *environment, bool is_first, struct buf *out)
{
	buf_append_c(out, "  <environment id=\"");
	text_append_line(out, environment_id(environment));
	buf_printf(out, "\" primary=\"%s\">\n", is_first ? "true" : "false");
	append_place(cwd, environment, out);
	buf_append_c(out, "  </environment>\n");
}

static void add_environment(const struct destination *to, const struct settings *settings)
{
	auto_buf struct buf text;
	buf_init(&text, 256 * KIB);
	buf_append_c(&text, "<environment_context>\n");
	if (settings->further_count)
		append_named(settings_folder(settings), settings->environment, true, &text);
	else
		append_place(settings_folder(settings), settings->environment, &text);
	for (size_t i = 0; i < settings->further_count; i++)
		append_named(settings_folder_of(settings, &settings->further[i]), settings->further[i].environment,
		             false, &text);
	if (to->conversation->session->env->config->include_environment_context_time)
		append_time(&text);
	buf_append_c(&text, "</environment_context>");
	record_text(to, "user", buf_str(&text));
}

/* True if the mode needs no description: the default mode is described only after another one. */
static bool is_mode_plain(const struct settings *settings)
{
	return settings->mode == mode_kind_default && !settings->mode_instructions;
}

static void add_agents(const struct destination *to)
{
	const struct session_env *env = to->conversation->session->env;
	bool is_child = env->agent && env->agent->parent;
	if (env->config->features.subagent_tools)
		record_text(to, "developer", is_child ? prompt_agent_child : prompt_agent_root);
}

static void add_mode(const struct destination *to, const struct settings *before, const struct settings *settings)
{
	auto_buf struct buf text;
	struct str mode = settings_mode_text(settings);
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	if (before ? str_eq(settings_mode_text(before), mode) : is_mode_plain(settings))
		return;
	if (mode.len == 0)
		return;
	buf_append_c(&text, "<collaboration_mode>");
	buf_append_str(&text, mode);
	buf_append_c(&text, "</collaboration_mode>");
	record_text(to, "developer", buf_str(&text));
}

/* True if the last list of skills in the history is this one. */
static bool is_in_history(const struct conversation *conversation, struct str item)
{
	static const char begin[] = "{\"type\":\"message\",\"role\":\"developer\",\"content\":["
				    "{\"type\":\"input_text\",\"text\":\"<skills_instructions>";
	for (size_t i = conversation->context.items.count; i > 0; i--) {
		struct str text = context_item_text(&conversation->context, i - 1);
		if (str_has_prefix(text, begin))
			return str_eq(text, item);
	}
	return false;
}

static void add_skills(const struct destination *to, const struct settings *settings)
{
	auto_buf struct buf text, item;
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	buf_init(&item, (size_t)LIMIT_CONTEXT_TEXT * 6 + KIB);
	if (to->conversation->voice)
		return;
	session_skills_describe(to->conversation->session, settings, &text);
	if (!text.len)
		return;
	text_message_write(&item, "developer", buf_str(&text));
	if (to->fresh || !is_in_history(to->conversation, buf_str(&item)))
		record_text(to, "developer", buf_str(&text));
}

/* Adds the personality if it differs from that of the first settings, which the system prompt describes. Models
 * without personalities and system prompts of the user get no such message. */
static void add_personality(const struct destination *to, const struct settings *before,
                            const struct settings *settings)
{
	const struct session *session = to->conversation->session;
	enum personality known =
		before && before->info.has_personality ? before->personality : session->base_personality;
	if (!settings->info.has_personality || session->has_own_base || to->conversation->voice ||
	    settings->personality == known)
		return;
	auto_buf struct buf text;
	buf_init(&text, 64 * KIB);
	buf_append_c(&text, "<personality_spec>\n");
	buf_append_str(&text, prompt_personality_change);
	buf_append_c(&text, "\n\n");
	buf_append_str(&text, session_personality_text(settings->personality));
	buf_append_c(&text, "\n</personality_spec>");
	record_text(to, "developer", buf_str(&text));
}

static bool same_sandbox(const struct settings *a, const struct settings *b)
{
	if (!approval_is_same(a->approval_policy, b->approval_policy) || a->reviewer != b->reviewer ||
	    a->sandbox_policy.mode != b->sandbox_policy.mode ||
	    a->sandbox_policy.network_access != b->sandbox_policy.network_access ||
	    a->sandbox_policy.writable_root_count != b->sandbox_policy.writable_root_count)
		return false;
	for (size_t i = 0; i < a->sandbox_policy.writable_root_count; i++) {
		if (strcmp(a->sandbox_policy.writable_roots[i], b->sandbox_policy.writable_roots[i]) != 0)
			return false;
	}
	return true;
}

/* A history of the lite form begins with the tools and the system prompt. */
static void add_lite_head(const struct destination *to, const struct settings *settings)
{
	auto_buf struct buf item = {0};
	bool is_new = to->fresh || !to->conversation->context.items.count;
	if (!is_new || !conversation_wants_lite(to->conversation, settings))
		return;
	buf_init(&item, LIMIT_TOOLS_JSON);
	conversation_write_tools_item(to->conversation, settings, &item);
	if (to->fresh)
		context_append(to->fresh, buf_str(&item));
	else
		conversation_add(to->conversation, buf_str(&item));
	record_text(to, "developer", conversation_instructions(to->conversation));
}

/* The system prompt is an item of a lite history, so another model gets it once more. */
static void add_model(const struct destination *to, const struct settings *before, const struct settings *settings)
{
	if (!before || strcmp(before->model, settings->model) == 0 || !conversation_is_lite(to->conversation))
		return;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	buf_append_c(&text, "<model_switch>\n");
	buf_append_str(&text, prompt_model_switch);
	buf_append_c(&text, "\n\n");
	buf_append_str(&text, conversation_instructions(to->conversation));
	buf_append_c(&text, "\n</model_switch>");
	record_text(to, "developer", buf_str(&text));
}

static void add_changes(const struct destination *to, const struct settings *before, const struct settings *settings)
{
	const struct config *config = to->conversation->session->env->config;
	if (!before)
		add_lite_head(to, settings);
	add_model(to, before, settings);
	if (config->include_permissions_instructions && (!before || !same_sandbox(before, settings)))
		add_permissions(to, settings);
	if (!before)
		add_agents(to);
	add_instructions(to, before, settings);
	if (config->include_environment_context && (!before || !session_environment_is_same(before, settings)))
		add_environment(to, settings);
	add_mode(to, before, settings);
	add_personality(to, before, settings);
	add_skills(to, settings);
}

void preamble_update(struct conversation *conversation, struct settings *settings)
{
	const struct destination to = {.conversation = conversation};
	size_t items = conversation->context.items.count;
	size_t announced_at = conversation->announced_at;
	add_changes(&to, conversation->announced, settings);
	conversation_set_announced(conversation, settings);
	if (conversation->context.items.count == items)
		conversation->announced_at = announced_at;
}

void preamble_write(struct context *fresh, struct conversation *conversation, const struct settings *settings)
{
	const struct destination to = {.conversation = conversation, .fresh = fresh};
	add_changes(&to, NULL, settings);
}

void preamble_add_abort(struct conversation *conversation)
{
	if (!conversation->session->env->config->agents.interrupt_message)
		return;
	const struct destination to = {.conversation = conversation};
	auto_buf struct buf text;
	buf_init(&text, 16 * KIB);
	buf_printf(&text, "<turn_aborted>\n%.*s\n</turn_aborted>", STR_ARG(prompt_turn_aborted));
	record_text(&to, "user", buf_str(&text));
}
