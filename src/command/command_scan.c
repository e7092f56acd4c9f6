/* Reads the text once. Words are collected without their quotes until an operator ends the command. A substitution
 * is scanned where it stands, by a scan of its own that ends at its closing mark, so that each byte is read once; only
 * here-documents and texts that a shell gets as its input are read a second time. */
#include "command/command_scan.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/vec.h"
#include "command/command_grammar.h"
#include "command/command_limits.h"

struct scanned_word {
	size_t at; /* in the text of the words */
	bool can_vary;
};

enum target {
	TARGET_none,
	TARGET_file,   /* the next word is the target of a redirection */
	TARGET_script, /* the next word is the input of a shell: bash <<< "…" */
};

struct scan {
	struct str rest;
	char closer;   /* ends a script inside another: ) */
	size_t opened; /* parentheses */
	size_t cases;  /* "case" without its "esac": their patterns end with ) */
	bool is_over;
	int depth;
	enum target target;
	struct str here; /* the end mark of the last here-document of this line; absent: none */
	bool is_here_script, is_here_quoted, is_here_indented;
	struct buf text;    /* the words of this command, each with its NUL */
	struct arena marks; /* of here-documents */
	VEC(struct scanned_word) words;
	bool can_vary; /* of the word that is being read */
	bool is_cut;   /* not all was read */
	command_scan_fn fn;
	void *self;
};

static void scan_script(struct scan *scan);
static void read_dollar(struct scan *scan, bool is_quoted);

static char next(const struct scan *scan)
{
	return scan->rest.len > 0 ? scan->rest.ptr[0] : '\0';
}

static void skip(struct scan *scan, size_t count)
{
	scan->rest = str_skip(scan->rest, count < scan->rest.len ? count : scan->rest.len);
}

/* --- words ------------------------------------------------------------------------------------------------------ */

static void add_expansion(struct scan *scan)
{
	buf_append_char(&scan->text, COMMAND_EXPANSION);
	scan->can_vary = true;
}

/* A quoted byte; that of an expansion comes from the script of an outer shell. */
static void take_byte(struct scan *scan)
{
	buf_append_char(&scan->text, next(scan));
	scan->can_vary = scan->can_vary || next(scan) == COMMAND_EXPANSION;
	skip(scan, 1);
}

/* Scans a script inside this one, up to its closer; 0: to its end. Returns what follows it. */
static struct str scan_inner(struct scan *scan, struct str script, char closer)
{
	struct scan inner = {
		.rest = script, .closer = closer, .depth = scan->depth + 1, .fn = scan->fn, .self = scan->self};
	if (inner.depth >= LIMIT_COMMAND_SUBSTITUTIONS) {
		scan->is_cut = true;
		return str_skip(script, script.len);
	}
	scan_script(&inner);
	scan->is_cut = scan->is_cut || inner.is_cut || (closer && !inner.is_over);
	return inner.rest;
}

/* Skips the closing mark. Without it the text was misread, or is not a script. */
static void skip_closer(struct scan *scan, char closer)
{
	scan->is_cut = scan->is_cut || next(scan) != closer;
	skip(scan, 1);
}

/* $(…), after its parenthesis. */
static void read_substitution(struct scan *scan)
{
	scan->rest = scan_inner(scan, scan->rest, ')');
	add_expansion(scan);
}

/* `…`, whose script has escapes of its own: those of $, ` and backslash. */
static void read_backticks(struct scan *scan, bool is_quoted)
{
	auto_buf struct buf script;
	buf_init(&script, LIMIT_COMMAND_PARSE);
	skip(scan, 1);
	while (scan->rest.len > 0 && next(scan) != '`') {
		char escaped = next(scan) == '\\' && scan->rest.len > 1 ? scan->rest.ptr[1] : '\0';
		if (escaped && strchr(is_quoted ? "$`\\\"" : "$`\\", escaped))
			skip(scan, 1);
		buf_append_char(&script, next(scan));
		skip(scan, 1);
	}
	skip_closer(scan, '`');
	scan_inner(scan, buf_str(&script), '\0');
	add_expansion(scan);
}

/* A byte after a backslash; the end of a line joins it with the next. */
static void read_escape(struct scan *scan, const char *escapable)
{
	skip(scan, 1);
	char c = next(scan);
	bool is_escape = !escapable || (c && strchr(escapable, c));
	if (!is_escape || scan->rest.len == 0)
		buf_append_char(&scan->text, '\\');
	else if (c != '\n')
		buf_append_char(&scan->text, c);
	skip(scan, is_escape ? 1 : 0);
}

/* Text in which only $, ` and some escapes are special, up to the closer and without it; 0: to the end. */
static void read_expanding(struct scan *scan, char closer)
{
	while (scan->rest.len > 0 && (!closer || next(scan) != closer)) {
		char c = next(scan);
		if (c == '\\') {
			read_escape(scan, closer == '"' ? "$`\"\\\n" : "$`\\\n");
		} else if (c == '$') {
			read_dollar(scan, true);
		} else if (c == '`') {
			read_backticks(scan, true);
		} else {
			take_byte(scan);
		}
	}
}

/* $'…', after its quote. An escape other than of a quote or backslash, with the digits after it, can be any text. */
static void read_ansi_quoted(struct scan *scan)
{
	while (scan->rest.len > 0 && next(scan) != '\'') {
		if (next(scan) != '\\') {
			take_byte(scan);
			continue;
		}
		skip(scan, 1);
		if (next(scan) && strchr("'\"\\", next(scan))) {
			take_byte(scan);
			continue;
		}
		add_expansion(scan);
		skip(scan, 1);
		while (str_hex_digit(next(scan)) >= 0)
			skip(scan, 1);
	}
	skip_closer(scan, '\'');
}

/* ${…}, after its brace: a value can contain substitutions. Its text is dropped. */
static void read_parameter(struct scan *scan)
{
	size_t start = scan->text.len;
	if (scan->depth == LIMIT_COMMAND_SUBSTITUTIONS) {
		scan->is_cut = true;
		skip(scan, scan->rest.len);
		return;
	}
	scan->depth++;
	read_expanding(scan, '}');
	scan->depth--;
	skip_closer(scan, '}');
	buf_truncate(&scan->text, start);
	add_expansion(scan);
}

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void read_dollar(struct scan *scan, bool is_quoted)
{
	skip(scan, 1);
	char c = next(scan);
	if (c == '(' || c == '{' || (c == '\'' && !is_quoted))
		skip(scan, 1);
	if (c == '(') {
		read_substitution(scan);
	} else if (c == '{') {
		read_parameter(scan);
	} else if (c == '\'' && !is_quoted) {
		read_ansi_quoted(scan);
	} else if (is_name_byte(c)) {
		add_expansion(scan);
		while (is_name_byte(next(scan)))
			skip(scan, 1);
	} else if (c && strchr("@*#?$!-", c)) {
		add_expansion(scan);
		skip(scan, 1);
	} else if (c != '"' || is_quoted) {
		buf_append_char(&scan->text, '$');
	}
}

static void read_single_quoted(struct scan *scan)
{
	skip(scan, 1);
	while (scan->rest.len > 0 && next(scan) != '\'')
		take_byte(scan);
	skip_closer(scan, '\'');
}

/* Bytes with a meaning of their own. A brace expansion becomes a pattern for any text, as it can become any words. */
static void read_bare(struct scan *scan)
{
	char c = next(scan);
	size_t brace = c == '{' ? command_brace_length(scan->rest) : 0;
	scan->can_vary = scan->can_vary || brace > 0 || c == COMMAND_EXPANSION || strchr("*?[", c);
	buf_append_char(&scan->text, brace > 0 ? '*' : c);
	skip(scan, brace > 0 ? brace : 1);
}

/* Appends a word to the text. False: there was none, only joined lines. */
static bool read_word(struct scan *scan)
{
	size_t start = scan->text.len;
	bool is_quoted = false;
	scan->can_vary = false;
	while (!command_ends_word(next(scan))) {
		char c = next(scan);
		is_quoted = is_quoted || c == '\'' || c == '"';
		if (c == '\'') {
			read_single_quoted(scan);
		} else if (c == '"') {
			skip(scan, 1);
			read_expanding(scan, '"');
			skip_closer(scan, '"');
		} else if (c == '\\') {
			read_escape(scan, NULL);
		} else if (c == '$') {
			read_dollar(scan, false);
		} else if (c == '`') {
			read_backticks(scan, false);
		} else {
			read_bare(scan);
		}
	}
	bool is_word = is_quoted || scan->text.len > start;
	buf_append(&scan->text, "", is_word ? 1 : 0);
	return is_word;
}

/* --- commands --------------------------------------------------------------------------------------------------- */

static const char *word_text(const struct scan *scan, size_t at)
{
	return scan->text.data + scan->words.items[at].at;
}

static void clear_command(struct scan *scan)
{
	scan->words.count = 0;
	buf_clear(&scan->text);
	scan->target = TARGET_none;
}

static void end_command(struct scan *scan)
{
	size_t first = 0, width;
	while (first < scan->words.count && (width = command_grammar_width(word_text(scan, first))) > 0) {
		if (strcmp(word_text(scan, first), "coproc") == 0 && first + 2 < scan->words.count &&
		    command_grammar_width(word_text(scan, first + 2)) > 0)
			width = 2; /* a name: coproc NAME { */
		first += width;
	}
	if (first < scan->words.count && !scan->text.over) {
		scan->cases += strcmp(word_text(scan, first), "case") == 0;
		scan->cases -= scan->cases > 0 && strcmp(word_text(scan, first), "esac") == 0;
		auto_arena struct arena arena = {0};
		size_t count = scan->words.count - first;
		struct command_word *words = arena_array(&arena, struct command_word, count);
		for (size_t i = 0; i < count; i++)
			words[i] = (struct command_word){word_text(scan, first + i),
			                                 scan->words.items[first + i].can_vary};
		scan->fn(&(struct plain_command){words, count}, scan->self);
	}
	scan->is_cut = scan->is_cut || scan->text.over;
	clear_command(scan);
}

/* True if the command reads its input as a script. */
static bool runs_shell(const struct scan *scan)
{
	for (size_t i = 0; i < scan->words.count; i++)
		if (command_reads_script(word_text(scan, i), i + 1 < scan->words.count ? word_text(scan, i + 1) : ""))
			return true;
	return false;
}

static void take_word(struct scan *scan)
{
	struct scanned_word word = {scan->text.len, false};
	struct str source = scan->rest;
	if (!read_word(scan))
		return;
	word.can_vary = scan->can_vary;
	source.len -= scan->rest.len;
	if (command_is_descriptor(source, next(scan))) {
		buf_truncate(&scan->text, word.at);
		return;
	}
	if (scan->target == TARGET_none) {
		vec_push(&scan->words, word);
		return;
	}
	if (scan->target == TARGET_script)
		scan_inner(scan, str_of(scan->text.data + word.at), '\0');
	buf_truncate(&scan->text, word.at);
	scan->target = TARGET_none;
}

/* --- here-documents --------------------------------------------------------------------------------------------- */

static bool is_end(const struct scan *scan, struct str line)
{
	while (scan->is_here_indented && line.len > 0 && line.ptr[0] == '\t')
		line = str_skip(line, 1);
	return str_eq(line, scan->here);
}

/* Reads the mark after "<<". Of several documents of a line, the last one's mark ends them all. */
static void begin_here(struct scan *scan)
{
	size_t start = scan->text.len;
	bool is_first = !scan->here.ptr, is_indented = next(scan) == '-';
	skip(scan, is_indented ? 1 : 0);
	while (next(scan) && strchr(" \t", next(scan)))
		skip(scan, 1);
	struct str mark = scan->rest;
	read_word(scan);
	buf_truncate(&scan->text, start);
	mark.len -= scan->rest.len;
	scan->here = command_here_mark(mark, &scan->marks);
	bool is_quoted = !str_eq(scan->here, mark);
	scan->is_here_indented = is_indented;
	scan->is_here_quoted = is_quoted && (is_first || scan->is_here_quoted);
	scan->is_here_script = runs_shell(scan) || (!is_first && scan->is_here_script);
}

/* Skips the lines of a here-document. Those of a shell are its script; in others substitutions run. */
static void take_here(struct scan *scan)
{
	struct str body = str_n(scan->rest.ptr, 0), line, after = scan->rest;
	bool has_end = false;
	while (str_next_line(&after, &line) && !(has_end = is_end(scan, line)))
		body.len = (size_t)(line.ptr + line.len - body.ptr);
	scan->is_cut = scan->is_cut || !has_end;
	scan->here = STR_NONE;
	if (scan->is_here_script) {
		scan_inner(scan, body, '\0');
	} else if (!scan->is_here_quoted) {
		scan->rest = body;
		read_expanding(scan, '\0');
		clear_command(scan);
	}
	scan->rest = after;
}

/* --- the pass --------------------------------------------------------------------------------------------------- */

static void take_redirection(struct scan *scan)
{
	bool is_string = str_cut_prefix(&scan->rest, "<<<");
	if (!is_string && str_cut_prefix(&scan->rest, "<<")) {
		begin_here(scan);
		return;
	}
	skip(scan, is_string ? 0 : 1);
	scan->target = is_string && runs_shell(scan) ? TARGET_script : TARGET_file;
	if (next(scan) == '(') { /* a process substitution: <(…) or >(…) */
		skip(scan, 1);
		scan->rest = scan_inner(scan, scan->rest, ')');
		scan->target = TARGET_none;
	} else if (next(scan) && strchr("|&", next(scan))) { /* >|, >& */
		skip(scan, 1);
	}
}

static void take_mark(struct scan *scan)
{
	char c = next(scan);
	if (c == '<' || c == '>') {
		take_redirection(scan);
		return;
	}
	skip(scan, 1);
	if (c == ' ' || c == '\t')
		return;
	bool is_redirection = c == '&' && next(scan) == '>'; /* &> */
	if (is_redirection)
		return;
	end_command(scan);
	scan->is_over = scan->closer && c == scan->closer && scan->opened == 0 && scan->cases == 0;
	scan->opened += c == '(';
	scan->opened -= c == ')' && scan->opened > 0;
	if (c == '\n' && scan->here.ptr)
		take_here(scan);
}

static void take_next(struct scan *scan)
{
	char c = next(scan);
	if (command_ends_word(c)) {
		take_mark(scan);
	} else if (c == '#') {
		ptrdiff_t end = str_find_char(scan->rest, '\n');
		skip(scan, end < 0 ? scan->rest.len : (size_t)end);
	} else {
		take_word(scan);
	}
}

static void scan_script(struct scan *scan)
{
	buf_init(&scan->text, LIMIT_COMMAND_SCAN);
	while (scan->rest.len > 0 && !scan->is_over && !scan->is_cut)
		take_next(scan);
	end_command(scan);
	scan->is_cut = scan->is_cut || scan->here.ptr;
	vec_finish(&scan->words);
	buf_finish(&scan->text);
	arena_finish(&scan->marks);
}

bool command_scan(struct str script, command_scan_fn fn, void *self)
{
	struct scan scan = {.rest = script, .fn = fn, .self = self};
	if (script.len > LIMIT_COMMAND_PARSE)
		return false;
	scan_script(&scan);
	return !scan.is_cut;
}
