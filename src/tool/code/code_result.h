/* code_result.h — what a script has shown: texts and pictures, until the model gets them as the output of a call.
 *
 * Owns: the items. Loop thread only. */
#ifndef TOOL_CODE_RESULT_H
#define TOOL_CODE_RESULT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct code_item {
	struct str text; /* owned; of a picture: its data URL */
	bool is_image;
};

struct code_result {
	VEC(struct code_item) items;
	size_t text_bytes, image_bytes;
	bool is_full; /* an item was dropped */
};

void code_result_finish(struct code_result *result);
void code_result_add_text(struct code_result *result, struct str text);
/* Adds the error that has ended the script, also if the result is full. */
void code_result_add_error(struct code_result *result, struct str text);
/* Adds a picture given as a data URL; a note in its place if it is no picture, or too large. */
void code_result_add_image(struct code_result *result, struct str url);
/* Writes the output of a call and removes the items. head: the first text. With items, parts is the JSON array of an
 * output; else text is the head. tokens: budget of all texts together. */
void code_result_write(struct code_result *result, struct str head, size_t tokens, struct buf *text, struct buf *parts);

#endif
