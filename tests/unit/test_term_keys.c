/* Keys of legacy terminals, xterm and kitty, pastes and reports, however their bytes are cut. */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "term/term_keys.h"

static const char *const names[] = {
	"none",
#define TERM_KEY(name) #name,
#define TERM_FINAL(name, final)
#define TERM_TILDE(name, number)
#define TERM_CODE(name, code)
#include "term/term_key.def"
#undef TERM_KEY
#undef TERM_FINAL
#undef TERM_TILDE
#undef TERM_CODE
};

/* Writes "C-a", "A-left", "x", "<pasted>", "focus". */
static void note(const struct term_key *key, void *self)
{
	struct buf *out = self;
	buf_append_c(out, out->len ? " " : "");
	buf_append_c(out, key->mods & TERM_CTRL ? "C-" : "");
	buf_append_c(out, key->mods & TERM_ALT ? "A-" : "");
	buf_append_c(out, key->mods & TERM_SHIFT ? "S-" : "");
	if (key->kind == TERM_NAMED)
		buf_printf(out, "%s%s", names[key->name], key->is_burst ? "(burst)" : "");
	else if (key->kind == TERM_CHAR)
		buf_append_str(out, key->text);
	else if (key->kind == TERM_PASTE)
		buf_printf(out, "<%.*s>", STR_ARG(key->text));
	else if (key->kind == TERM_LIGHT || key->kind == TERM_DARK)
		buf_append_c(out, key->kind == TERM_LIGHT ? "light" : "dark");
	else
		buf_append_c(out, key->kind == TERM_FOCUSED ? "focus" : "blur");
}

static void check(const char *bytes, size_t step, const char *want)
{
	struct term_keys keys;
	auto_buf struct buf got;
	struct str rest = str_of(bytes);
	buf_init(&got, 4096);
	term_keys_init(&keys, note, &got);
	while (rest.len) {
		size_t len = rest.len < step ? rest.len : step;
		term_keys_feed(&keys, str_n(rest.ptr, len));
		rest = str_skip(rest, len);
	}
	term_keys_flush(&keys);
	assert_string_equal(buf_str(&got).ptr, want);
	term_keys_finish(&keys);
}

static const struct {
	const char *bytes, *want;
} rows[] = {
	{"\x1bP\x03x", "C-c x"}, /* Alt and P, which begins a string */
	{"\x1b]ab\rx", "x"},     /* ab is lost, so Enter must not send what precedes it */
	{"\x1b]\rx", "enter x"},
	{"x\x1b]", "x A-]"},
	{"\x1bP", "A-P"},
	{"\x1bPab\x1b", "escape"},
	{"\x1b[1\x03x", "C-c x"},
	{"\x1bO\x03x", "C-c x"},
	{"\x1b[1\x1b[A\x1bO\x1b[B", "up down"},
	{"ab\xc3\xa9", "a b \xc3\xa9"},
	/* the background, as terminals answer */
	{"\x1b]11;rgb:ffff/ffff/f0f0\x1b\\x", "light x"},
	{"\x1b]11;rgb:1e/21/27\ax", "dark x"},
	{"\x1b]11;rgb:f/f/f\a", "light"},
	/* no answer about it: nothing */
	{"\x1b]11;rgb:ffff/ffff\ax", "x"},
	{"\x1b]11;rgb:ffff/ffff/ffff/0\ax", "x"},
	{"\x1b]11;rgb:fffff/ffff/ffff\ax", "x"},
	{"\x1b]11;rgb:/ffff/ffff\ax", "x"},
	{"\x1b]11;rgb:gggg/ffff/ffff\ax", "x"},
	{"\x1bP11;rgb:ffff/ffff/ffff\x1b\\x", "x"},
	{"\x1b]11;rgb:ffff/ffff/ffff0000000000000000000000000000000000000000000000000000000000000000\ax", "x"},
	{"\x01\x7f\t", "C-a backspace tab"},
	{"\x1b[A\x1bOB\x1b[1;5D\x1b[3~\x1b[Z", "up down C-left delete back_tab"},
	{"\x1b[13;2u\x1b[27;2;13~\x1b\r", "S-enter S-enter A-enter"},
	{"\x1b[97;5u\x1b[127;5u\x1b[27u", "C-a C-backspace escape"},
	{"\x1b[98;5:1u", "C-b"},
	{"\x1b"
         "b\x1b\x7f",
         "A-b A-backspace"},
	{"\x1b[I\x1b[O", "focus blur"},
	{"\x1b[?1u\x1b[?62;c\x1b[12;40R\x1b]11;rgb:0000/0000/0000\x1b\\x", "dark x"},
	{"\x1b]10;rgb:ff/ff/ff\ay\x1bPq\x1b\\z", "y z"},
	{"\x1b[200~a\r\nb\rc\x1b[31m\a\x1b[201~d", "<a\nb\nc[31m> d"},
	{"\x1b[200~\xff\x1b[201~", "<\xef\xbf\xbd>"},
	{"\x1b", "escape"},
	{"\x1b\x1b[A", "escape up"},
	{"\x1b[999~\x1b[<0;1;1Mq", "q"},
	{"\xff\xc3q", "q"},
};

static void keys_are_the_same_however_they_are_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		for (size_t step = 1; step < 8; step++)
			check(rows[i].bytes, step, rows[i].want);
	}
}

static void enter_within_a_block_of_keys_is_a_burst(void **state)
{
	(void)state;
	check("one\rtwo", 100, "o n e enter(burst) t w o");
	check("one\r", 100, "o n e enter(burst)");
	check("one\r", 1, "o n e enter");
	check("\r", 100, "enter");
}

static void note_crowded(const struct term_key *key, void *self)
{
	buf_append_char(self, key->is_crowded ? '+' : '.');
}

static void check_crowded(const char *bytes, size_t step, const char *want)
{
	struct term_keys keys;
	auto_buf struct buf got;
	struct str rest = str_of(bytes);
	buf_init(&got, 100);
	term_keys_init(&keys, note_crowded, &got);
	for (; rest.len; rest = str_skip(rest, rest.len < step ? rest.len : step))
		term_keys_feed(&keys, str_n(rest.ptr, rest.len < step ? rest.len : step));
	assert_string_equal(buf_str(&got).ptr, want);
	term_keys_finish(&keys);
}

static void a_character_that_does_not_come_alone_is_crowded(void **state)
{
	(void)state;
	check_crowded("y", 100, ".");
	check_crowded("\r", 100, ".");
	check_crowded("y yes", 100, "+++++");
	check_crowded("hi\r", 100, "+++");
	check_crowded("y\r", 1, "..");
	check_crowded("\x1b[B\r", 100, ".."); /* keys, no text */
	check_crowded("\r\r", 100, "+.");
}

/* Found by the fuzz target: a continuation byte was written after the end of the sequence's parameters. */
static void what_follows_a_long_sequence_is_no_part_of_it(void **state)
{
	(void)state;
	static const char *const ends[] = {"~", "\x80", "\x01"};
	static const char *const wanted[] = {"0 [ b", "0 [ b", "C-a 0 [ b"};
	for (size_t i = 0; i < countof(ends); i++) {
		for (size_t length = 60; length < 70; length++) {
			auto_buf struct buf bytes;
			buf_init(&bytes, 4096);
			buf_append_c(&bytes, "\x1b[");
			for (size_t at = 0; at < length; at++)
				buf_append_char(&bytes, '"');
			buf_append_c(&bytes, ends[i]);
			buf_append_c(&bytes, "\xa8\xa8\xa8"
			                     "0\xf2[b");
			check(buf_str(&bytes).ptr, 1000, wanted[i]);
		}
	}
}

static void an_endless_sequence_is_ignored_whole(void **state)
{
	char bytes[400] = "\x1b[";
	(void)state;
	memset(bytes + 2, '1', 300);
	strcpy(bytes + 302, "Ax");
	check(bytes, 400, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_the_same_however_they_are_cut),
		cmocka_unit_test(enter_within_a_block_of_keys_is_a_burst),
		cmocka_unit_test(a_character_that_does_not_come_alone_is_crowded),
		cmocka_unit_test(what_follows_a_long_sequence_is_no_part_of_it),
		cmocka_unit_test(an_endless_sequence_is_ignored_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
