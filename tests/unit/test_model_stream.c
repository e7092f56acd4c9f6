/* Events of a stream, for any split of the bytes and for different servers. */
#include "test.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/model_wire.h"
#include "model/sse.h"
#include "protocol/record/types.h"

/* The emitted events as text. */
struct reader {
	struct model_stream stream;
	struct sse sse;
	struct buf log;
};

static const char *const names[] = {
#define RESPONSE_EVENT(name, wire) [RESPONSE_##name] = #name,
#include "model/response_event.def"
#undef RESPONSE_EVENT
};

static void on_response(const struct response_event *event, void *self)
{
	struct buf *log = &((struct reader *)self)->log;
	buf_printf(log, "%s", names[event->type]);
	if (event->id.ptr)
		buf_printf(log, " id=%.*s", STR_ARG(event->id));
	if (event->text.ptr)
		buf_printf(log, " text=%.*s", STR_ARG(event->text));
	if (event->index)
		buf_printf(log, " index=%d", (int)event->index);
	if (event->item)
		buf_printf(log, " item=%.*s", STR_ARG(event->item->span));
	if (event->usage)
		buf_printf(log, " total=%d", (int)event->usage->total_tokens);
	buf_append_char(log, '\n');
}

static bool on_sse(const struct sse_event *event, void *self)
{
	struct reader *reader = self;
	return model_stream_feed(&reader->stream, event->event, event->data);
}

static void reader_init(struct reader *reader)
{
	model_stream_init(&reader->stream, model_wire_responses.reader, on_response, reader);
	sse_init(&reader->sse, on_sse, reader);
	buf_init(&reader->log, MIB);
}

static void reader_finish(struct reader *reader)
{
	buf_finish(&reader->log);
	sse_finish(&reader->sse);
	model_stream_finish(&reader->stream);
}

static void read_whole(struct reader *reader, const char *text)
{
	reader_init(reader);
	assert_int_equal(sse_feed(&reader->sse, str_of(text), NULL), 0);
	assert_int_equal(sse_end(&reader->sse, NULL), 0);
}

static const char answer[] =
	"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n"
	": ping\n\n"
	"data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n"
	"data: "
	"{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\"}}"
	"\n\n"
	"data: {\"type\":\"response.reasoning_summary_part.added\",\"item_id\":\"rs_1\",\"summary_index\":1}\n\n"
	"data: "
	"{\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"rs_1\",\"summary_index\":1,\"delta\":\"Th\"}"
	"\n\n"
	"data: "
	"{\"type\":\"response.reasoning_text.delta\",\"item_id\":\"rs_1\",\"content_index\":2,\"delta\":\"raw\"}\n\n"
	"data: not json\n\n"
	"data: [DONE]\n\n"
	"data: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"caf\\u00e9 "
	"\xf0\x9f\x99\x82\"}\r\n\r\n"
	"data: {\"type\":\"response.output_item.done\",\ndata: \"item\":{\"type\":\"message\", \"n\": 1.50}}\n\n"
	"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"usage\":{\"input_tokens\":5,"
	"\"output_tokens\":2,\"total_tokens\":7}}}\n\n"
	"data: {\"type\":\"response.created\",\"response\":{\"id\":\"late\"}}\n\n";

static const char answer_log[] = "created id=resp_1\n"
				 "item_added item={\"type\":\"reasoning\",\"id\":\"rs_1\"}\n"
				 "summary_part id=rs_1 index=1\n"
				 "summary_delta id=rs_1 text=Th index=1\n"
				 "reasoning_delta id=rs_1 text=raw index=2\n"
				 "text_delta id=msg_1 text=café 🙂\n"
				 "item_done item={\"type\":\"message\", \"n\": 1.50}\n"
				 "completed id=resp_1 total=7\n";

static void every_split_gives_the_same_events(void **state)
{
	(void)state;
	for (size_t split = 0; split <= sizeof(answer) - 1; split++) {
		struct reader reader;
		reader_init(&reader);
		assert_int_equal(sse_feed(&reader.sse, str_n(answer, split), NULL), 0);
		assert_int_equal(sse_feed(&reader.sse, str_n(answer + split, sizeof(answer) - 1 - split), NULL), 0);
		assert_string_equal(reader.log.data, answer_log);
		assert_int_equal(reader.stream.state, MODEL_STREAM_COMPLETED);
		reader_finish(&reader);
	}
}

static void single_bytes_give_the_same_events(void **state)
{
	(void)state;
	struct reader reader;
	reader_init(&reader);
	for (size_t i = 0; i < sizeof(answer) - 1; i++)
		assert_int_equal(sse_feed(&reader.sse, str_n(answer + i, 1), NULL), 0);
	assert_string_equal(reader.log.data, answer_log);
	reader_finish(&reader);
}

static void missing_fields_are_tolerated(void **state)
{
	(void)state;
	static const struct {
		const char *text, *log;
	} cases[] = {
		{"data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n", "text_delta text=x\n"},
		{"data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\"}\n\n", ""},
		{"data: {\"type\":\"response.output_text.delta\",\"delta\":{}}\n\n", ""},
		{"data: {\"type\":\"response.output_item.done\"}\n\n", ""},
		{"data: {\"type\":\"response.output_item.done\",\"item\":[]}\n\n", ""},
		{"data: {\"type\":\"response.created\"}\n\n", "created\n"},
		{"data: {\"type\":\"response.completed\"}\n\n", "completed\n"},
		{"event: response.completed\ndata: {\"response\":{\"id\":\"r\",\"usage\":null}}\n\n",
	         "completed id=r\n"},
		{"data: {\"type\":5}\n\ndata: {}\n\ndata: []\n\ndata: null\n\ndata\n\n", ""},
		{"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}", "completed id=r\n"},
		{"data: {\"type\":\"response.output_text.delta\",\"delta\":\"bad \xff byte\"}\n\n",
	         "text_delta text=bad � byte\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reader reader;
		read_whole(&reader, cases[i].text);
		assert_string_equal(buf_str(&reader.log).ptr, cases[i].log);
		reader_finish(&reader);
	}
}

static void failures_end_the_stream(void **state)
{
	(void)state;
	static const struct {
		const char *text, *error;
		enum model_error_kind kind;
	} cases[] = {
		{"data: "
	         "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"x\",\"message\":\"oops\"}}}\n\n",
	         "stream disconnected before completion: oops", MODEL_ERROR_stream_lost},
		{"data: "
	         "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"invalid_prompt\",\"message\":"
	         "\"bad\"}}}\n\n",
	         "bad", MODEL_ERROR_invalid_request},
		{"data: {\"type\":\"response.failed\"}\n\n",
	         "stream disconnected before completion: response.failed event received", MODEL_ERROR_stream_lost},
		{"data: "
	         "{\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_"
	         "tokens\"}}}\n\n",
	         "Incomplete response returned, reason: max_output_tokens", MODEL_ERROR_incomplete},
		{"data: {\"type\":\"response.incomplete\"}\n\n", "Incomplete response returned, reason: unknown",
	         MODEL_ERROR_incomplete},
		{"data: {\"type\":\"error\",\"code\":\"insufficient_quota\",\"message\":\"m\"}\n\n",
	         "Quota exceeded. Check your plan and billing details.", MODEL_ERROR_quota_exceeded},
		{"data: {\"error\":{\"code\":500,\"message\":\"no slot\",\"type\":\"server_error\"}}\n\n",
	         "stream disconnected before completion: no slot", MODEL_ERROR_stream_lost},
		{"event: error\ndata: {\"message\":\"m\"}\n\n", "stream disconnected before completion: m",
	         MODEL_ERROR_stream_lost},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reader reader;
		read_whole(&reader, cases[i].text);
		assert_int_equal(reader.stream.state, MODEL_STREAM_FAILED);
		assert_int_equal(reader.stream.error.kind, cases[i].kind);
		assert_string_equal(reader.stream.error.text, cases[i].error);
		assert_int_equal(reader.log.len, 0);
		assert_false(model_stream_feed(&reader.stream, STR(""), STR("{\"type\":\"response.created\"}")));
		reader_finish(&reader);
	}
}

static void tells_a_stream_from_anything_else(void **state)
{
	(void)state;
	struct reader reader;
	read_whole(&reader, "<html>\n<body>data: {}</body>\n\n</html>");
	assert_false(reader.stream.has_events);
	assert_int_equal(reader.stream.state, MODEL_STREAM_OPEN);
	reader_finish(&reader);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_split_gives_the_same_events),
		cmocka_unit_test(single_bytes_give_the_same_events),
		cmocka_unit_test(missing_fields_are_tolerated),
		cmocka_unit_test(failures_end_the_stream),
		cmocka_unit_test(tells_a_stream_from_anything_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
