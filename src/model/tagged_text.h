/* tagged_text.h — finds blocks in a text that comes in pieces: tags alone on their lines, and what is between them.
 *
 * A line that may still be a tag is held back, and no longer than that; all else is passed on as it comes. A tag counts
 * on a line of its own, whatever whitespace (Unicode's) is around it. An opening tag inside a block and a closing one
 * outside are text; a block that is open at the end is closed there. What is told does not depend on how the text was
 * cut, but for where the texts are cut; texts of one piece that follow each other are told as one.
 * Takes a bounded time for each byte. A line of more than LIMIT_TAG_LINE bytes is no tag.
 * Owns: what is held back. Any thread. Source: seed 004, plan-skills-questions 1. */
#ifndef MODEL_TAGGED_TEXT_H
#define MODEL_TAGGED_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* A kind of block. Its tags are ASCII without whitespace, and differ from those of other kinds. */
struct tagged_block {
	struct str open, close;
};

enum tagged_segment {
	TAGGED_TEXT,  /* outside of blocks */
	TAGGED_START, /* a block begins; text is empty */
	TAGGED_INNER, /* inside of the block */
	TAGGED_END,   /* the block ends; text is empty */
};

/* The text is borrowed during the call, and never empty where there is one. */
typedef void (*tagged_segment_fn)(enum tagged_segment segment, const struct tagged_block *block, struct str text,
                                  void *self);

struct tagged_text {
	/* private */
	const struct tagged_block *blocks;
	size_t count;
	tagged_segment_fn on_segment;
	void *self;
	const struct tagged_block *active; /* the block that is open */
	struct buf held;                   /* what came in earlier pieces of a line that may still be a tag */
	size_t line_len;                   /* bytes of that line */
	unsigned live;                     /* blocks whose tag the line begins like, a bit each */
	size_t at;                         /* bytes of the tag so far */
	uint32_t partial;                  /* bytes so far of what may become a whitespace character */
	bool is_trailing;                  /* whitespace came behind the tag */
	bool may_be_tag;                   /* the line; false: its text is passed on */
};

/* At most 32 kinds; they are borrowed. */
void tagged_text_init(struct tagged_text *tagged, const struct tagged_block *blocks, size_t count,
                      tagged_segment_fn on_segment, void *self);
void tagged_text_finish(struct tagged_text *tagged);

void tagged_text_feed(struct tagged_text *tagged, struct str piece);
/* The text is whole. The next feed begins another. */
void tagged_text_end(struct tagged_text *tagged);

#endif
