/* tagged_text.h — finds blocks in a streamed text, which begin and end with tags on separate lines.
 *
 * A line is held back while it may be a tag; other text is emitted at once. A tag is alone on its line, except for
 * (Unicode) white space. An opening tag inside a block and a closing tag outside of one are text; a block that is
 * open at the end is closed there. The division of the input into pieces changes only the division of the emitted
 * text. Adjacent texts of one piece are emitted together. The time per byte is bounded. A line of more than
 * LIMIT_TAG_LINE bytes is not a tag. Owns: the text held back. Any thread. */
#ifndef MODEL_TAGGED_TEXT_H
#define MODEL_TAGGED_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* A kind of block. Its tags are ASCII without white space and differ from those of other kinds. */
struct tagged_block {
	struct str open, close;
};

enum tagged_segment {
	TAGGED_TEXT,  /* text outside a block */
	TAGGED_START, /* a block begins; text is empty */
	TAGGED_INNER, /* text inside a block */
	TAGGED_END,   /* the block ends; text is empty */
};

/* The text is borrowed during the call; TAGGED_TEXT and TAGGED_INNER are never empty. */
typedef void (*tagged_segment_fn)(enum tagged_segment segment, const struct tagged_block *block, struct str text,
                                  void *self);

struct tagged_text {
	/* private */
	const struct tagged_block *blocks;
	size_t count;
	tagged_segment_fn on_segment;
	void *self;
	const struct tagged_block *active; /* the block that is open, or NULL */
	struct buf held;                   /* bytes from earlier pieces of a line that may be a tag */
	size_t line_len;                   /* bytes of that line */
	unsigned live;                     /* a set bit for each block whose tag begins with the line so far */
	size_t at;                         /* number of bytes of the tag so far */
	uint32_t partial;                  /* bytes of an incomplete white space character */
	bool is_trailing;                  /* white space followed the tag */
	bool may_be_tag;                   /* false: the text of this line is emitted at once */
};

/* blocks: at most 32, borrowed. */
void tagged_text_init(struct tagged_text *tagged, const struct tagged_block *blocks, size_t count,
                      tagged_segment_fn on_segment, void *self);
void tagged_text_finish(struct tagged_text *tagged);

void tagged_text_feed(struct tagged_text *tagged, struct str piece);
/* Ends the text. The next feed begins another one. */
void tagged_text_end(struct tagged_text *tagged);

#endif
