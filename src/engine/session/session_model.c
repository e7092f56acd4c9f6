/* Tools and instructions are built when they are first needed and cached until the model changes. */
#include "engine/session/session_model.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "agent/agent_tree.h"
#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/shared_text.h"
#include "base/text.h"
#include "base/uuid.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "config/toml/toml.h"
#include "engine/session/session.h"
#include "engine/session/session_code.h"
#include "engine/session/session_tools.h"
#include "engine/session/session_window.h"
#include "model/model_client.h"
#include "model/prompt.h"

struct model_provider *session_read_provider(const struct session *session, struct str described, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct config *config = session->env->config;
	if (auth_enforce(config, 0, err) != 0)
		return NULL;
	if (!described.ptr)
		return model_provider_create(config, NULL, err);
	const struct toml *table = toml_from_json(&arena, json_parse(&arena, described, NULL), "provider", err);
	return table ? model_provider_create_from(config, table, err) : NULL;
}

void session_model_open(struct session *session, struct model_provider *provider)
{
	const struct session_env *env = session->env;
	env->ops->on_model_close(env->self);
	session_window_finish(session);
	model_client_destroy(session->model);
	model_provider_destroy(session->provider);
	session->provider = provider;
	free(steal(session->conversation.tools_model)); /* the tools depend on the provider */
	context_break_chain(&session->conversation.context);
	struct model_client_options options = {
		.loop = env->loop,
		.http = env->http,
		.accounts = env->accounts,
		.provider = session->provider,
		.watch = env->watch,
		.agent = {.originator = env->originator,
	                  .version = STR(CODEX_VERSION),
	                  .client = str_of(env->client),
	                  .client_version = str_of(env->client_version)},
	};
	session->model = model_client_create(&options);
	/* Clients resume sessions to show them, too. */
	model_client_preconnect(session->model, !session->resumed && !env->is_unhurried);
}

struct session_kin session_kin(const struct session *session)
{
	const struct agent *agent = session->env->agent;
	if (!agent || !agent->parent)
		return (struct session_kin){0};
	return (struct session_kin){str_of(agent_root(agent)->session_id), str_of(agent->parent->session_id)};
}

bool session_is_chained(const struct session *session)
{
	return session->provider->chains_responses && session->provider->wire == wire_api_responses &&
	       !session->is_private;
}

/* True if the file may contain keys. The open file is checked, because the path may lead to another one by now. */
static bool may_hold_keys(const struct config *config, int fd)
{
	struct stat file, keys;
	auto_free char *path = path_join(config_home(config), "auth.json");
	bool is_auth = fstat(fd, &file) == 0 && stat(path, &keys) == 0 && file.st_dev == keys.st_dev &&
	               file.st_ino == keys.st_ino;
	return is_auth || host_is_proc_file(fd);
}

int session_read_prompt_file(const struct config *config, const char *key, const char *path, struct buf *out,
                             struct error *err)
{
	struct stat st;
	auto_buf struct buf file;
	buf_init(&file, LIMIT_AGENTS_MD);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open %s", key, path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return error_set(err, ERR_invalid, "%s: %s is not a regular file", key, path);
	if (may_hold_keys(config, fd))
		return error_set(err, ERR_denied, "%s: %s is not sent to the model: it may contain keys", key, path);
	if (fd_read_all(fd, &file, path, err) != 0)
		return error_wrap(err, "%s", key);
	text_append_utf8_lossy(out, buf_str(&file));
	return 0;
}

static int read_base_file(const struct config *config, struct buf *out, struct error *err)
{
	static const char key[] = "model_instructions_file";
	size_t before = out->len;
	if (session_read_prompt_file(config, key, config->model_instructions_file, out, err) != 0)
		return -(int)err->code;
	if (str_trim(str_skip(buf_str(out), before)).len == 0)
		return error_set(err, ERR_invalid, "%s %s is empty", key, config->model_instructions_file);
	return 0;
}

struct str session_personality_text(enum personality personality)
{
	const struct str texts[] = {
		[personality_none] = prompt_personality_none,
		[personality_friendly] = prompt_personality_friendly,
		[personality_pragmatic] = prompt_personality_pragmatic,
	};
	return texts[personality];
}

/* The built-in prompt describes the personality of the first settings, if the model has personalities. */
static enum personality append_personality(const struct settings *settings, bool has_own_base, struct buf *text)
{
	if (has_own_base || settings->personality == personality_none)
		return personality_none;
	if (!settings->info.has_personality)
		return personality_pragmatic; /* the default in config.def */
	buf_append_c(text, "\n\n");
	buf_append_str(text, session_personality_text(settings->personality));
	return settings->personality;
}

static void set_base(struct session *session, struct shared_text *text)
{
	shared_text_unref(session->base_instructions);
	session->base_instructions = text;
}

int session_read_base(struct session *session, struct str own, struct error *err)
{
	const struct config *config = session->env->config;
	const struct session *parent = session->env->ops->parent(session->env->self);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	if (parent) {
		set_base(session, shared_text_ref(parent->base_instructions));
		session->has_own_base = parent->has_own_base;
		session->base_personality = parent->base_personality;
		return 0;
	}
	if (own.ptr)
		buf_append_str(&text, own);
	else if (!config->model_instructions_file)
		buf_append_str(&text, prompt_base);
	else if (read_base_file(config, &text, err) != 0)
		return -(int)err->code;
	bool has_own_base = own.ptr || config->model_instructions_file;
	enum personality personality = append_personality(session->settings, has_own_base, &text);
	if (config->instructions)
		buf_printf(&text, "\n\n%s", config->instructions);
	if (text.over)
		return error_set(err, ERR_limit, "the instructions have more than %d MB", LIMIT_CONTEXT_TEXT / MIB);
	set_base(session, shared_text_intern(buf_str(&text)));
	session->has_own_base = has_own_base;
	session->base_personality = personality;
	return 0;
}

/* ---- the lite form ---- */

#define TOOLS_ITEM "{\"type\":\"additional_tools\","

bool conversation_is_lite(const struct conversation *conversation)
{
	const struct context *context = &conversation->context;
	return context->items.count && str_has_prefix(context_item_text(context, 0), TOOLS_ITEM);
}

bool conversation_wants_lite(const struct conversation *conversation, const struct settings *settings)
{
	return settings->info.is_lite && conversation->session->provider->wire == wire_api_responses;
}

bool conversation_must_switch(const struct conversation *conversation, const struct settings *settings)
{
	const struct settings *before = conversation->announced;
	if (!conversation->context.items.count || conversation->voice)
		return false;
	if (conversation_is_lite(conversation) != conversation_wants_lite(conversation, settings))
		return true;
	return before && before->info.comp_hash.len && settings->info.comp_hash.len &&
	       !str_eq(before->info.comp_hash, settings->info.comp_hash);
}

/* Functions and custom tools are in a namespace of their own; namespaces stand beside it. */
static bool is_function(const struct json *tool)
{
	struct str type = json_get_str(tool, "type");
	return str_is(type, "function") || str_is(type, "custom");
}

static void write_tools_where(const struct json *tools, bool are_functions, struct json_writer *w)
{
	json_for_each(tool, tools) {
		if (is_function(tool) == are_functions)
			jw_value(w, tool);
	}
}

void conversation_write_tools_item(struct conversation *conversation, const struct settings *settings, struct buf *out)
{
	auto_arena struct arena arena = {0};
	char id[UUID_TEXT_SIZE];
	struct json_writer w = json_writer(out);
	const struct json *tools = json_parse(&arena, conversation_tools(conversation, settings), NULL);
	uuid_v7(id);
	buf_append_c(out, TOOLS_ITEM);
	jw_key(&w, "id");
	jw_strf(&w, "at_%s", id);
	jw_member_cstr(&w, "role", "developer");
	jw_key(&w, "tools");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "namespace");
	jw_member_cstr(&w, "name", "functions");
	jw_member_cstr(&w, "description", "");
	jw_key(&w, "tools");
	jw_array(&w);
	write_tools_where(tools, true, &w);
	jw_array_end(&w);
	jw_object_end(&w);
	write_tools_where(tools, false, &w);
	jw_array_end(&w);
	jw_object_end(&w);
}

struct model_prompt conversation_prompt(struct conversation *conversation, const struct settings *settings)
{
	const struct session *session = conversation->session;
	const struct conversation_voice *voice = conversation->voice;
	struct session_kin kin = session_kin(session);
	bool is_lite = conversation_is_lite(conversation);
	struct str tools = conversation_tools(conversation, settings);
	conversation->session->host.code.is_on = session_code_mode(session, settings) != CODE_MODE_none;
	if (session->host.code.is_on)
		session_code_need(conversation->session);
	conversation->session->host.code.has_clock = session_has_clock(session, settings);
	conversation->session->host.code.tools = buf_str(&conversation->code_tools);
	return (struct model_prompt){
		.info = &settings->info,
		.instructions = conversation_instructions(conversation),
		.tools = is_lite ? STR_NONE : tools,
		.is_lite = is_lite,
		.effort = settings->effort,
		.effort_word = settings->effort_word,
		.summary = settings->summary,
		.has_summary = settings->has_summary,
		.verbosity = settings->verbosity,
		.thread_id = str_of(session->id),
		.is_private = session->is_private,
		.root_thread_id = kin.root_id,
		.parent_thread_id = kin.parent_id,
		.subagent = str_of(voice               ? voice->subagent
	                           : kin.parent_id.len ? "collab_spawn"
	                                               : NULL),
	};
}

void session_warm_up(struct session *session)
{
	bool has_request =
		session->env->is_unattended || session_kin(session).parent_id.len; /* which follows at once */
	if (!session->provider->has_sockets || has_request || session_is_chained(session) ||
	    conversation_wants_lite(&session->conversation, session->settings))
		return;
	struct model_prompt prompt = conversation_prompt(&session->conversation, session->settings);
	model_client_warm_up(session->model, &prompt);
}

struct str conversation_instructions(const struct conversation *conversation)
{
	const struct conversation_voice *voice = conversation->voice;
	return voice ? voice->instructions : shared_text_str(conversation->session->base_instructions);
}
