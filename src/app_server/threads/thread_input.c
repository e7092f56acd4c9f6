/* Converts the input of clients for the engine, and submits it. */
#include "app_server/threads/thread_input.h"

#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_turn.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/codex/codex.h"

static void copy_text(const struct app_input_text *from, struct user_input *to, struct arena *arena)
{
	to->tag = user_input_text;
	to->text = arena_new(arena, struct input_text);
	to->text->text = from->text;
	to->text->text_elements_count = from->text__elements_count;
	to->text->text_elements = arena_array(arena, struct text_element, from->text__elements_count);
	for (size_t i = 0; i < from->text__elements_count; i++) {
		struct byte_range *range = arena_new(arena, struct byte_range);
		*range = (struct byte_range){from->text__elements[i].byte_range->start,
		                             from->text__elements[i].byte_range->end};
		to->text->text_elements[i] = (struct text_element){range, from->text__elements[i].placeholder};
	}
}

static int copy_input(const struct app_user_input *from, struct user_input *to, struct arena *arena, struct error *err)
{
	switch (from->tag) {
	case app_user_input_text:
		copy_text(from->text, to, arena);
		return 0;
	case app_user_input_image:
		if (!from->image->url.ptr)
			return error_set(err, ERR_invalid,
			                 "image input needs `url`: files of a provider cannot be sent");
		to->tag = user_input_image;
		to->image = arena_new(arena, struct input_image);
		to->image->image_url = from->image->url;
		return 0;
	case app_user_input_local_image:
		to->tag = user_input_local_image;
		to->local_image = arena_new(arena, struct input_local_image);
		to->local_image->path = from->local_image->path;
		return 0;
	case app_user_input_skill:
		to->tag = user_input_skill;
		to->skill = arena_new(arena, struct input_skill);
		*to->skill = (struct input_skill){from->skill->name, from->skill->path};
		return 0;
	case app_user_input_mention:
		to->tag = user_input_mention;
		to->mention = arena_new(arena, struct input_mention);
		*to->mention = (struct input_mention){from->mention->name, from->mention->path};
		return 0;
	default:
		return error_set(err, ERR_invalid,
		                 "This version of Codex has no audio, so it cannot take audio input.");
	}
}

/* Checks the length of all texts of an input together. */
static const struct rpc_error *check_length(struct rpc_request *request, const struct app_user_input *input,
                                            size_t count)
{
	size_t chars = 0;
	for (size_t i = 0; i < count; i++)
		chars += input[i].tag == app_user_input_text ? text_char_count(input[i].text->text) : 0;
	if (chars <= LIMIT_INPUT_CHARS)
		return NULL;
	const char *data = arena_printf(
		&request->arena, "{\"input_error_code\":\"input_too_large\",\"max_chars\":%d,\"actual_chars\":%zu}",
		LIMIT_INPUT_CHARS, chars);
	return rpc_error_data(&request->arena, APP_INVALID_PARAMS, str_of(data),
	                      "Input exceeds the maximum length of %d characters.", LIMIT_INPUT_CHARS);
}

const struct rpc_error *thread_input_check(struct rpc_request *request, const struct thread *thread,
                                           struct str thread_id, const struct app_user_input *input, size_t count)
{
	return thread ? check_length(request, input, count) : threads_not_found(request, thread_id);
}

int thread_input_copy(const struct app_user_input *from, size_t count, struct arena *arena, struct op_user_input *to,
                      struct error *err)
{
	to->items = arena_array(arena, struct user_input, count);
	to->items_count = count;
	for (size_t i = 0; i < count; i++) {
		if (copy_input(&from[i], &to->items[i], arena, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

int thread_input_submit(struct thread *thread, const struct op_user_input *input, struct str id, struct str client_id,
                        struct error *err)
{
	struct op_user_input named = *input;
	named.client_id = client_id;
	return codex_submit_op(thread->codex, id, &(struct op){.tag = OP_user_input, .user_input = &named}, err);
}

struct thread_turn *thread_input_start(struct thread *thread, const struct op_user_input *input, struct str client_id,
                                       struct error *err)
{
	struct thread_turn *turn = thread_turn_create(thread, STR_NONE);
	if (thread_input_submit(thread, input, str_of(turn->id), client_id, err) == 0)
		return turn;
	thread_turn_destroy(turn);
	return NULL;
}
