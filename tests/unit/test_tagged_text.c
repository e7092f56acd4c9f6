/* Blocks between tags: a table of cases, and equal segments for any split of the text. The expected result comes from a
 * second implementation that reads the whole text line by line and, if the reference folder exists, from its oracle.
 * CODEX_DEEP=N draws N cases instead of a few (./dev deep). */
#include "test.h"

#include <sys/wait.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/tagged_text.h"
#include "temp.h"

static const struct tagged_block tag = {{"<tag>", 5}, {"</tag>", 6}};

/* ---- segments as one text ---- */

/* Records each segment as a letter and its text, terminated by "|"; merged joins adjacent texts. */
struct log {
	struct buf text;
	bool merges;
	char last;
};

static void put(struct log *log, char kind, struct str text)
{
	bool is_text = kind == 'N' || kind == 'D';
	if (log->merges && is_text && kind == log->last)
		buf_truncate(&log->text, log->text.len - 1);
	else
		buf_append_char(&log->text, kind);
	buf_append_str(&log->text, text);
	buf_append_char(&log->text, '|');
	log->last = kind;
}

static void on_segment(enum tagged_segment segment, const struct tagged_block *block, struct str text, void *self)
{
	static const char kinds[] = {
		[TAGGED_TEXT] = 'N', [TAGGED_START] = 'S', [TAGGED_INNER] = 'D', [TAGGED_END] = 'E'};
	bool has_text = segment == TAGGED_TEXT || segment == TAGGED_INNER;
	assert_int_equal(has_text, text.len > 0);
	assert_int_equal(segment == TAGGED_TEXT, block == NULL);
	put(self, kinds[segment], text);
}

static void log_init(struct log *log, bool merges)
{
	*log = (struct log){.merges = merges};
	buf_init(&log->text, 64 * MIB);
	buf_append_c(&log->text, "");
}

/* Every piece is a copy that is freed after its feed. */
static void feed(struct tagged_text *tagged, struct str piece)
{
	auto_free char *copy = xmalloc(piece.len ? piece.len : 1);
	memcpy(copy, piece.ptr, piece.len);
	tagged_text_feed(tagged, str_n(copy, piece.len));
}

/* Splits at `cuts` (ascending, the last is the length). */
static void run(struct str text, const size_t *cuts, size_t count, struct log *log)
{
	struct tagged_text tagged;
	tagged_text_init(&tagged, &tag, 1, on_segment, log);
	for (size_t i = 0, from = 0; i < count; from = cuts[i++])
		feed(&tagged, str_n(text.ptr + from, cuts[i] - from));
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
}

static void run_bytes(struct str text, struct log *log)
{
	struct tagged_text tagged;
	tagged_text_init(&tagged, &tag, 1, on_segment, log);
	for (size_t i = 0; i < text.len; i++)
		feed(&tagged, str_n(text.ptr + i, 1));
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
}

/* ---- the second implementation ---- */

static void read_lines(struct str text, struct log *log)
{
	bool is_open = false;
	while (text.len) {
		ptrdiff_t at = str_find_char(text, '\n');
		struct str line = str_n(text.ptr, at < 0 ? text.len : (size_t)at);
		struct str raw = str_n(text.ptr, line.len + (at >= 0)), bare = text_trim(line);
		text = str_skip(text, raw.len);
		if (line.len <= LIMIT_TAG_LINE && str_eq(bare, is_open ? tag.close : tag.open)) {
			put(log, is_open ? 'E' : 'S', STR(""));
			is_open = !is_open;
		} else {
			put(log, is_open ? 'D' : 'N', raw);
		}
	}
	if (is_open)
		put(log, 'E', STR(""));
}

/* ---- the table ---- */

static const struct {
	const char *pieces[3];
	const char *want;
} rows[] = {
	{{"<t", "ag>\nline\n</tag>\n"}, "S|Dline\n|E|"},
	{{"<tag> extra\n"}, "N<tag> extra\n|"},
	{{"<tag>\nline\n"}, "S|Dline\n|E|"},
	{{"<tag>"}, "S|E|"},
	{{"a\n<t"}, "Na\n|N<t|"},
	{{"  <tag>  \nX\n\t</tag> \nY"}, "S|DX\n|E|NY|"},
	{{"</tag>\nz"}, "N</tag>\nz|"},
	{{"<tag>\nA\n<tag>\nB\n</tag>\nz"}, "S|DA\n<tag>\nB\n|E|Nz|"},
	{{"<tag>\nA\n</tag>\nm\n<tag>\nB\n</tag>"}, "S|DA\n|E|Nm\n|S|DB\n|E|"},
	{{"x <tag>\n"}, "Nx <tag>\n|"},
	{{""}, ""},
	{{"<Tag>\n</TAG>\n"}, "N<Tag>\n</TAG>\n|"},
	{{"<tag >\n"}, "N<tag >\n|"},
	{{"<tag>\r\nA\r\n</tag>\r\nB\r\n"}, "S|DA\r\n|E|NB\r\n|"},
	{{"\xc2\xa0<tag>\xe2\x80\x83\nA\n\xe3\x80\x80</tag>\xc2\x85\nz"}, "S|DA\n|E|Nz|"},
	{{"\xe2\x80<tag>\n"}, "N\xe2\x80<tag>\n|"},
	{{"<tag>\xe2\x80\n"}, "N<tag>\xe2\x80\n|"},
	{{"   ", "\n", "y"}, "N   \n|Ny|"},
	{{"x\n  ", "  - y", "z\n"}, "Nx\n|N    - y|Nz\n|"},
	{{"```\n<tag>\nA\n```\n"}, "N```\n|S|DA\n```\n|E|"},
	{{"<tag>\n</tag>\n<tag>\n</tag>\n"}, "S|E|S|E|"},
	{{"<<tag>\n"}, "N<<tag>\n|"},
	{{"<tag>only</tag>\n"}, "N<tag>only</tag>\n|"},
};

static void the_rows_of_the_table_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		size_t cuts[3], count = 0, len = 0;
		auto_buf struct buf text;
		buf_init(&text, KIB);
		for (; count < 3 && rows[i].pieces[count]; count++) {
			buf_append_c(&text, rows[i].pieces[count]);
			cuts[count] = len = text.len;
		}
		struct log log, bytes, lines;
		log_init(&log, false);
		run(buf_str(&text), cuts, count, &log);
		assert_string_equal(log.text.data, rows[i].want);
		log_init(&bytes, true);
		run_bytes(buf_str(&text), &bytes);
		log_init(&lines, true);
		read_lines(buf_str(&text), &lines);
		assert_string_equal(bytes.text.data, lines.text.data);
		buf_finish(&log.text);
		buf_finish(&bytes.text);
		buf_finish(&lines.text);
	}
}

static void only_possible_tags_are_held_back(void **state)
{
	(void)state;
	struct tagged_text tagged;
	struct log log;
	log_init(&log, false);
	tagged_text_init(&tagged, &tag, 1, on_segment, &log);
	feed(&tagged, STR("<t"));
	assert_string_equal(log.text.data, "");
	feed(&tagged, STR("x"));
	assert_string_equal(log.text.data, "N<tx|");
	feed(&tagged, STR("\n<ta "));
	assert_string_equal(log.text.data, "N<tx|N\n<ta |");
	feed(&tagged, STR("\n</t")); /* no block is open that this could close */
	assert_string_equal(log.text.data, "N<tx|N\n<ta |N\n</t|");
	feed(&tagged, STR("\n<tag>\n<tag"));
	assert_string_equal(log.text.data, "N<tx|N\n<ta |N\n</t|N\n|S|D<tag|");
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
	buf_finish(&log.text);
}

/* ---- several kinds ---- */

static void note_close(enum tagged_segment segment, const struct tagged_block *block, struct str text, void *self)
{
	struct buf *out = self;
	buf_append_char(out, "NSDE"[segment]);
	if (block)
		buf_append_str(out, block->close);
	buf_append_str(out, text);
}

static void kinds_of_blocks_are_distinguished(void **state)
{
	(void)state;
	static const struct tagged_block kinds[] = {{{"<a>", 3}, {"</a>", 4}}, {{"<ab>", 4}, {"</ab>", 5}}};
	struct tagged_text tagged;
	auto_buf struct buf out;
	buf_init(&out, KIB);
	tagged_text_init(&tagged, kinds, countof(kinds), note_close, &out);
	feed(&tagged, STR("<ab>\n1\n</a>\n</ab>\n<a>\n<ab>\n</a>"));
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
	assert_string_equal(out.data, "S</ab>D</ab>1\n</a>\nE</ab>S</a>D</a><ab>\nE</a>");
}

/* ---- any cut ---- */

static uint64_t seed;

static size_t draw(size_t below)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (size_t)(seed >> 33) % below;
}

static const char *const words[] = {"<tag>",    "</tag>", "\n",       "\n",          " ",   "a",
                                    "<",        "\r\n",   "\xc3\xa9", "</t",         "<ta", "\xe2\x80\x83",
                                    "\xc2\xa0", "\t",     "g>",       "\xe2\x80\x9d"};

/* A text of a few words and its splits, which are between characters, because the oracle reads characters. */
struct draw_case {
	struct buf text;
	size_t cuts[8], count;
};

static void case_draw(struct draw_case *it)
{
	size_t ends[32], length = 1 + draw(countof(ends) - 1);
	buf_clear(&it->text);
	for (size_t i = 0; i < length; i++) {
		buf_append_c(&it->text, words[draw(countof(words))]);
		ends[i] = it->text.len;
	}
	it->count = 0;
	for (size_t i = 0; i + 1 < length && it->count < countof(it->cuts) - 1; i++) {
		size_t split = draw(2) && ends[i] ? text_floor_boundary(buf_str(&it->text), ends[i] - draw(3) % ends[i])
		                                  : ends[i];
		if (draw(4) == 0 && (it->count == 0 || split >= it->cuts[it->count - 1]))
			it->cuts[it->count++] = split;
	}
	it->cuts[it->count++] = it->text.len;
}

/* Writes {"pieces":[…],"said":"…"} for the oracle. */
static void case_write(const struct draw_case *it, const struct log *log, FILE *to)
{
	auto_buf struct buf line;
	buf_init(&line, 64 * KIB);
	buf_append_c(&line, "{\"pieces\":[");
	for (size_t i = 0, from = 0; i < it->count; from = it->cuts[i++]) {
		if (i)
			buf_append_char(&line, ',');
		json_quote(&line, str_n(it->text.data + from, it->cuts[i] - from));
	}
	buf_append_c(&line, "],\"said\":");
	json_quote(&line, buf_str(&log->text));
	fprintf(to, "%s}\n", line.data);
}

/* Prints the oracle's results for the cases in the file, with the same letters. */
static const char asks_the_oracle[] = "import json,sys\n"
				      "sys.path.insert(0,sys.argv[1])\n"
				      "import proposed_plan_oracle as o\n"
				      "n=0\n"
				      "for line in open(sys.argv[2],encoding='utf-8',newline='\\n'):\n"
				      "  c=json.loads(line)\n"
				      "  w=''.join(k+t+'|' for k,t in o.norm(o.run(c['pieces'])))\n"
				      "  n+=1\n"
				      "  if w!=c['said']: sys.exit('%r: %r, want %r'%(c['pieces'],c['said'],w))\n"
				      "sys.exit(0 if n else 'no cases')\n";

static int ask_oracle(const char *folder, const char *cases)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		execlp("python3", "python3", "-B", "-c", asks_the_oracle, folder, cases, (char *)NULL);
		_exit(127);
	}
	assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void segments_do_not_depend_on_the_cuts(void **state)
{
	(void)state;
	const char *deep = getenv("CODEX_DEEP"), *folder = shared_path("reference/capture-kit");
	long left = deep ? strtol(deep, NULL, 10) : 3000;
	auto_free char *path = xstrdup(temp_path("cases"));
	FILE *cases = fopen(path, "w");
	struct draw_case it = {0};
	buf_init(&it.text, KIB);
	for (seed = 20260130; left > 0; left--) {
		struct log pieces, bytes, lines;
		case_draw(&it);
		log_init(&pieces, true);
		log_init(&bytes, true);
		log_init(&lines, true);
		run(buf_str(&it.text), it.cuts, it.count, &pieces);
		run_bytes(buf_str(&it.text), &bytes);
		read_lines(buf_str(&it.text), &lines);
		assert_string_equal(pieces.text.data, lines.text.data);
		assert_string_equal(bytes.text.data, lines.text.data);
		case_write(&it, &pieces, cases);
		buf_finish(&pieces.text);
		buf_finish(&bytes.text);
		buf_finish(&lines.text);
	}
	buf_finish(&it.text);
	fclose(cases);
	int status = folder ? ask_oracle(folder, path) : 127;
	if (status != 127) /* no oracle: the second implementation has checked the case */
		assert_int_equal(status, 0);
}

/* ---- size ---- */

static size_t text_bytes;

static void count_bytes(enum tagged_segment segment, const struct tagged_block *block, struct str text, void *self)
{
	(void)segment;
	(void)block;
	(void)self;
	text_bytes += text.len;
}

static void held_back_text_is_limited(void **state)
{
	(void)state;
	struct tagged_text tagged;
	size_t most = 0;
	text_bytes = 0;
	tagged_text_init(&tagged, &tag, 1, count_bytes, NULL);
	feed(&tagged, STR("<tag>\n"));
	for (size_t i = 0; i < MIB; i++) {
		tagged_text_feed(&tagged, STR(" "));
		most = tagged.held.len > most ? tagged.held.len : most;
	}
	tagged_text_feed(&tagged, STR("</tag>\n"));
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
	assert_int_equal(most, LIMIT_TAG_LINE);
	assert_int_equal(text_bytes, MIB + strlen("</tag>\n"));
}

static void ten_megabytes_pass_unchanged(void **state)
{
	(void)state;
	struct tagged_text tagged;
	auto_buf struct buf line;
	const size_t count = 10 * MIB / 64;
	buf_init(&line, KIB);
	buf_printf(&line, "   <tag%057d\n", 0);
	text_bytes = 0;
	tagged_text_init(&tagged, &tag, 1, count_bytes, NULL);
	feed(&tagged, STR("<tag>\n"));
	for (size_t i = 0; i < count * 2; i++) /* each line in two pieces */
		tagged_text_feed(&tagged, i % 2 ? str_skip(buf_str(&line), 5) : str_n(line.data, 5));
	tagged_text_feed(&tagged, STR("</tag>"));
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
	assert_int_equal(text_bytes, count * line.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rows_of_the_table_hold),
		cmocka_unit_test(only_possible_tags_are_held_back),
		cmocka_unit_test(kinds_of_blocks_are_distinguished),
		cmocka_unit_test_setup_teardown(segments_do_not_depend_on_the_cuts, temp_make, temp_remove),
		cmocka_unit_test(held_back_text_is_limited),
		cmocka_unit_test(ten_megabytes_pass_unchanged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
