/* All names that codex 0.169 takes are known, also of keys that a terminal does not report. */
#include "config/config_key.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* "other name=name" */
static const char names[] = "enter tab escape backspace delete up down left right home end pageup pagedown insert "
			    "backtab space minus return=enter esc=escape del=delete pgup=pageup pgdn=pagedown";

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Cuts a modifier off. False: it does not begin with one. */
static bool cut_modifier(struct str *text, unsigned *ret)
{
	static const struct {
		char word[8];
		unsigned mod;
	} mods[] = {{"ctrl", CONFIG_KEY_ctrl},  {"control", CONFIG_KEY_ctrl}, {"alt", CONFIG_KEY_alt},
	            {"option", CONFIG_KEY_alt}, {"shift", CONFIG_KEY_shift},  {"super", CONFIG_KEY_super},
	            {"cmd", CONFIG_KEY_super}};
	ptrdiff_t at = str_find_char(*text, '-');
	for (size_t i = 0; i < countof(mods) && at > 0; i++) {
		if (!str_equal_fold(str_n(text->ptr, (size_t)at), str_of(mods[i].word)))
			continue;
		*text = str_skip(*text, (size_t)at + 1);
		*ret = mods[i].mod;
		return true;
	}
	return false;
}

/* Writes a name without hyphens in small letters. False: it is too long. */
static bool fold(struct str text, char out[12])
{
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '-' || text.ptr[i] == '_')
			continue;
		if (len == 11)
			return false;
		out[len++] = lower(text.ptr[i]);
	}
	out[len] = '\0';
	return len;
}

static bool find_name(char name[12])
{
	int64_t number;
	struct str rest = str_of(names), word, given = str_of(name);
	while (str_next_part(&rest, ' ', &word)) {
		struct str other;
		str_next_part(&word, '=', &other);
		if (!str_eq(other, given))
			continue;
		if (word.len) {
			memcpy(name, word.ptr, word.len);
			name[word.len] = '\0';
		}
		return true;
	}
	return name[0] == 'f' && name[1] != '0' && str_to_i64(str_skip(given, 1), &number) && number >= 1 &&
	       number <= 24;
}

bool config_key_read(struct str text, struct config_key *ret)
{
	unsigned mod;
	text = str_trim(text);
	*ret = (struct config_key){0};
	while (cut_modifier(&text, &mod)) {
		if (ret->mods & mod)
			return false;
		ret->mods |= mod;
	}
	if (!text.len || text_utf8_len(text) != text.len)
		return fold(text, ret->name) && find_name(ret->name);
	memcpy(ret->name, text.ptr, text.len);
	if (ret->mods && text.len == 1)
		ret->name[0] = lower(ret->name[0]);
	return text.len > 1 ? (text.ptr[0] & 0x80) != 0 : text.ptr[0] > ' ' && text.ptr[0] < 0x7f;
}
