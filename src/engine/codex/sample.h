/* sample.h — requests one answer of the model to a history, in parallel to turns. codex_sample_create (codex.h)
 * starts one.
 *
 * A sample shares the history as it was at its start. Nothing is recorded or counted, and no tool runs. Owns: its
 * model call. Loop thread only. */
#ifndef ENGINE_SAMPLE_H
#define ENGINE_SAMPLE_H

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "protocol/record/enum.h"

struct codex_sample;
struct session;
struct token_usage;

struct codex_sample_result {
	struct str response_id;
	struct str text;                 /* STR_NONE: the model called a tool, or its answer is empty */
	const struct token_usage *usage; /* NULL: the provider did not report it */
};
/* Called once, on the loop, with the result or the error; both are borrowed. The sample is destroyed afterwards. */
typedef void (*codex_sample_fn)(const struct codex_sample_result *result, const struct error *err, void *self);

struct codex_sample_options {
	struct str prompt;            /* copied */
	enum reasoning_effort effort; /* unset: the effort of the next turn */
	codex_sample_fn on_done;
	void *self;
};

/* Cancels the sample; on_done is not called. Must not be called after on_done. NULL is fine. */
void codex_sample_destroy(struct codex_sample *sample);

/* ---- for the owner of a Session ---- */

/* The samples in progress of one Session. */
struct samples {
	/* private */
	struct list list;
};

void samples_init(struct samples *samples);
/* Starts a sample. The session must have no task. ERR_limit: LIMIT_SAMPLES are in progress. */
must_check struct codex_sample *samples_start(struct samples *samples, struct session *session,
                                              const struct codex_sample_options *options, struct error *err);
/* Ends all samples with ERR_cancelled. Must be called before the Session's model client is destroyed. */
void samples_cancel(struct samples *samples);

#endif
