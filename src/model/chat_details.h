/* chat_details.h — the reasoning_details of a response, joined from their fragments.
 *
 * Fragments of one index and type are one detail: text and summary are appended, of other members the last value stays.
 * Owns: copies. Details beyond CHAT_DETAILS, members beyond CHAT_DETAIL_MEMBERS, and text beyond LIMIT_SSE_EVENT are
 * dropped. Thread: any, one at a time. */
#ifndef MODEL_CHAT_DETAILS_H
#define MODEL_CHAT_DETAILS_H

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"

enum { CHAT_DETAILS = 4096, CHAT_DETAIL_MEMBERS = 16 };

struct chat_detail;

struct chat_details {
	/* private */
	VEC(struct chat_detail *) list;
	size_t bytes;
};

void chat_details_add(struct chat_details *details, const struct json *fragments);
/* Writes the details as an array. */
void chat_details_write(const struct chat_details *details, struct json_writer *w);
void chat_details_finish(struct chat_details *details);

#endif
