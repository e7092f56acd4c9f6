/* term_keys.h — decodes what a terminal sends: keys (legacy, xterm, kitty), pastes, focus reports.
 *
 * Bytes may be cut anywhere. Unknown sequences and answers to queries are swallowed whole, however late they come; that
 * about the background is reported. A lone ESC is a key only after term_keys_flush: the caller waits for
 * TERM_ESCAPE_MS. Owns: a bounded buffer. */
#ifndef TERM_TERM_KEYS_H
#define TERM_TERM_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum { TERM_ESCAPE_MS = 40 };

enum term_key_name {
	KEY_none,
#define TERM_KEY(name) KEY_##name,
#define TERM_FINAL(name, final)
#define TERM_TILDE(name, number)
#define TERM_CODE(name, code)
#include "term/term_key.def"
#undef TERM_KEY
#undef TERM_FINAL
#undef TERM_TILDE
#undef TERM_CODE
};

enum term_key_kind {
	TERM_NAMED,   /* a key with a name */
	TERM_CHAR,    /* a character: `text`, one code point, with Ctrl or Alt in mods, else typed */
	TERM_PASTE,   /* `text` was pasted; line ends are \n, control characters are dropped */
	TERM_FOCUSED, /* the window has the focus */
	TERM_BLURRED,
	TERM_LIGHT, /* the answer to TERM_ASK_BACKGROUND: the background is light, or dark */
	TERM_DARK,
};

/* Asks the terminal for its background; a terminal that does not know the question says nothing. */
#define TERM_ASK_BACKGROUND "\x1b]11;?\x1b\\"

enum { TERM_SHIFT = 1, TERM_ALT = 2, TERM_CTRL = 4 };

struct term_key {
	enum term_key_kind kind;
	enum term_key_name name;
	unsigned mods;
	struct str text; /* borrowed during the callback */
	/* Enter within a block of characters that arrived at once: a paste by a terminal without bracketed paste */
	bool is_burst;
	/* a character or Enter that arrived in one block with other characters: pasted, or typed long before */
	bool is_crowded;
};

typedef void (*term_key_fn)(const struct term_key *key, void *self);

enum term_keys_state {
	KEYS_ground,
	KEYS_escape,
	KEYS_csi,
	KEYS_ss3,
	KEYS_string,        /* OSC, DCS, APC, PM: up to ST or BEL */
	KEYS_string_escape, /* ESC within such a string */
	KEYS_paste,
};

struct term_keys {
	/* private */
	enum term_keys_state state;
	bool has_alt;     /* ESC came before the character */
	char seq[64];     /* parameters of a sequence, or the bytes of a character */
	size_t seq_len;   /* more than sizeof(seq): too long, ignored */
	struct buf paste; /* up to its end marker */
	size_t burst;     /* characters of the current block of bytes */
	bool is_more;     /* further bytes of the block follow */
	term_key_fn on_key;
	void *self;
};

void term_keys_init(struct term_keys *keys, term_key_fn on_key, void *self);
void term_keys_finish(struct term_keys *keys);
/* Decodes one block of bytes; calls on_key for each key. */
void term_keys_feed(struct term_keys *keys, struct str bytes);
/* True after an ESC that may be a key or the beginning of a sequence, and after ESC ], P, _ or ^, which may be Alt and
 * a key or the beginning of a terminal's answer. */
bool term_keys_is_pending(const struct term_keys *keys);
/* Nothing followed: it was the key. */
void term_keys_flush(struct term_keys *keys);

#endif
