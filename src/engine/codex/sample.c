/* A sample sends the turn's tools although they never run, so that the provider's prompt cache hits. A broken stream
 * ends it: the caller can start another one. */
#include "engine/codex/sample.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/history/context.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/session_tools.h"
#include "engine/history/history_item.h"
#include "model/model_client.h"

struct codex_sample {
	struct list link; /* a node of struct samples */
	struct session *session;
	struct context history;
	struct str *input;
	struct buf question; /* the prompt as an item */
	struct buf tools;    /* a copy, because the session's tools change with its settings */
	struct model_call *call;
	struct buf text;
	char *response_id;
	struct token_usage usage;
	bool has_usage, has_call, has_text;
	codex_sample_fn on_done;
	void *self;
};

/* ---- the stream ---- */

static void take_message(struct codex_sample *sample, const struct json *item)
{
	json_for_each(part, json_get(item, "content")) {
		struct str text = json_get_str(part, "text");
		if (!str_is(json_get_str(part, "type"), "output_text"))
			continue;
		buf_append_str(&sample->text, text);
		sample->has_text |= text.len > 0;
	}
}

static void take_item(struct codex_sample *sample, const struct json *item)
{
	struct str type = json_get_str(item, "type");
	if (str_is(type, "message"))
		take_message(sample, item);
	else if (type.len > 5 && str_is(str_skip(type, type.len - 5), "_call"))
		sample->has_call = true;
}

static void on_event(const struct response_event *event, void *self)
{
	struct codex_sample *sample = self;
	if (event->type == RESPONSE_item_done)
		take_item(sample, event->item);
	if (event->type != RESPONSE_completed)
		return;
	free(sample->response_id);
	sample->response_id = str_dup(event->id);
	sample->has_usage = event->usage;
	if (event->usage)
		sample->usage = *event->usage;
}

static void finish(struct codex_sample *sample, const struct error *err)
{
	const struct codex_sample_result result = {
		.response_id = str_of(sample->response_id ? sample->response_id : ""),
		.text = sample->has_text && !sample->has_call ? buf_str(&sample->text) : STR_NONE,
		.usage = sample->has_usage ? &sample->usage : NULL,
	};
	sample->on_done(err ? NULL : &result, err, sample->self);
	codex_sample_destroy(sample);
}

static void on_done(const struct model_error *failure, void *self)
{
	struct codex_sample *sample = self;
	struct error err;
	sample->call = NULL;
	if (failure)
		error_set(&err, ERR_transport, "the model returned no sample: %s", failure->text);
	finish(sample, failure ? &err : NULL);
}

/* ---- lifecycle ---- */

static void lend_input(struct codex_sample *sample, struct model_prompt *prompt)
{
	struct session *session = sample->session;
	const struct context_mark *chain =
		session_is_chained(session) ? context_find_chain(&session->conversation.context) : NULL;
	if (chain)
		prompt->previous_response_id = chain->response_id;
	sample->input = context_segments(&sample->history, chain ? chain->known_count : 0, &prompt->input_count);
	sample->input[prompt->input_count++] = buf_str(&sample->question);
	prompt->input = sample->input;
}

static void ask(struct codex_sample *sample, enum reasoning_effort effort)
{
	static const struct model_handler handler = {.on_event = on_event, .on_done = on_done};
	struct session *session = sample->session;
	const struct settings *settings = session->settings;
	struct model_prompt prompt = {
		.info = &settings->info,
		.instructions = conversation_instructions(&session->conversation),
		.tools = buf_str(&sample->tools),
		.effort = effort ? effort : settings->effort,
		.effort_word = effort ? NULL : settings->effort_word,
		.summary = settings->summary,
		.has_summary = settings->has_summary,
		.verbosity = settings->verbosity,
		.thread_id = str_of(session->id),
		.is_private = session->is_private,
	};
	lend_input(sample, &prompt);
	sample->call = model_client_stream(session->model, &prompt, &handler, sample);
}

static size_t count(const struct samples *samples)
{
	size_t count = 0;
	const struct codex_sample *it;
	list_for_each(it, &samples->list, link)
		count++;
	return count;
}

struct codex_sample *samples_start(struct samples *samples, struct session *session,
                                   const struct codex_sample_options *options, struct error *err)
{
	if (count(samples) >= LIMIT_SAMPLES) {
		error_set(err, ERR_limit, "the thread has %d samples in progress already; wait for one", LIMIT_SAMPLES);
		return NULL;
	}
	struct codex_sample *sample = xnew(struct codex_sample);
	*sample = (struct codex_sample){.session = session, .on_done = options->on_done, .self = options->self};
	buf_init(&sample->question, 6 * options->prompt.len + KIB);
	buf_init(&sample->text, LIMIT_SSE_EVENT);
	text_message_write(&sample->question, "user", options->prompt);
	struct str tools = conversation_tools(&session->conversation, session->settings);
	buf_init(&sample->tools, tools.len + 1);
	buf_append_str(&sample->tools, tools);
	context_share(&sample->history, &session->conversation.context, session->conversation.context.items.count);
	list_append(&samples->list, &sample->link);
	ask(sample, options->effort);
	return sample;
}

void codex_sample_destroy(struct codex_sample *sample)
{
	if (!sample)
		return;
	model_call_cancel(sample->call);
	list_remove(&sample->link);
	context_finish(&sample->history);
	buf_finish(&sample->question);
	buf_finish(&sample->tools);
	buf_finish(&sample->text);
	free(sample->input);
	free(sample->response_id);
	free(sample);
}

void samples_init(struct samples *samples)
{
	list_init(&samples->list);
}

void samples_cancel(struct samples *samples)
{
	struct error err;
	struct codex_sample *sample;
	error_set(&err, ERR_cancelled, "the thread has changed or was closed before the model returned a sample");
	while ((sample = list_first(&samples->list, struct codex_sample, link)))
		finish(sample, &err);
}
