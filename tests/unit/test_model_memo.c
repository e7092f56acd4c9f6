/* A converted history that is kept from request to request gives the same bodies as a new conversion of all of it. */
#include "test.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/model_catalog.h"
#include "model/model_exchange.h"
#include "model/model_memo.h"

#define CALL(id)                                                                                                     \
	"{\"type\":\"function_call\",\"name\":\"exec\",\"arguments\":\"{\\\"cmd\\\":\\\"ls\\\"}\",\"call_id\":\"" id \
	"\"}"
#define OUTPUT(id) "{\"type\":\"function_call_output\",\"call_id\":\"" id "\",\"output\":\"done " id "\"}"
#define SAID(text) \
	"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]}"
#define HEARD(role, text) \
	"{\"type\":\"message\",\"role\":\"" role "\",\"content\":[{\"type\":\"input_text\",\"text\":\"" text "\"}]}"
#define THOUGHT(wire)                                                                                                 \
	"{\"type\":\"reasoning\",\"wire\":{\"name\":\"" wire                                                          \
	"\",\"provider\":\"p\",\"field\":\"reasoning\",\"signature\":\"sig\"},\"summary\":[],\"content\":[{\"type\":" \
	"\"reasoning_text\",\"text\":\"hm\"}]}"
#define NAMED "{\"type\":\"function_call\",\"namespace\":\"n\",\"name\":\"exec\"}"
#define IMAGE                                                                                         \
	"{\"type\":\"function_call_output\",\"call_id\":\"i\",\"output\":[{\"type\":\"input_image\"," \
	"\"image_url\":\"data:image/png;base64,AAAA\"}]}"

static const char *const items[] = {
	HEARD("developer", "rules"),
	HEARD("user", "hello"),
	THOUGHT("chat"),
	SAID("Let me look."),
	CALL("a"),
	CALL("b"),
	OUTPUT("a"),
	OUTPUT("b"),
	THOUGHT("messages"),
	CALL("a"),
	OUTPUT("a"),
	HEARD("developer", "more rules"),
	HEARD("user", "next"),
	SAID("One."),
	SAID("Two."),
	HEARD("user", "and"),
	THOUGHT("messages"),
	HEARD("user", "nothing?"),
	"{\"type\":\"web_search_call\",\"id\":\"w\"}",
	CALL("i"),
	IMAGE,
	CALL("x/y"),
	CALL("x:y"),
	OUTPUT("x:y"),
	SAID("Cut off."),
};

static const char tool_list[] =
	"[{\"type\":\"function\",\"name\":\"exec\",\"parameters\":{\"type\":\"object\"}},{\"type\":\"custom\",\"name\":"
	"\"patch\"}]";

/* A history grows as that of a session does: items are appended to the last slice. */
struct history {
	char text[16][16 * 1024];
	struct str slices[16];
	size_t count;
	uint64_t id;
};

static void add_item(struct history *history, const char *item, bool is_new_slice)
{
	if (is_new_slice || history->count == 0) {
		history->slices[history->count] = str_n(history->text[history->count], 0);
		history->count++;
	}
	struct str *slice = &history->slices[history->count - 1];
	char *at = history->text[history->count - 1];
	slice->len += (size_t)sprintf(at + slice->len, "%s%s", slice->len ? "," : "", item);
}

static void write_body(const struct model_prompt *prompt, struct buf *out)
{
	struct model_request request;
	buf_init(out, MIB);
	assert_int_equal(model_request_init(&request, prompt, NULL), 0);
	vec_for_each(slice, &request.body)
		buf_append_str(out, *slice);
	model_request_finish(&request);
}

static void assert_same_body(const struct model_prompt *prompt, const struct history *history, struct model_memo **memo)
{
	struct model_prompt fresh = *prompt, kept = *prompt;
	auto_buf struct buf want, have;
	fresh.input = kept.input = history->slices;
	fresh.input_count = kept.input_count = history->count;
	kept.memo = memo;
	kept.history_id = history->id;
	write_body(&fresh, &want);
	write_body(&kept, &have);
	assert_string_equal(have.data, want.data);
}

static struct model_prompt prompt_of(enum wire_api wire, const struct model_info *info)
{
	return (struct model_prompt){
		.info = info,
		.instructions = STR("Be brief."),
		.tools = str_of(tool_list),
		.thread_id = STR("t"),
		.wire = wire,
		.provider = STR("p"),
		.effort = reasoning_effort_high,
	};
}

static const enum wire_api wires[] = {wire_api_chat, wire_api_messages};

/* A slice may end anywhere; `every` items make one. */
static void grow(enum wire_api wire, size_t every)
{
	struct model_info info = model_catalog_get(STR("claude-sonnet-4-5"));
	struct model_prompt prompt = prompt_of(wire, &info);
	struct model_memo *memo = NULL;
	struct history *history = xnew(struct history);
	history->id = 1;
	for (size_t i = 0; i < countof(items); i++) {
		add_item(history, items[i], every && i % every == 0);
		assert_same_body(&prompt, history, &memo);
	}
	assert_true(memo->place.rounds >= 5);
	model_memo_unref(memo);
	free(history);
}

static void a_history_that_grows_gives_the_same_bodies(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(wires); i++) {
		grow(wires[i], 0);
		grow(wires[i], 4);
		grow(wires[i], 7);
	}
}

/* The history of Responses is sent as it is, until an item appears that another wire has written. */
static void grow_own(size_t foreign, size_t every, bool is_flat)
{
	struct model_info info = model_catalog_get(STR("gpt-5"));
	struct model_prompt prompt = prompt_of(wire_api_responses, &info);
	struct model_memo *memo = NULL;
	struct history *history = xnew(struct history);
	const char *item = is_flat ? NAMED : THOUGHT("chat");
	history->id = 1;
	prompt.has_flat_tools = is_flat;
	for (size_t i = 0; i < 12; i++) {
		add_item(history, i == foreign ? item : CALL("a"), every && i % every == 0);
		assert_same_body(&prompt, history, &memo);
	}
	assert_int_equal(memo->place.slice, foreign < 12 && every ? foreign / every : history->count - 1);
	assert_true((memo->place.offset == history->slices[memo->place.slice].len) == (foreign >= 12));
	model_memo_unref(memo);
	free(history);
}

static void an_item_of_another_wire_is_noticed_when_it_is_new(void **state)
{
	(void)state;
	for (size_t foreign = 0; foreign <= 12; foreign++) {
		for (size_t every = 0; every < 4; every++) {
			grow_own(foreign, every, false);
			grow_own(foreign, every, true);
		}
	}
}

static void a_history_that_was_fit_for_one_server_is_converted_for_another(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("gpt-5"));
	struct model_prompt prompt = prompt_of(wire_api_responses, &info);
	struct model_memo *memo = NULL;
	struct history *history = xnew(struct history);
	history->id = 1;
	prompt.tools = STR_NONE;
	add_item(history, NAMED, false);
	assert_same_body(&prompt, history, &memo);
	prompt.has_flat_tools = true;
	assert_same_body(&prompt, history, &memo);
	model_memo_unref(memo);
	free(history);
}

/* Changes the prompt between two requests of one history, and back. */
static void changed(enum wire_api wire, void (*change)(struct model_prompt *prompt))
{
	struct model_info info = model_catalog_get(STR("claude-sonnet-4-5"));
	struct model_prompt prompt = prompt_of(wire, &info), other = prompt;
	struct model_memo *memo = NULL;
	struct history *history = xnew(struct history);
	history->id = 1;
	change(&other);
	for (size_t i = 0; i < countof(items); i++)
		add_item(history, items[i], false);
	assert_same_body(&prompt, history, &memo);
	assert_same_body(&other, history, &memo);
	assert_same_body(&prompt, history, &memo);
	model_memo_unref(memo);
	free(history);
}

static void change_provider(struct model_prompt *prompt)
{
	prompt->provider = STR("q");
}

static void change_effort(struct model_prompt *prompt)
{
	prompt->effort = reasoning_effort_none;
}

static void change_tools(struct model_prompt *prompt)
{
	prompt->tools = STR_NONE;
}

static void change_instructions(struct model_prompt *prompt)
{
	prompt->instructions = STR_NONE;
}

static void change_wire(struct model_prompt *prompt)
{
	prompt->wire = prompt->wire == wire_api_chat ? wire_api_messages : wire_api_chat;
}

static void change_model(struct model_prompt *prompt)
{
	static struct model_info blind;
	blind = model_catalog_get(STR("gpt-5"));
	blind.has_image_input = false;
	prompt->info = &blind;
}

static void another_prompt_does_not_get_the_kept_text(void **state)
{
	(void)state;
	static void (*const changes[])(struct model_prompt *) = {
		change_provider, change_effort, change_tools, change_instructions, change_wire, change_model,
	};
	for (size_t i = 0; i < countof(wires); i++) {
		for (size_t k = 0; k < countof(changes); k++)
			changed(wires[i], changes[k]);
	}
}

static void a_history_that_lost_items_is_converted_anew(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("claude-sonnet-4-5"));
	struct model_prompt prompt = prompt_of(wire_api_messages, &info);
	struct model_memo *memo = NULL;
	struct history *history = xnew(struct history);
	history->id = 1;
	for (size_t i = 0; i < countof(items); i++)
		add_item(history, items[i], false);
	assert_same_body(&prompt, history, &memo);
	*history = (struct history){.id = 2};
	add_item(history, HEARD("user", "again"), true);
	add_item(history, CALL("a"), false);
	add_item(history, OUTPUT("a"), false);
	assert_same_body(&prompt, history, &memo);
	model_memo_unref(memo);
	free(history);
}

static void a_request_keeps_its_text_while_another_one_continues_the_history(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("claude-sonnet-4-5"));
	struct model_prompt prompt = prompt_of(wire_api_chat, &info);
	struct model_memo *memo = NULL;
	struct history *history = xnew(struct history);
	struct model_request first;
	auto_buf struct buf before, after;
	history->id = prompt.history_id = 1;
	prompt.memo = &memo;
	for (size_t i = 0; i < 10; i++)
		add_item(history, items[i], false);
	prompt.input = history->slices;
	prompt.input_count = history->count;
	assert_int_equal(model_request_init(&first, &prompt, NULL), 0);
	buf_init(&before, MIB);
	buf_init(&after, MIB);
	vec_for_each(slice, &first.body)
		buf_append_str(&before, *slice);
	for (size_t i = 10; i < countof(items); i++)
		add_item(history, items[i], false);
	assert_same_body(&prompt, history, &memo);
	history->id = 2; /* replaces the memo */
	assert_same_body(&prompt, history, &memo);
	vec_for_each(slice, &first.body)
		buf_append_str(&after, *slice);
	assert_string_equal(before.data, after.data);
	model_request_finish(&first);
	model_memo_unref(memo);
	free(history);
}

static void ids_are_found_among_many(void **state)
{
	(void)state;
	struct model_memo memo = {0};
	char id[32];
	for (int i = 0; i < 3000; i++) {
		sprintf(id, "call_%d", i);
		assert_false(model_memo_has_id(&memo, str_of(id)));
		model_memo_add_id(&memo, str_of(id));
		model_memo_add_id(&memo, str_of(id));
	}
	assert_int_equal(memo.id_count, 3000);
	for (int i = 0; i < 3000; i++) {
		sprintf(id, "call_%d", i);
		assert_true(model_memo_has_id(&memo, str_of(id)));
	}
	vec_finish(&memo.ids);
	arena_finish(&memo.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_history_that_grows_gives_the_same_bodies),
		cmocka_unit_test(an_item_of_another_wire_is_noticed_when_it_is_new),
		cmocka_unit_test(a_history_that_was_fit_for_one_server_is_converted_for_another),
		cmocka_unit_test(another_prompt_does_not_get_the_kept_text),
		cmocka_unit_test(a_history_that_lost_items_is_converted_anew),
		cmocka_unit_test(a_request_keeps_its_text_while_another_one_continues_the_history),
		cmocka_unit_test(ids_are_found_among_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
