/* messages.h — what the parts of Anthropic Messages share: the rounds and the options of a request, and the reader. */
#ifndef MODEL_MESSAGES_H
#define MODEL_MESSAGES_H

#include "model/model_wire.h"

#define MESSAGES_WIRE "messages" /* in items: the wire that made them */

struct json_writer;

/* Returns the maximal number of tokens of an answer. */
int64_t messages_max_tokens(const struct model_prompt *prompt);
/* True if the model is asked to think; only then are thoughts sent back. */
bool messages_has_thinking(const struct model_prompt *prompt);
/* Writes thinking and the form of the answer. */
void messages_write_options(struct json_writer *w, const struct model_prompt *prompt);

extern const struct model_reader messages_reader;

#endif
