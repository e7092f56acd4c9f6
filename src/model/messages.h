/* messages.h — what the two halves of Anthropic Messages share. */
#ifndef MODEL_MESSAGES_H
#define MODEL_MESSAGES_H

#include "model/model_wire.h"

#define MESSAGES_WIRE "messages" /* in items: the wire that made them */

extern const struct model_reader messages_reader;

#endif
