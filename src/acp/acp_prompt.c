/* session/prompt, session/cancel, modes and options.
 *
 * All blocks of a prompt reach the model in one message of the user: texts as they are, links by name and address,
 * embedded text whole, after its address, images as images. A prompt that arrives while a task runs joins that task and
 * is answered together with it. */
#include "acp/acp_limits.h"
#include "acp/acp_method.h"
#include "acp/acp_session.h"
#include "acp/acp_slash.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "engine/codex/codex.h"

/* ---- blocks ---- */

static struct user_input *text_input(struct str text, struct arena *arena)
{
	struct user_input *ret = arena_new(arena, struct user_input);
	ret->tag = user_input_text;
	ret->text = arena_new(arena, struct input_text);
	ret->text->text = text;
	return ret;
}

static struct user_input *image_input(struct str type, struct str data, struct arena *arena)
{
	auto_buf struct buf url;
	struct user_input *ret = arena_new(arena, struct user_input);
	buf_init(&url, LIMIT_LINE + 256);
	buf_printf(&url, "data:%.*s;base64,", (int)(type.len < 128 ? type.len : 128), type.ptr);
	buf_append_str(&url, data);
	ret->tag = user_input_image;
	ret->image = arena_new(arena, struct input_image);
	ret->image->image_url = arena_str(arena, buf_str(&url));
	return ret;
}

static struct user_input *link_input(const struct acp_resource_link *link, struct arena *arena)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE * 2);
	buf_append_c(&text, "[@");
	buf_append_str(&text, link->name);
	buf_append_c(&text, "](");
	buf_append_str(&text, link->uri);
	buf_append_char(&text, ')');
	return text_input(arena_str(arena, buf_str(&text)), arena);
}

static struct user_input *resource_input(const struct acp_resource_contents *resource, struct arena *arena)
{
	bool is_image = resource->mime_type.ptr && str_has_prefix(resource->mime_type, "image/");
	if (!resource->text.ptr && is_image)
		return image_input(resource->mime_type, resource->blob, arena);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE * 2);
	buf_append_c(&text, "<context ref=\"");
	buf_append_str(&text, resource->uri);
	buf_append_c(&text, "\">\n");
	if (resource->text.ptr)
		buf_append_str(&text, resource->text);
	else
		buf_printf(&text, "[%zu bytes of base64 that are not text: read the file by its address]",
		           resource->blob.len);
	buf_append_c(&text, "\n</context>");
	return text_input(arena_str(arena, buf_str(&text)), arena);
}

static const char *check_block(const struct acp_block *block)
{
	if (block->tag == acp_block_image && !block->image->data.len)
		return "an image without `data`";
	if (block->tag == acp_block_image && !str_has_prefix(block->image->mime_type, "image/"))
		return "an image whose `mimeType` is not that of an image";
	if (block->tag == acp_block_resource && !block->resource->resource->text.ptr &&
	    !block->resource->resource->blob.ptr)
		return "a resource with neither `text` nor `blob`";
	return NULL;
}

static struct user_input *convert(const struct acp_block *block, struct arena *arena)
{
	switch (block->tag) {
	case acp_block_image:
		return image_input(block->image->mime_type, block->image->data, arena);
	case acp_block_resource_link:
		return link_input(block->resource_link, arena);
	case acp_block_resource:
		return resource_input(block->resource->resource, arena);
	default:
		return text_input(block->text->text, arena);
	}
}

/* Fails the request and returns false if the prompt cannot be used. */
static bool check_prompt(struct acp_request *request, const struct acp_prompt_params *params)
{
	size_t chars = 0;
	const char *wrong = params->prompt_count ? NULL : "nothing";
	for (size_t i = 0; i < params->prompt_count && !wrong; i++) {
		const struct acp_block *block = &params->prompt[i];
		wrong = check_block(block);
		chars += block->tag == acp_block_text ? text_char_count(block->text->text) : 0;
		if (block->tag == acp_block_resource && block->resource->resource->text.ptr)
			chars += text_char_count(block->resource->resource->text);
	}
	if (wrong)
		acp_fail(request, ACP_INVALID_PARAMS, "The prompt contains %s", wrong);
	else if (chars > LIMIT_INPUT_CHARS)
		acp_fail(request, ACP_INVALID_PARAMS,
		         "The prompt has %zu characters of text; the most is %d. Mention large files by a link", chars,
		         LIMIT_INPUT_CHARS);
	return !wrong && chars <= LIMIT_INPUT_CHARS;
}

/* ---- prompts ---- */

/* Makes the title of the first words. */
static void set_first_title(struct acp_session *session, const struct acp_prompt_params *params)
{
	for (size_t i = 0; i < params->prompt_count && !session->title; i++) {
		if (params->prompt[i].tag == acp_block_text)
			acp_session_set_title(session, acp_title_of(params->prompt[i].text->text));
	}
	if (session->title)
		acp_session_send_title(session, true);
}

/* Submits the changed settings, then the input. */
static int submit(struct acp_session *session, struct acp_prompt *prompt, struct user_input *items, size_t count,
                  struct error *err)
{
	auto_arena struct arena arena = {0};
	struct op_override_turn_context change;
	struct op_user_input input = {.items = items, .items_count = count, .client_id = str_of(prompt->id)};
	struct op change_op = {.tag = OP_override_turn_context, .override_turn_context = &change};
	struct op input_op = {.tag = OP_user_input, .user_input = &input};
	if (acp_choices_take(&session->choices, session->config, session->roots.items, session->roots.count, &arena,
	                     &change) &&
	    codex_submit_op(session->codex, STR(""), &change_op, err) != 0) {
		acp_choices_repeat(&session->choices);
		return -(int)err->code;
	}
	return codex_submit_op(session->codex, str_of(prompt->id), &input_op, err);
}

static void start(struct acp_session *session, struct acp_prompt *prompt, const struct acp_prompt_params *params)
{
	auto_arena struct arena arena = {0};
	struct error err;
	struct user_input *items = arena_array(&arena, struct user_input, params->prompt_count);
	for (size_t i = 0; i < params->prompt_count; i++)
		items[i] = *convert(&params->prompt[i], &arena);
	if (submit(session, prompt, items, params->prompt_count, &err) != 0)
		acp_prompt_fail(session, prompt, ACP_INTERNAL_ERROR, str_of(err.text));
}

void on_acp_session_prompt(struct acp_server *server, struct acp_request *request,
                           const struct acp_prompt_params *params)
{
	struct acp_session *session = acp_session_find(server, params->session_id);
	if (!session) {
		acp_fail_no_session(request, params->session_id);
		return;
	}
	if (session->prompt_count >= LIMIT_ACP_PROMPTS) {
		acp_fail(request, ACP_INVALID_REQUEST, "%d prompts of this session are running: wait for their end",
		         LIMIT_ACP_PROMPTS);
		return;
	}
	if (!check_prompt(request, params))
		return;
	struct acp_prompt *prompt = acp_prompt_create(session, request);
	request->self = session;
	struct acp_block *first = &params->prompt[0];
	struct str text = STR_NONE;
	enum acp_slash_outcome outcome = first->tag == acp_block_text
	                                         ? acp_slash_run(session, prompt, first->text->text, &text)
	                                         : ACP_SLASH_none;
	if (outcome == ACP_SLASH_taken)
		return;
	if (outcome == ACP_SLASH_text)
		first->text->text = text;
	if (!session->title)
		set_first_title(session, params);
	start(session, prompt, params);
}

void on_acp_session_cancel(struct acp_server *server, struct acp_request *request, const struct acp_session_ref *params)
{
	struct acp_session *session = acp_session_find(server, params->session_id);
	acp_reply(request, NULL);
	if (session)
		acp_session_cancel(session);
}

/* A prompt, or a session that is being opened and may wait for an MCP server, can be withdrawn; other requests are
 * about to be answered. */
void on_acp_cancel_request(struct acp_server *server, struct acp_request *request,
                           const struct acp_cancel_request_params *params)
{
	struct acp_request *target = acp_request_find(&server->wire, params->request_id);
	if (target && target->method == &acp_methods[ACP_METHOD_session_prompt]) {
		target->is_withdrawn = true;
		acp_session_cancel(target->self);
	} else if (target) {
		acp_session_abandon(server, target);
	}
	acp_reply(request, NULL);
}

/* ---- modes and options ---- */

static void send_options(struct acp_session *session, struct arena *arena, struct acp_option_result *ret)
{
	*ret = (struct acp_option_result){0};
	ret->config_options = acp_options_make(&session->choices, arena, &ret->config_options_count);
	acp_session_update(session, acp_update_config_option_update, ret);
}

static void send_mode(struct acp_session *session, struct arena *arena)
{
	struct acp_current_mode mode = {acp_mode_state_make(&session->choices, arena)->current_mode_id};
	acp_session_update(session, acp_update_current_mode_update, &mode);
}

/* True if the request was refused. */
static bool refuse_mode(const struct acp_session *session, struct acp_request *request, struct str id)
{
	struct error err;
	if (acp_mode_check(&session->choices, session->config, id, &err) == 0)
		return false;
	acp_fail(request, ACP_INVALID_PARAMS, "%s", err.text);
	return true;
}

void on_acp_session_set_mode(struct acp_server *server, struct acp_request *request,
                             const struct acp_set_mode_params *params)
{
	auto_arena struct arena arena = {0};
	struct acp_option_result options;
	struct acp_session *session = acp_session_find(server, params->session_id);
	if (!session) {
		acp_fail_no_session(request, params->session_id);
		return;
	}
	if (refuse_mode(session, request, params->mode_id))
		return;
	if (!acp_mode_set(&session->choices, params->mode_id)) {
		acp_fail(request, ACP_INVALID_PARAMS, "Unknown mode %.*s: the modes are in the response to session/new",
		         (int)(params->mode_id.len < 64 ? params->mode_id.len : 64), params->mode_id.ptr);
		return;
	}
	acp_reply(request, NULL);
	send_mode(session, &arena);
	send_options(session, &arena, &options);
}

void on_acp_session_set_config_option(struct acp_server *server, struct acp_request *request,
                                      const struct acp_set_option_params *params)
{
	auto_arena struct arena arena = {0};
	struct acp_option_result options;
	const char *wrong;
	struct acp_session *session = acp_session_find(server, params->session_id);
	if (!session) {
		acp_fail_no_session(request, params->session_id);
		return;
	}
	const struct json *json = json_parse(&arena, params->value, NULL);
	struct str value = json_is(json, JSON_string) ? json->text : STR_NONE;
	if (str_is(params->config_id, "mode") && refuse_mode(session, request, value))
		return;
	if (!acp_option_set(&session->choices, params->config_id, value, &wrong)) {
		struct str id = params->config_id;
		acp_fail(request, ACP_INVALID_PARAMS, "Unknown %s for option %.*s", wrong,
		         (int)(id.len < 64 ? id.len : 64), id.ptr);
		return;
	}
	if (str_is(params->config_id, "mode"))
		send_mode(session, &arena);
	send_options(session, &arena, &options);
	acp_reply(request, &options);
}
