/* One state machine over bytes: it accepts any input, and its memory is bounded by LIMIT_TERM_PASTE and the longest
 * sequence. */
#include "term/term_keys.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_limits.h"

enum {
	BURST_LEAST = 3, /* characters before an Enter in one block: faster than typing */
	FIRST_CSI_FINAL = 0x40,
	PASTE_BEGIN = 200,
	PARAMS_MAX = 3,
	XTERM_OTHER_KEYS = 27,
};

static const char paste_end[] = "\x1b[201~";

static const struct named {
	enum term_key_name name;
	unsigned code;
} finals[] =
	{
#define TERM_KEY(name)
#define TERM_FINAL(name, final) {KEY_##name, final},
#define TERM_TILDE(name, number)
#define TERM_CODE(name, code)
#include "term/term_key.def"
#undef TERM_FINAL
#undef TERM_TILDE
},
  tildes[] =
	  {
#define TERM_FINAL(name, final)
#define TERM_TILDE(name, number) {KEY_##name, number},
#include "term/term_key.def"
#undef TERM_TILDE
#undef TERM_CODE
},
  codes[] = {
#define TERM_TILDE(name, number)
#define TERM_CODE(name, code) {KEY_##name, code},
#include "term/term_key.def"
#undef TERM_KEY
#undef TERM_FINAL
#undef TERM_TILDE
#undef TERM_CODE
};

static enum term_key_name find(const struct named *rows, size_t count, unsigned code)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].code == code)
			return rows[i].name;
	}
	return KEY_none;
}

void term_keys_init(struct term_keys *keys, term_key_fn on_key, void *self)
{
	*keys = (struct term_keys){.on_key = on_key, .self = self};
	buf_init(&keys->paste, LIMIT_TERM_PASTE);
}

void term_keys_finish(struct term_keys *keys)
{
	buf_finish(&keys->paste);
}

/* ---- reports ---- */

static void report(struct term_keys *keys, struct term_key key)
{
	keys->on_key(&key, keys->self);
}

static void report_named(struct term_keys *keys, enum term_key_name name, unsigned mods)
{
	bool is_burst = name == KEY_enter && (keys->burst >= BURST_LEAST || (keys->burst && keys->is_more));
	if (name != KEY_none)
		report(keys, (struct term_key){.kind = TERM_NAMED,
		                               .name = name,
		                               .mods = mods,
		                               .is_burst = is_burst,
		                               .is_crowded = name == KEY_enter && (keys->burst || keys->is_more)});
}

static void report_char(struct term_keys *keys, struct str text, unsigned mods)
{
	bool is_crowded = keys->burst++ || keys->is_more;
	report(keys, (struct term_key){.kind = TERM_CHAR, .mods = mods, .text = text, .is_crowded = is_crowded});
}

/* A character by its number, as kitty and xterm send it with modifiers. */
static void report_code(struct term_keys *keys, unsigned code, unsigned mods)
{
	char text[4];
	enum term_key_name name = find(codes, countof(codes), code);
	if (name != KEY_none)
		report_named(keys, name, mods);
	else if (code >= 0x20 && code < 0xd800) /* above are surrogates and kitty's numbers of modifier keys */
		report_char(keys, str_n(text, text_put_utf8(text, code)), mods & ~(unsigned)TERM_SHIFT);
}

static void report_paste(struct term_keys *keys)
{
	auto_buf struct buf text;
	struct str bytes = buf_str(&keys->paste);
	buf_init(&text, (size_t)LIMIT_TERM_PASTE * 3);
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.ptr[i];
		bool is_pair = c == '\r' && i + 1 < bytes.len && bytes.ptr[i + 1] == '\n';
		if (c == '\r' && !is_pair)
			buf_append_char(&text, '\n');
		else if ((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t')
			buf_append_char(&text, (char)c);
	}
	auto_buf struct buf clean;
	buf_init(&clean, (size_t)LIMIT_TERM_PASTE * 3);
	text_append_utf8_lossy(&clean, buf_str(&text));
	report(keys, (struct term_key){.kind = TERM_PASTE, .text = buf_str(&clean)});
	buf_reuse(&keys->paste);
}

/* ---- plain bytes ---- */

static void control(struct term_keys *keys, char c, unsigned mods)
{
	char letter = (char)(c | 0x60);
	if (c == '\r')
		report_named(keys, KEY_enter, mods);
	else if (c == '\t')
		report_named(keys, KEY_tab, mods);
	else if (c == '\x7f')
		report_named(keys, KEY_backspace, mods);
	else if (c == '\b')
		report_named(keys, KEY_backspace, mods);
	else
		report(keys, (struct term_key){.kind = TERM_CHAR, .mods = mods | TERM_CTRL, .text = str_n(&letter, 1)});
}

/* Collects the bytes of one character. An ill-formed one becomes nothing. */
static void in_character(struct term_keys *keys, char c)
{
	unsigned char first = (unsigned char)(keys->seq_len ? keys->seq[0] : c);
	size_t want = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (keys->seq_len && (c & 0xc0) != 0x80)
		keys->seq_len = 0, want = (unsigned char)c < 0x80 ? 1 : want;
	keys->seq[keys->seq_len++] = c;
	if (keys->seq_len < want)
		return;
	struct str text = str_n(keys->seq, keys->seq_len);
	keys->seq_len = 0;
	if (text_utf8_len(text) == text.len)
		report_char(keys, text, keys->has_alt ? TERM_ALT : 0);
	keys->has_alt = false;
}

static void in_ground(struct term_keys *keys, char c)
{
	if (c == '\x1b') {
		keys->seq_len = 0;
		keys->state = KEYS_escape;
	} else if ((unsigned char)c < 0x20 || c == '\x7f') {
		keys->seq_len = 0;
		control(keys, c, 0);
	} else {
		in_character(keys, c);
	}
}

/* A control character inside a sequence: the sequence ends, and the key counts, so that Ctrl-C is never lost. */
static void break_off(struct term_keys *keys, char c)
{
	keys->state = KEYS_ground;
	in_ground(keys, c);
}

/* ---- sequences ---- */

/* Reads "N;M:E;…" into numbers; the event type of kitty (after a colon) is skipped. */
static void read_params(const struct term_keys *keys, unsigned params[PARAMS_MAX])
{
	size_t at = 0;
	bool is_sub = false;
	for (size_t i = 0; i < keys->seq_len && at < PARAMS_MAX; i++) {
		char c = keys->seq[i];
		if (c == ';') {
			at++;
			is_sub = false;
		} else if (c == ':') {
			is_sub = true;
		} else if (c >= '0' && c <= '9' && !is_sub && params[at] < 10000000) {
			params[at] = params[at] * 10 + (unsigned)(c - '0');
		}
	}
}

static unsigned mods_of(unsigned param)
{
	return param > 1 ? (param - 1) & (TERM_SHIFT | TERM_ALT | TERM_CTRL) : 0;
}

static void end_csi(struct term_keys *keys, char final)
{
	unsigned params[PARAMS_MAX] = {0};
	keys->state = KEYS_ground;
	if (keys->seq_len > sizeof(keys->seq) || final == 'R' || (keys->seq_len && strchr("<=>?", keys->seq[0])))
		return; /* an answer to a query; CSI R is the place of the cursor, and F3 is SS3 R or CSI 13 ~ */
	read_params(keys, params);
	if (final == '~' && params[0] == PASTE_BEGIN)
		keys->state = KEYS_paste;
	else if (final == '~' && params[0] == XTERM_OTHER_KEYS)
		report_code(keys, params[2], mods_of(params[1]));
	else if (final == '~')
		report_named(keys, find(tildes, countof(tildes), params[0]), mods_of(params[1]));
	else if (final == 'u')
		report_code(keys, params[0], mods_of(params[1]));
	else if (final == 'I' || final == 'O')
		report(keys, (struct term_key){.kind = final == 'I' ? TERM_FOCUSED : TERM_BLURRED});
	else
		report_named(keys, find(finals, countof(finals), (unsigned char) final), mods_of(params[1]));
}

static void in_csi(struct term_keys *keys, char c)
{
	unsigned char byte = (unsigned char)c;
	bool is_final = byte >= FIRST_CSI_FINAL && byte < 0x7f, is_broken = byte < 0x20 || byte >= 0x7f;
	if (is_final)
		end_csi(keys, c);
	else if (byte < 0x20)
		break_off(keys, c);
	else if (is_broken)
		keys->state = KEYS_ground;
	else if (keys->seq_len < sizeof(keys->seq))
		keys->seq[keys->seq_len++] = c;
	else
		keys->seq_len = sizeof(keys->seq) + 1;
	if (is_final || is_broken) /* what follows is no part of a character */
		keys->seq_len = 0;
}

/* ---- strings ---- */

/* Reads one to four hexadecimal digits as a fraction of their maximum; negative if ill-formed. */
static double read_level(struct str digits)
{
	unsigned value = 0, most = 0;
	for (size_t i = 0; i < digits.len; i++) {
		int digit = str_hex_digit(digits.ptr[i]);
		if (digit < 0)
			return -1;
		value = value * 16 + (unsigned)digit;
		most = most * 16 + 15;
	}
	return digits.len && digits.len <= 4 ? (double)value / most : -1;
}

/* Reads "RR/GG/BB" and returns the luminance from 0 to 1; negative if ill-formed. */
static double luminance_of(struct str text)
{
	static const double weights[] = {0.299, 0.587, 0.114};
	double sum = 0;
	for (size_t i = 0; i < countof(weights); i++) {
		struct str part = {0};
		double level = str_next_part(&text, '/', &part) ? read_level(part) : -1;
		if (level < 0)
			return -1;
		sum += weights[i] * level;
	}
	return text.len ? -1 : sum;
}

static void end_string(struct term_keys *keys)
{
	struct str text = str_n(keys->seq, keys->seq_len <= sizeof(keys->seq) ? keys->seq_len : 0);
	double luminance = str_cut_prefix(&text, "]11;rgb:") ? luminance_of(text) : -1;
	keys->state = KEYS_ground;
	keys->seq_len = 0;
	if (luminance >= 0)
		report(keys, (struct term_key){.kind = luminance > 0.5 ? TERM_LIGHT : TERM_DARK});
}

static void in_escape(struct term_keys *keys, char c)
{
	keys->seq_len = 0;
	keys->state = KEYS_ground;
	switch (c) {
	case '[':
		keys->state = KEYS_csi;
		return;
	case 'O':
		keys->state = KEYS_ss3;
		return;
	case ']':
	case 'P':
	case '_':
	case '^':
		keys->state = KEYS_string;
		keys->seq[keys->seq_len++] = c;
		return;
	case '\x1b': /* ESC ESC: one key, and perhaps the beginning of a sequence */
		report_named(keys, KEY_escape, 0);
		keys->state = KEYS_escape;
		return;
	default:
		break;
	}
	if ((unsigned char)c < 0x20 || c == '\x7f') {
		control(keys, c, TERM_ALT);
	} else {
		keys->has_alt = true;
		in_character(keys, c);
	}
}

static void in_string(struct term_keys *keys, char c)
{
	if (c == '\a')
		end_string(keys);
	else if (c == '\x1b')
		keys->state = KEYS_string_escape;
	else if (keys->seq_len > 1 && (c == '\r' || c == '\n')) /* the text was lost: Enter must not send the rest */
		end_string(keys);
	else if ((unsigned char)c < 0x20) /* no answer contains it: what began was Alt and a key */
		break_off(keys, c);
	else if (keys->seq_len < sizeof(keys->seq))
		keys->seq[keys->seq_len++] = c;
	else
		keys->seq_len = sizeof(keys->seq) + 1;
}

static void in_string_escape(struct term_keys *keys, char c)
{
	if (c == '\\')
		end_string(keys);
	else /* the string was broken off by another sequence */
		in_escape(keys, c);
}

static void in_paste(struct term_keys *keys, char c)
{
	const size_t len = sizeof(paste_end) - 1;
	buf_append_char(&keys->paste, c);
	if (keys->paste.over) /* too long: keep the place for the end marker */
		buf_truncate(&keys->paste, keys->paste.len - len), buf_append_char(&keys->paste, c);
	if (c != '~' || !str_has_suffix(buf_str(&keys->paste), paste_end))
		return;
	buf_truncate(&keys->paste, keys->paste.len - len);
	keys->state = KEYS_ground;
	report_paste(keys);
}

void term_keys_feed(struct term_keys *keys, struct str bytes)
{
	keys->burst = 0;
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.ptr[i];
		keys->is_more = i + 1 < bytes.len;
		switch (keys->state) {
		case KEYS_ground:
			in_ground(keys, c);
			break;
		case KEYS_escape:
			in_escape(keys, c);
			break;
		case KEYS_csi:
			in_csi(keys, c);
			break;
		case KEYS_ss3:
			keys->state = KEYS_ground;
			if ((unsigned char)c < 0x20)
				break_off(keys, c);
			else
				report_named(keys, find(finals, countof(finals), (unsigned char)c), 0);
			break;
		case KEYS_string:
			in_string(keys, c);
			break;
		case KEYS_string_escape:
			in_string_escape(keys, c);
			break;
		case KEYS_paste:
			in_paste(keys, c);
			break;
		}
	}
}

/* True if a string has only begun: it may be Alt and a key. */
static bool is_introducer(const struct term_keys *keys)
{
	return keys->state == KEYS_string && keys->seq_len == 1;
}

bool term_keys_is_pending(const struct term_keys *keys)
{
	return keys->state == KEYS_escape || keys->state == KEYS_string_escape || is_introducer(keys);
}

void term_keys_flush(struct term_keys *keys)
{
	if (!term_keys_is_pending(keys))
		return;
	bool is_alt = is_introducer(keys);
	keys->state = KEYS_ground;
	keys->seq_len = 0;
	if (is_alt)
		report_char(keys, str_n(keys->seq, 1), TERM_ALT);
	else
		report_named(keys, KEY_escape, 0);
}
