/* chat.h — what the two halves of Chat Completions share: the names under which servers send reasoning. */
#ifndef MODEL_CHAT_H
#define MODEL_CHAT_H

#include "model/model_wire.h"

#define CHAT_WIRE "chat" /* in items: the wire that made them */

/* The names of fields for reasoning, in the order in which they are looked for. */
enum { CHAT_THOUGHT_FIELDS = 2 };
extern const char *const chat_thought_fields[CHAT_THOUGHT_FIELDS];

/* In the place of such a name: the thought was in the content (chat_think.h), and is sent back there. */
extern const char chat_thought_in_content[];

extern const struct model_reader chat_reader;

#endif
