/* code_frame.h — frames between the engine and the host of a script: four bytes with the length, the lowest first, then
 * that much JSON.
 *
 * The host is not trusted: a frame that is too long ends the conversation. Owns: the incomplete frame. Any thread. */
#ifndef TOOL_CODE_FRAME_H
#define TOOL_CODE_FRAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct code_tools;

struct code_frames {
	/* private */
	struct buf rest;
	size_t at;      /* bytes of frames that were dropped */
	bool is_broken; /* bytes were lost */
};

void code_frames_init(struct code_frames *frames);
void code_frames_finish(struct code_frames *frames);
/* Adds received bytes. */
void code_frames_add(struct code_frames *frames, struct str bytes);
/* Returns the next complete frame, borrowed until code_frames_drop. False if it is not complete. */
bool code_frames_next(struct code_frames *frames, struct str *ret);
/* True if no frame can follow those that are complete: the next one announces more than LIMIT_CODE_FRAME bytes, or more
 * has arrived than the reader holds. */
bool code_frames_are_broken(const struct code_frames *frames);
/* Removes the frame that code_frames_next has returned. */
void code_frames_drop(struct code_frames *frames);
/* Initialises the buf and begins a frame of this type: {"t":TYPE, the members of which follow. */
struct json_writer code_frame_begin(struct buf *out, const char *type);
/* Ends the object and sets the length. False if the frame is too long. */
must_check bool code_frame_end(struct buf *out, struct json_writer *w);

/* A value that a script has stored: json is its text, which the engine does not read. */
struct code_value {
	struct str key, json; /* owned */
};

/* Writes the first frame: the script, its tools, and the values that earlier ones have stored. As code_frame_end. */
must_check bool code_frame_write_start(struct buf *out, struct str source, const struct code_tools *tools,
                                       const struct code_value *values, size_t count);

#endif
