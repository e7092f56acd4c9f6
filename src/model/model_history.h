/* model_history.h — a history as rounds, for wires whose messages are not Responses items.
 *
 * A round is what the model said in one response, the outputs of its calls, and the messages that came after it. The
 * items of the first round may begin with messages. Owns: the items of the current round. Borrows: the slices of the
 * history. Thread: any, one at a time. */
#ifndef MODEL_MODEL_HISTORY_H
#define MODEL_MODEL_HISTORY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"
#include "model/model_memo.h"

struct model_prompt;

struct history_call {
	const struct json *item;
	const struct json *output; /* NULL: none was recorded */
};

struct model_history {
	/* read-only: the current round */
	VEC(const struct json *) said;  /* reasoning, messages and calls of the model, in order */
	VEC(struct history_call) calls; /* the calls among them */
	VEC(const struct json *) heard; /* messages of the user and of the program, in order */
	bool is_first;
	bool is_closed; /* another round follows */
	/* private */
	const struct model_prompt *prompt;
	size_t slice;
	struct str rest; /* of the slice */
	size_t rounds;   /* read so far */
	struct arena arena;
};

/* The kinds of items that wires know; all others are left out, with their outputs. */
enum history_kind {
	HISTORY_other,
	HISTORY_reasoning,
	HISTORY_answer,  /* a message of the model */
	HISTORY_call,    /* function_call or custom_tool_call */
	HISTORY_output,  /* the output of a call */
	HISTORY_message, /* of the user or the program */
};

/* Begins at a place that model_history_place returned for the beginning of the same history. */
void model_history_init(struct model_history *history, const struct model_prompt *prompt,
                        const struct memo_place *place);
/* Reads the next round. *ret_has is false at the end. ERR_invalid: the history is not a list of items. */
must_check int model_history_next(struct model_history *history, bool *ret_has, struct error *err);
/* Returns where the next round begins. */
struct memo_place model_history_place(const struct model_history *history);
void model_history_finish(struct model_history *history);

enum history_kind history_kind_of(const struct json *item);
/* True for a message that the program sent as developer. */
bool history_is_developer(const struct json *item);

/* ---- what a wire keeps for itself ---- */

/* Items that were made by a wire other than Responses have a member "wire" after their type. It holds what that wire
 * needs to send them again, with its name and the id of the provider. */
#define HISTORY_WIRE "wire"

/* Returns the item's "wire" member if this wire and this provider have made it; else NULL. */
const struct json *history_own(const struct json *item, const char *wire, struct str provider);

#endif
