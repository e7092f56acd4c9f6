/* Scripts of the scripted model: syntax, errors, and the bytes that each step generates. */
#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "net/http_head.h"
#include "server/mock/mock_limits.h"
#include "server/mock/mock_play.h"
#include "server/mock/mock_script.h"

/* --- helpers ----------------------------------------------------------------------------------------------- */

struct fixture {
	struct mock_script script;
	struct arena arena;
	struct http_head head;
	struct mock_request request;
	struct buf out; /* the output of the last play, with <acts> in it */
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	buf_init(&f->out, LIMIT_MOCK_EVENT);
	f->request = (struct mock_request){.head = &f->head, .body = STR("{}")};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	mock_script_finish(&f->script);
	arena_finish(&f->arena);
	buf_finish(&f->out);
	free(f);
	return 0;
}

static void load(struct fixture *f, const char *text)
{
	struct error err = {0};
	mock_script_finish(&f->script);
	if (mock_script_parse(&f->script, str_of(text), &err) < 0)
		fail_msg("%s", err.text);
}

static void ask(struct fixture *f, const char *body)
{
	f->request.body = str_of(body);
	f->request.json = json_parse(&f->arena, f->request.body, NULL);
	assert_non_null(f->request.json);
}

static void append_act(struct buf *out, const struct mock_play *play, enum mock_act act)
{
	static const char *const names[] = {
		[MOCK_ACT_HEAD] = "<head>", [MOCK_ACT_HANG] = "<hang>",   [MOCK_ACT_END] = "<end>",
		[MOCK_ACT_DROP] = "<drop>", [MOCK_ACT_RESET] = "<reset>", [MOCK_ACT_LIMIT] = "<limit>",
	};
	if (act == MOCK_ACT_WAIT)
		buf_printf(out, "<wait %u>", (unsigned)play->wait_ms);
	else if (act == MOCK_ACT_GATE)
		buf_printf(out, "<gate %.*s>", STR_ARG(play->gate));
	else
		buf_append_c(out, names[act]);
}

/* Plays reply `index` to its end into f->out. */
static void play(struct fixture *f, size_t index)
{
	struct mock_play play;
	struct error err = {0};
	enum mock_act act;
	auto_buf struct buf batch;
	buf_init(&batch, LIMIT_MOCK_EVENT);
	buf_clear(&f->out);
	if (mock_play_init(&play, &f->script.replies[index], &f->request, index + 1, &err) < 0)
		buf_append_c(&f->out, err.text);
	else
		do {
			buf_clear(&batch);
			act = mock_play_next(&play, &batch);
			buf_append_str(&f->out, buf_str(&batch));
			if (act != MOCK_ACT_MORE)
				append_act(&f->out, &play, act);
		} while (act <= MOCK_ACT_GATE);
	mock_play_finish(&play);
}

static struct str played(struct fixture *f, const char *script)
{
	load(f, script);
	play(f, 0);
	return buf_str(&f->out);
}

#define SSE(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"
#define CREATED                                                                                             \
	SSE("response.created", ",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_" \
	                        "progress\"}")
#define COMPLETED_USAGE(in, cached, out, reasoning, total)                                                 \
	SSE("response.completed",                                                                          \
	    ",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"usage\":" \
	    "{\"input_tokens\":" in ",\"input_tokens_details\":{\"cached_tokens\":" cached "},"            \
	    "\"output_tokens\":" out ",\"output_tokens_details\":{\"reasoning_tokens\":" reasoning "},"    \
	    "\"total_tokens\":" total "}}")
#define COMPLETED(out, total) COMPLETED_USAGE("1", "0", out, "0", total)
#define MESSAGE_ADDED                                                                                              \
	SSE("response.output_item.added", ",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1_1\"," \
	                                  "\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]}")
#define MESSAGE_DELTA(text)               \
	SSE("response.output_text.delta", \
	    ",\"item_id\":\"msg_1_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"" text "\"")
#define MESSAGE_DONE(text)                                                                                         \
	SSE("response.output_item.done", ",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1_1\","  \
	                                 "\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":" \
	                                 "\"output_text\",\"text\":\"" text "\"}]}")

/* --- output of steps ------------------------------------------------------------------------------------- */

static void test_message(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"message\": \"Hello.\"}]}"),
	           CREATED MESSAGE_ADDED MESSAGE_DELTA("Hello.") MESSAGE_DONE("Hello.") COMPLETED("2", "3") "<end>");
}

static void test_message_in_chunks_keeps_characters_whole(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"message\": \"aäb\", \"chunks\": 2}]}"),
	           CREATED MESSAGE_ADDED MESSAGE_DELTA("a") MESSAGE_DELTA("äb") MESSAGE_DONE("aäb")
	                   COMPLETED("1", "2") "<end>");
}

static void test_more_chunks_than_bytes(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"message\": \"ab\", \"chunks\": 1000}]}"),
	           CREATED MESSAGE_ADDED MESSAGE_DELTA("a") MESSAGE_DELTA("b") MESSAGE_DONE("ab")
	                   COMPLETED("1", "2") "<end>");
}

static void test_message_as_list_is_sent_piece_by_piece(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"message\": [\"He\", \"\", \"llo\"]}]}"),
	           CREATED MESSAGE_ADDED MESSAGE_DELTA("He") MESSAGE_DELTA("llo") MESSAGE_DONE("Hello")
	                   COMPLETED("2", "3") "<end>");
}

static void test_deltas_become_one_message(void **state)
{
	assert_str(played(*state,
	                  "{\"reply\": [{\"repeat\": 2, \"steps\": [{\"delta\": \"n{i} \"}]}, {\"delay_ms\": 5},"
	                  " {\"delta\": \"end\"}]}"),
	           CREATED MESSAGE_ADDED MESSAGE_DELTA("n1 ") MESSAGE_DELTA("n2 ") "<wait 5>" MESSAGE_DELTA("end")
	                   MESSAGE_DONE("n1 n2 end") COMPLETED("3", "4") "<end>");
}

static void test_reasoning(void **state)
{
	assert_str(
		played(*state, "{\"reply\": [{\"reasoning\": \"Hm.\", \"content\": \"raw\", \"encrypted\": \"ENC\","
	                       " \"id\": \"rs_x\"}]}"),
		CREATED SSE("response.output_item.added",
	                    ",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_x\",\"status\":"
	                    "\"in_progress\",\"summary\":[]}") SSE("response.reasoning_summary_part.added",
	                                                           ",\"item_id\":\"rs_x\",\"output_index\":0,\"summary_"
	                                                           "index\":0,"
	                                                           "\"part\":{\"type\":\"summary_text\",\"text\":\"\"}")
			SSE("response.reasoning_summary_text.delta", ",\"item_id\":\"rs_x\",\"output_index\":0,"
	                                                             "\"summary_index\":0,\"delta\":\"Hm.\"")
				SSE("response.reasoning_text.delta",
	                            ",\"item_id\":\"rs_x\",\"output_index\":0,\"content_index\":0,\"delta\":\"raw\"")
					SSE("response.output_item.done",
	                                    ",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_x\","
	                                    "\"status\":"
	                                    "\"completed\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Hm.\"}],"
	                                    "\"content\":[{\"type\":\"reasoning_text\",\"text\":\"raw\"}],"
	                                    "\"encrypted_content\":\"ENC\"}") COMPLETED("2", "3") "<end>");
}

#define CALL_ADDED(index, id, item)                                                                           \
	SSE("response.output_item.added", ",\"output_index\":" index ",\"item\":{\"type\":\"function_call\"," \
	                                  "\"id\":\"fc_1_" id "\",\"status\":\"in_progress\"," item "}")
#define CALL_DONE(index, id, item)                                                                           \
	SSE("response.output_item.done", ",\"output_index\":" index ",\"item\":{\"type\":\"function_call\"," \
	                                 "\"id\":\"fc_1_" id "\",\"status\":\"completed\"," item "}")

static void test_calls_are_numbered(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"call\": \"f\", \"arguments\": {\"a\":\n 1}}, {\"call\": \"g\","
	                          " \"arguments\": \"not json\", \"call_id\": \"c\"}, {\"usage\": {\"input_tokens\": 7,"
	                          " \"cached_tokens\": 3, \"output_tokens\": 2, \"reasoning_tokens\": 1}}]}"),
	           CREATED CALL_ADDED("0", "1", "\"call_id\":\"call_1_1\",\"name\":\"f\",\"arguments\":\"\"") CALL_DONE(
			   "0", "1", "\"call_id\":\"call_1_1\",\"name\":\"f\",\"arguments\":\"{\\\"a\\\":  1}\"")
	                   CALL_ADDED("1", "2", "\"call_id\":\"c\",\"name\":\"g\",\"arguments\":\"\"")
	                           CALL_DONE("1", "2", "\"call_id\":\"c\",\"name\":\"g\",\"arguments\":\"not json\"")
	                                   COMPLETED_USAGE("7", "3", "2", "1", "9") "<end>");
}

static void test_call_arguments_in_chunks(void **state)
{
	struct str out = played(*state, "{\"reply\": [{\"call\": \"f\", \"arguments\": \"abcd\", \"chunks\": 2}]}");
	assert_true(str_find(out, STR(SSE("response.function_call_arguments.delta",
	                                  ",\"item_id\":\"fc_1_1\",\"output_index\":0,\"delta\":\"ab\"")
	                                      SSE("response.function_call_arguments.delta",
	                                          ",\"item_id\":\"fc_1_1\",\"output_index\":0,\"delta\":\"cd\""))) > 0);
}

static void test_custom_call(void **state)
{
	assert_str(
		played(*state,
	               "{\"reply\": [{\"custom\": \"apply_patch\", \"input\": [\"*** Begin\\n\", \"+x\\n\"]}]}"),
		CREATED SSE("response.output_item.added",
	                    ",\"output_index\":0,\"item\":{\"type\":\"custom_tool_call\",\"id\":\"ctc_1_1\",\"status\":"
	                    "\"in_progress\",\"call_id\":\"call_1_1\",\"name\":\"apply_patch\",\"input\":\"\"}")
			SSE("response.custom_tool_call_input.delta",
	                    ",\"item_id\":\"ctc_1_1\",\"output_index\":0,\"delta\":\"*** Begin\\n\"")
				SSE("response.custom_tool_call_input.delta",
	                            ",\"item_id\":\"ctc_1_1\",\"output_index\":0,\"delta\":\"+x\\n\"")
					SSE("response.output_item.done",
	                                    ",\"output_index\":0,\"item\":{\"type\":\"custom_tool_call\","
	                                    "\"id\":\"ctc_1_1\",\"status\":\"completed\",\"call_id\":\"call_1_1\","
	                                    "\"name\":\"apply_patch\",\"input\":\"*** Begin\\n+x\\n\"}")
						COMPLETED("4", "5") "<end>");
}

static void test_item_is_sent_as_written(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"item\": {\"type\": \"web_search_call\"}}]}"), CREATED
	           "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\","
	           "\"output_index\":0,\"item\":{\"type\": \"web_search_call\"}}\n\n" COMPLETED("0", "1") "<end>");
}

static void test_script_events_replace_generated_ones(void **state)
{
	assert_str(played(*state,
	                  "{\"reply\": [{\"event\": {\"type\":\"response.created\",\"a\":1}}, {\"message\": \"x\"},"
	                  " {\"event\": {\"type\":\"response.failed\"}}]}"),
	           "event: response.created\ndata: {\"type\":\"response.created\",\"a\":1}\n\n" MESSAGE_ADDED
	                   MESSAGE_DELTA("x") MESSAGE_DONE(
				   "x") "event: response.failed\ndata: {\"type\":\"response.failed\"}\n\n<end>");
}

static void test_events_and_raw_bytes_start_nothing(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"event\": {\"x\": \"\\n\",\n\"y\": 2}}, {\"raw\": \": hi\\n\\n\"},"
	                          " {\"raw_base64\": \"AP+A\"}]}"),
	           "data: {\"x\": \"\\n\", \"y\": 2}\n\n: hi\n\n\0\xff\x80<end>");
}

static void test_start_alone_is_an_empty_answer(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"start\": true}]}"), CREATED "<head>" COMPLETED("0", "1") "<end>");
	assert_str(played(*state, "{\"reply\": []}"), "<end>");
}

static void test_ways_to_end(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"drop\": true}]}"), "<drop>");
	assert_str(played(*state, "{\"reply\": [{\"drop\": \"reset\"}]}"), "<reset>");
	assert_str(played(*state, "{\"reply\": [{\"gate\": \"go\"}, {\"hang\": true}]}"), "<gate go><hang>");
	assert_str(played(*state, "{\"reply\": [{\"delta\": \"x\"}, {\"eof\": true}]}"),
	           CREATED MESSAGE_ADDED MESSAGE_DELTA("x") "<end>");
}

static void test_status(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"status\": 500, \"body\": {\"error\": 1}}]}"), "{\"error\": 1}<end>");
	assert_str(played(*state, "{\"reply\": [{\"delay_ms\": 3}, {\"status\": 200}, {\"raw\": \"x\"}]}"),
	           "<wait 3><head>x<end>");
}

static void test_fill_repeats_its_pattern(void **state)
{
	assert_str(played(*state,
	                  "{\"reply\": [{\"fill\": 7, \"with\": \"abc\"}, {\"raw\": {\"fill\": 5, \"with\": \"ä\"}}]}"),
	           "abcabcaää<end>");
	struct str out = played(*state, "{\"reply\": [{\"fill\": 1000003, \"with\": \"0123456789\"}]}");
	assert_int_equal(out.len, 1000003 + strlen("<end>"));
	for (size_t i = 0; i < 1000003; i++)
		if (out.ptr[i] != (char)('0' + i % 10))
			fail_msg("byte %zu is '%c'", i, out.ptr[i]);
}

static void test_repeat_counts_from_one_and_leaves_other_braces(void **state)
{
	assert_str(played(*state, "{\"reply\": [{\"repeat\": 2, \"steps\": [{\"raw\": \"{i}{j}{ {{i}\"},"
	                          " {\"event\": {\"n\":\"{i}\"}}]}, {\"repeat\": 0, \"steps\": [{\"raw\": \"x\"}]},"
	                          " {\"repeat\": 5, \"steps\": []}, {\"raw\": \"{i}\"}]}"),
	           "1{j}{ {1data: {\"n\":\"1\"}\n\n2{j}{ {2data: {\"n\":\"2\"}\n\n{i}<end>");
}

static void test_call_ids_in_a_repeat(void **state)
{
	struct str out =
		played(*state, "{\"reply\": [{\"repeat\": 2, \"steps\": [{\"call\": \"f\", \"call_id\": \"c{i}\","
	                       " \"arguments\": {\"cmd\": \"echo {i}\"}}]}]}");
	assert_true(str_find(out,
	                     STR("\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{\\\"cmd\\\": \\\"echo 1\\\"}\"")) >
	            0);
	assert_true(str_find(out,
	                     STR("\"call_id\":\"c2\",\"name\":\"f\",\"arguments\":\"{\\\"cmd\\\": \\\"echo 2\\\"}\"")) >
	            0);
}

static void test_a_hundred_thousand_deltas_are_generated_in_batches(void **state)
{
	struct fixture *f = *state;
	struct mock_play play;
	auto_buf struct buf out;
	size_t deltas = 0, largest = 0;
	buf_init(&out, LIMIT_MOCK_EVENT);
	load(f, "{\"reply\": [{\"repeat\": 100000, \"steps\": [{\"delta\": \"word {i} \"}]}]}");
	assert_int_equal(mock_play_init(&play, &f->script.replies[0], &f->request, 1, NULL), 0);
	while (mock_play_next(&play, &out) == MOCK_ACT_MORE) {
		struct str rest = buf_str(&out), line;
		largest = out.len > largest ? out.len : largest;
		while (str_next_line(&rest, &line))
			deltas += str_is(line, "event: response.output_text.delta");
		buf_clear(&out);
	}
	mock_play_finish(&play);
	assert_true(str_find(buf_str(&out), STR("word 100000 \"}]}}\n\n")) > 0);
	assert_true(largest < 2 * LIMIT_MOCK_BATCH);
	assert_true(deltas > 99000); /* the rest is in the last batch */
}

static void test_text_past_its_limit_ends_the_reply(void **state)
{
	struct str out =
		played(*state, "{\"reply\": [{\"repeat\": 3, \"steps\": [{\"delta\": {\"fill\": 60000000}}]}]}");
	assert_true(str_has_suffix(out, "<limit>"));
}

static void test_taken_values(void **state)
{
	struct fixture *f = *state;
	ask(f, "{\"input\": [{\"output\": \"none\"}, {\"output\": \"session ID 12.\\n\"}]}");
	load(f, "{\"reply\": [{\"call\": \"w\", \"arguments\": \"{\\\"id\\\":{sid}}\"}], \"take\": {\"sid\": {\"from\":"
	        " \"input.*.output\", \"after\": \"session ID \"}}}"
	        "{\"reply\": [], \"take\": {\"x\": {\"from\": \"input.0.output\", \"after\": \"ID \"}}}");
	play(f, 0);
	assert_true(str_find(buf_str(&f->out), STR("\"arguments\":\"{\\\"id\\\":12}\"")) > 0);
	play(f, 1);
	assert_str(buf_str(&f->out), "nothing to take for {x}: no word follows \"ID \" in input.0.output");
}

/* --- which reply ------------------------------------------------------------------------------------------- */

static unsigned line_for(struct fixture *f, const char *body)
{
	ask(f, body);
	const struct mock_reply *reply = mock_script_take(&f->script, &f->request);
	return reply ? reply->line : 0;
}

static void test_replies_are_taken_in_order_and_run_out(void **state)
{
	load(*state, "# comment\n{\"reply\": []}\n\n  # more\n{\"reply\": [],\n# inside\n\"times\": 2} # "
	             "after\n{\"reply\": []}");
	assert_int_equal(line_for(*state, "{}"), 2);
	assert_int_equal(line_for(*state, "{}"), 5);
	assert_int_equal(line_for(*state, "{}"), 5);
	assert_int_equal(line_for(*state, "{}"), 8);
	assert_int_equal(line_for(*state, "{}"), 0);
}

static void test_conditions_go_first(void **state)
{
	load(*state, "{\"reply\": [], \"times\": \"forever\"}\n"
	             "{\"when\": {\"contains\": \"li\\nne\"}, \"reply\": []}\n"
	             "{\"when\": {\"path\": {\"input.-1.role\": \"tool\"}}, \"reply\": [], \"times\": \"forever\"}");
	assert_int_equal(line_for(*state, "{}"), 1);
	assert_int_equal(line_for(*state, "{\"a\":[\"a li\\nne\"]}"), 2);
	assert_int_equal(line_for(*state, "{\"a\":[\"a li\\nne\"]}"), 1);
	assert_int_equal(line_for(*state, "{\"input\":[{\"role\":\"user\"},{\"role\":\"tool\"}]}"), 3);
	assert_int_equal(line_for(*state, "{\"input\":[{\"role\":\"tool\"},{\"role\":\"user\"}]}"), 1);
	assert_int_equal(line_for(*state, "{\"input\":[{\"role\":\"tool\"}]}"), 3);
}

/* Returns "" if the expectation is met, otherwise the mismatch. */
static const char *mismatch(struct fixture *f, const char *expect, const char *body)
{
	static struct error err;
	auto_buf struct buf script;
	buf_init(&script, 4096);
	buf_printf(&script, "{\"reply\": [], \"expect\": %s}", expect);
	load(f, script.data);
	ask(f, body);
	return mock_match_check(&f->script.replies[0].expect, &f->request, &err) ? "" : err.text;
}

static void test_expectations(void **state)
{
	const char *body = "{\"model\":\"m\",\"n\":1.0,\"input\":[{\"output\":\"a b\"},{\"output\":\"c\"}]}";
	assert_string_equal(mismatch(*state, "{\"contains\": [\"a b\", \"\\\"n\\\":1\"]}", body), "");
	assert_string_equal(mismatch(*state, "{\"contains\": \"zz\"}", body), "the request should contain \"zz\"");
	assert_string_equal(mismatch(*state, "{\"lacks\": [\"zz\", \"a b\"]}", body),
	                    "the request should not contain \"a b\"");
	assert_string_equal(mismatch(*state, "{\"path\": {\"input.*.output\": \"b\", \"n\": 1, \"gone\": null}}", body),
	                    "");
	assert_string_equal(mismatch(*state, "{\"path\": {\"input.-1.output\": \"a\"}}", body),
	                    "input.-1.output should contain \"a\"; it is \"c\"");
	assert_string_equal(mismatch(*state, "{\"path\": {\"input.2.output\": \"a\"}}", body),
	                    "input.2.output should contain \"a\"; it is not there");
	assert_string_equal(mismatch(*state, "{\"path\": {\"input.-3.output\": null}}", body), "");
	assert_string_equal(mismatch(*state, "{\"equal\": {\"input.0\": {\"output\": \"a b\"}}}", body), "");
	assert_string_equal(mismatch(*state, "{\"equal\": {\"input.0.output\": \"a\"}}", body),
	                    "input.0.output should equal \"a\"; it is \"a b\"");
}

static void test_expected_headers(void **state)
{
	struct fixture *f = *state;
	struct str head = STR("POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k1\r\n\r\n");
	assert_int_equal(http_head_parse_request(&f->head, head), 0);
	assert_string_equal(mismatch(f, "{\"header\": {\"authorization\": \"Bearer k1\", \"x-none\": null}}", "{}"),
	                    "");
	assert_string_equal(mismatch(f, "{\"header\": {\"authorization\": \"k2\"}}", "{}"),
	                    "header authorization should contain \"k2\"; it is another");
	assert_string_equal(mismatch(f, "{\"header\": {\"x-none\": \"v\"}}", "{}"),
	                    "header x-none should contain \"v\"; it is not there");
	http_head_finish(&f->head);
}

/* --- invalid scripts --------------------------------------------------------------------------------------- */

static const struct {
	const char *script;
	const char *text; /* prefix of the error text */
} refused[] = {
	{"", "no reply in it"},
	{"# only a comment", "no reply in it"},
	{"3", "line 1: a reply is an object"},
	{"\n[{\"message\": \"x\"}]", "line 2: a reply is an object"},
	{"{}", "line 1: \"reply\" is missing"},
	{"{\"reply\": [{\"message\": \"x\"]}", "line 1 column 27: "},
	{"{\"reply\": []}\n\n{\"reply\": [\n{]}", "line 4 column 2: "},
	{"{\"reply\": []}\n{\"reply\": [{\"message\": \"never closed", "line 2 column "},
	{"hello", "line 1 column 1: "},
	{"{\"replies\": []}", "line 1: \"replies\" is unknown here; a reply has"},
	{"{\"reply\": {}}", "line 1: \"reply\": must be a list of steps"},
	{"{\"reply\": [{\"mesage\": \"x\"}]}",
         "line 1: \"reply\": step 1: {\"mesage\": \"x\"} is not a step; a step is"},
	{"{\"reply\": [7]}", "line 1: \"reply\": step 1: 7 is not a step"},
	{"{\"reply\": [{\"message\": 7}]}", "line 1: \"reply\": step 1: \"message\": must be a text"},
	{"{\"reply\": [{\"message\": [\"x\", 7]}]}", "line 1: \"reply\": step 1: \"message\": must be a text"},
	{"{\"reply\": [{\"message\": {\"fill\": 0}}]}",
         "line 1: \"reply\": step 1: \"message\": \"fill\" inside a text"},
	{"{\"reply\": [{\"message\": \"x\", \"call_id\": \"c\"}]}",
         "line 1: \"reply\": step 1: \"call_id\" is not allowed in a \"message\" step; allowed are chunks, "
         "id, phase"},
	{"{\"reply\": [{\"message\": \"x\", \"call\": \"f\"}]}", "line 1: \"reply\": step 1: \"call\" is not allowed"},
	{"{\"reply\": [{\"message\": \"x\", \"chunks\": 0}]}",
         "line 1: \"reply\": step 1: \"chunks\": must be at least 1"},
	{"{\"reply\": [{\"call\": \"\"}]}", "line 1: \"reply\": step 1: \"call\": must be a string that is not empty"},
	{"{\"reply\": [{\"delay_ms\": -1}]}", "line 1: \"reply\": step 1: \"delay_ms\": must be a whole number up to"},
	{"{\"reply\": [{\"delay_ms\": 1e12}]}",
         "line 1: \"reply\": step 1: \"delay_ms\": must be a whole number up to"},
	{"{\"reply\": [{\"drop\": false}]}", "line 1: \"reply\": step 1: \"drop\": must be true or \"reset\""},
	{"{\"reply\": [{\"raw_base64\": \"?\"}]}",
         "line 1: \"reply\": step 1: \"raw_base64\": must be a string of padded"},
	{"{\"reply\": [{\"usage\": {\"tokens\": 1}}]}", "line 1: \"reply\": step 1: \"usage\": takes input_tokens"},
	{"{\"reply\": [{\"event\": \"x\"}]}", "line 1: \"reply\": step 1: \"event\": must be an object"},
	{"{\"reply\": [{\"hang\": true}, {\"message\": \"x\"}]}",
         "line 1: \"reply\": step 2: \"message\" is unreachable: \"hang\" before it ends the reply"},
	{"{\"reply\": [{\"status\": 400, \"body\": \"\"}, {\"raw\": \"x\"}]}",
         "line 1: \"reply\": step 2: \"raw\" is unreachable"},
	{"{\"reply\": [{\"raw\": \"x\"}, {\"status\": 400}]}",
         "line 1: \"reply\": step 2: \"status\" must be the first"},
	{"{\"reply\": [{\"status\": 99}]}", "line 1: \"reply\": step 1: \"status\" must be a number from 200"},
	{"{\"reply\": [{\"status\": 400, \"headers\": {\"a\": 1}}]}",
         "line 1: \"reply\": step 1: \"headers\": \"a\" cannot"},
	{"{\"reply\": [], \"headers\": {\"a b\": \"x\"}}", "line 1: \"headers\": \"a b\" cannot be sent as a header"},
	{"{\"reply\": [], \"headers\": {\"a\": \"x\\r\\nb: c\"}}", "line 1: \"headers\": \"a\" cannot be sent"},
	{"{\"reply\": [], \"headers\": {\"Content-Length\": \"1\"}}", "line 1: \"headers\": Content-Length follows"},
	{"{\"reply\": [{\"repeat\": 2, \"steps\": [{\"drop\": true}]}]}",
         "line 1: \"reply\": step 1: \"steps\": step 1: \"drop\" cannot stand inside a repeat"},
	{"{\"reply\": [{\"repeat\": 2, \"steps\": [{\"repeat\": 2, \"steps\": []}]}]}",
         "line 1: \"reply\": step 1: \"steps\": step 1: \"repeat\" cannot"},
	{"{\"reply\": [{\"wire\": \"x\"}, {\"repeat\": 1, \"steps\": [{\"message\": \"y\"}]}]}",
         "line 1: \"reply\": \"message\" needs an HTTP answer"},
	{"{\"reply\": [], \"times\": 0}", "line 1: \"times\": must be a whole number from 1"},
	{"{\"reply\": [], \"when\": \"x\"}", "line 1: \"when\": must be an object of conditions"},
	{"{\"reply\": [], \"when\": {\"x\": 1}}", "line 1: \"when\": \"x\" is not a condition"},
	{"{\"reply\": [], \"expect\": {\"contains\": [1]}}", "line 1: \"expect\": \"contains\" must be a string or"},
	{"{\"reply\": [], \"take\": {\"i\": {\"from\": \"a\", \"after\": \"b\"}}}",
         "line 1: \"take\": \"i\" is not a valid name"},
	{"{\"reply\": [], \"take\": {\"x\": {\"from\": \"a\"}}}", "line 1: \"take\": \"x\" must be {\"from\""},
	{"{\"reply\": [], \"take\": 1}", "line 1: \"take\": must be an object"},
	{"{\"reply\": [], \"times\": \"forever\"}\n{\"reply\": []}", "line 2: never reached: line 1 repeats forever"},
};

static void test_mistakes_are_named_with_their_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct mock_script script;
		struct error err = {0};
		if (mock_script_parse(&script, str_of(refused[i].script), &err) == 0)
			fail_msg("accepted: %s", refused[i].script);
		if (!str_has_prefix(str_of(err.text), refused[i].text))
			fail_msg("%s\n got %s\nwant %s", refused[i].script, err.text, refused[i].text);
		mock_script_finish(&script);
	}
}

static void test_a_file_that_is_not_there(void **state)
{
	struct mock_script script;
	struct error err = {0};
	(void)state;
	assert_int_equal(mock_script_read(&script, "no/such.jsonl", &err), -ERR_not_found);
	mock_script_finish(&script);
}

/* --- the manual -------------------------------------------------------------------------------------------- */

static void test_examples_of_the_manual(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	size_t examples = 0;
	auto_buf struct buf doc;
	buf_init(&doc, MIB);
	assert_int_equal(file_read(source_path("docs/mock-model.md"), &doc, &err), 0);
	for (struct str rest = buf_str(&doc);;) {
		ptrdiff_t start = str_find(rest, STR("```jsonl\n"));
		if (start < 0)
			break;
		rest = str_skip(rest, (size_t)start + strlen("```jsonl\n"));
		ptrdiff_t end = str_find(rest, STR("```"));
		assert_true(end > 0);
		mock_script_finish(&f->script);
		if (mock_script_parse(&f->script, str_n(rest.ptr, (size_t)end), &err) < 0)
			fail_msg("example %zu: %s", examples + 1, err.text);
		for (size_t i = 0; i < f->script.count; i++)
			play(f, i);
		examples++;
		rest = str_skip(rest, (size_t)end + 3);
	}
	assert_true(examples >= 8);
}

/* The manual documents every key of the tables. */
static void test_the_manual_names_everything(void **state)
{
	static const char *const names[] = {
#define KEY(name, kind) "`" #name "`",
#define CONDITION(name, kind) "`" #name "`",
#define TOKENS(name) "`" #name "`",
#define MEMBER(name, kind, field) "`" #name "`",
#define STEP(name, kind, field, max, members, flags) "{\"" #name "\": ",
#include "server/mock/mock_script.def"
	};
	auto_buf struct buf doc;
	(void)state;
	buf_init(&doc, MIB);
	assert_int_equal(file_read(source_path("docs/mock-model.md"), &doc, NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_find(buf_str(&doc), str_of(names[i])) < 0)
			fail_msg("%s is not in docs/mock-model.md", names[i]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_message),
		CASE(test_message_in_chunks_keeps_characters_whole),
		CASE(test_more_chunks_than_bytes),
		CASE(test_message_as_list_is_sent_piece_by_piece),
		CASE(test_deltas_become_one_message),
		CASE(test_reasoning),
		CASE(test_calls_are_numbered),
		CASE(test_call_arguments_in_chunks),
		CASE(test_custom_call),
		CASE(test_item_is_sent_as_written),
		CASE(test_script_events_replace_generated_ones),
		CASE(test_events_and_raw_bytes_start_nothing),
		CASE(test_start_alone_is_an_empty_answer),
		CASE(test_ways_to_end),
		CASE(test_status),
		CASE(test_fill_repeats_its_pattern),
		CASE(test_repeat_counts_from_one_and_leaves_other_braces),
		CASE(test_call_ids_in_a_repeat),
		CASE(test_a_hundred_thousand_deltas_are_generated_in_batches),
		CASE(test_text_past_its_limit_ends_the_reply),
		CASE(test_taken_values),
		CASE(test_replies_are_taken_in_order_and_run_out),
		CASE(test_conditions_go_first),
		CASE(test_expectations),
		CASE(test_expected_headers),
		CASE(test_mistakes_are_named_with_their_line),
		CASE(test_a_file_that_is_not_there),
		CASE(test_examples_of_the_manual),
		CASE(test_the_manual_names_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
