/* One pass with a cursor and no copies: a chunk keeps the span of its lines, so memory depends on the number of
 * hunks alone, which is limited.
 *
 * Codex 0.98 and 0.169 differ in reading blank lines before a chunk. Here they are separators if a marker follows
 * and context if lines follow, so that patches for both are accepted. */
#include "patch/patch_parse.h"

#include "base/text.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"

static const char add_header[] = "*** Add File: ";
static const char delete_header[] = "*** Delete File: ";
static const char update_header[] = "*** Update File: ";
static const char move_header[] = "*** Move to: ";
static const char end_of_file[] = "*** End of File";

struct cursor {
	struct str rest; /* the text from the next line on */
	size_t line;     /* the number of that line in the patch */
	struct patch *patch;
	struct patch_error *err;
};

void patch_finish(struct patch *patch)
{
	if (!patch)
		return;
	vec_finish(&patch->hunks);
	vec_finish(&patch->chunks);
}

/* Cuts the next line, without its "\n" or "\r\n". */
static bool line_next(struct str *rest, struct str *ret_line)
{
	if (!str_next_line(rest, ret_line))
		return false;
	if (ret_line->len && ret_line->ptr[ret_line->len - 1] == '\r')
		ret_line->len--;
	return true;
}

bool patch_line_next(struct str *body, struct patch_line *ret)
{
	struct str line;
	if (!line_next(body, &line))
		return false;
	*ret = line.len ? (struct patch_line){line.ptr[0], str_skip(line, 1)} : (struct patch_line){' ', line};
	return true;
}

static bool peek(const struct cursor *at, struct str *ret_line)
{
	struct str rest = at->rest;
	return line_next(&rest, ret_line);
}

static void advance(struct cursor *at)
{
	struct str line;
	if (line_next(&at->rest, &line))
		at->line++;
}

/* Returns the text between `from` and the cursor. */
static struct str passed(const struct cursor *at, struct str from)
{
	return str_n(from.ptr, from.len - at->rest.len);
}

static int fail_with_line(struct cursor *at, size_t number, const char *before, struct str line, const char *after)
{
	patch_error_grammar(at->err, number, "%s", before);
	patch_error_add(at->err, line);
	return patch_error_add(at->err, str_of(after));
}

static int check_size(struct cursor *at)
{
	if (at->patch->hunks.count + at->patch->chunks.count <= LIMIT_PATCH_HUNKS)
		return 0;
	return patch_error_grammar(at->err, at->line, "the patch has more than %d hunks; send it in parts",
	                           LIMIT_PATCH_HUNKS);
}

static int fail_first_line(struct cursor *at, struct str line)
{
	return fail_with_line(at, at->line, "Unexpected line found in update hunk: '", line,
	                      "'. Every line should start with ' ' (context line), '+' (added line), "
	                      "or '-' (removed line)");
}

/* Consumes one line of a chunk's body; false if the line ends the body. */
static bool take_body_line(struct cursor *at, struct patch_chunk *chunk)
{
	struct str line;
	if (!peek(at, &line))
		return false;
	char kind = line.len ? line.ptr[0] : ' ';
	if (kind != ' ' && kind != '-' && kind != '+')
		return false;
	chunk->old_count += kind != '+';
	chunk->new_count += kind != '-';
	advance(at);
	return true;
}

/* Parses a chunk's body, after the @@ line if it has one. */
static int parse_body(struct cursor *at, struct patch_chunk *chunk)
{
	struct str from = at->rest, line;
	while (take_body_line(at, chunk))
		;
	chunk->body = passed(at, from);
	bool has_more = peek(at, &line);
	if (chunk->body.len == 0) {
		if (!has_more || str_is(line, end_of_file))
			return patch_error_grammar(at->err, at->line, "Update hunk does not contain any lines");
		return fail_first_line(at, line);
	}
	if (has_more && str_is(line, end_of_file)) {
		chunk->is_at_end = true;
		advance(at);
	}
	return 0;
}

static int parse_chunk(struct cursor *at, bool is_first)
{
	struct patch_chunk chunk = {.context = STR_NONE};
	struct str line = STR("");
	peek(at, &line);
	if (str_cut_prefix(&line, "@@ ") || str_is(line, "@@")) {
		if (!str_is(line, "@@") && text_trim(line).len)
			chunk.context = text_trim_end(line);
		advance(at);
	} else if (!is_first) {
		return fail_with_line(at, at->line, "Expected update hunk to start with a @@ context marker, got: '",
		                      line, "'");
	}
	int status = parse_body(at, &chunk);
	if (status != 0)
		return status;
	vec_push(&at->patch->chunks, chunk);
	return check_size(at);
}

static bool is_marker(struct str line)
{
	return str_has_prefix(line, "***") || str_has_prefix(line, "@@");
}

/* Skips separating blank lines; before the first chunk they are context if a change follows. */
static void skip_blanks(struct cursor *at, bool is_first)
{
	struct cursor ahead = *at;
	struct str line;
	bool has_line;
	while ((has_line = peek(&ahead, &line)) && text_trim(line).len == 0)
		advance(&ahead);
	if (!has_line || !is_first || is_marker(line))
		*at = ahead;
}

static int parse_update(struct cursor *at, struct patch_hunk *hunk)
{
	size_t header_line = at->line - 1;
	struct str line;
	if (peek(at, &line) && str_cut_prefix(&line, move_header)) {
		hunk->move_path = text_trim_end(line);
		advance(at);
	}
	hunk->chunk_at = at->patch->chunks.count;
	for (;;) {
		bool is_first = at->patch->chunks.count == hunk->chunk_at;
		skip_blanks(at, is_first);
		if (!peek(at, &line) || str_has_prefix(line, "***"))
			break;
		int status = parse_chunk(at, is_first);
		if (status != 0)
			return status;
	}
	hunk->chunk_count = at->patch->chunks.count - hunk->chunk_at;
	if (hunk->chunk_count == 0)
		return fail_with_line(at, header_line, "Update file hunk for path '", hunk->path, "' is empty");
	return 0;
}

static void parse_add(struct cursor *at, struct patch_hunk *hunk)
{
	struct str from = at->rest, line;
	while (peek(at, &line) && str_has_prefix(line, "+"))
		advance(at);
	hunk->body = passed(at, from);
}

static int fail_header(struct cursor *at, struct str line)
{
	return fail_with_line(at, at->line, "'", line,
	                      "' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', "
	                      "'*** Delete File: {path}', '*** Update File: {path}'");
}

static bool cut_header(struct str line, struct patch_hunk *ret)
{
	*ret = (struct patch_hunk){.path = line};
	if (str_cut_prefix(&ret->path, add_header))
		ret->kind = PATCH_ADD;
	else if (str_cut_prefix(&ret->path, delete_header))
		ret->kind = PATCH_DELETE;
	else if (str_cut_prefix(&ret->path, update_header))
		ret->kind = PATCH_UPDATE;
	else
		return false;
	return true;
}

static int check_path(struct cursor *at, size_t line, struct str path)
{
	if (path.len && memchr(path.ptr, '\0', path.len))
		return patch_error_grammar(at->err, line, "the file name contains a NUL byte");
	return 0;
}

static int parse_hunk(struct cursor *at)
{
	struct patch_hunk hunk;
	struct str line;
	peek(at, &line);
	line = text_trim(line);
	if (!cut_header(line, &hunk))
		return fail_header(at, line);
	size_t header_line = at->line;
	advance(at);
	int status = 0;
	if (hunk.kind == PATCH_ADD)
		parse_add(at, &hunk);
	else if (hunk.kind == PATCH_UPDATE)
		status = parse_update(at, &hunk);
	if (status == 0)
		status = check_path(at, header_line, hunk.path);
	if (status == 0)
		status = check_path(at, header_line, hunk.move_path);
	if (status != 0)
		return status;
	vec_push(&at->patch->hunks, hunk);
	return check_size(at);
}

/* The first line, the last line and the lines between them. */
struct frame {
	struct str first, body, last;
};

static struct frame frame_of(struct str text)
{
	struct frame frame = {.body = text, .first = STR(""), .last = STR("")};
	line_next(&frame.body, &frame.first);
	ptrdiff_t split = str_rfind_char(frame.body, '\n');
	frame.last = str_skip(frame.body, (size_t)(split + 1));
	frame.body.len = (size_t)(split + 1);
	return frame;
}

/* Removes the markers; the body's first line is line 2 of the patch. */
static int cut_markers(struct str text, struct str *ret_body, struct patch_error *err)
{
	struct frame frame = frame_of(text);
	if (text.len && !str_is(text_trim(frame.first), "*** Begin Patch"))
		return patch_error_grammar(err, 0, "The first line of the patch must be '*** Begin Patch'");
	if (!str_is(text_trim(frame.last), "*** End Patch"))
		return patch_error_grammar(err, 0, "The last line of the patch must be '*** End Patch'");
	*ret_body = frame.body;
	return 0;
}

/* Removes a here-document around the patch, because models that learned `apply_patch <<'EOF'` sometimes send it. */
static void cut_heredoc(struct str *text)
{
	struct frame frame = frame_of(*text);
	if (!str_is(frame.first, "<<EOF") && !str_is(frame.first, "<<'EOF'") && !str_is(frame.first, "<<\"EOF\""))
		return;
	/* Requires at least the two markers between. */
	if (!str_has_suffix(frame.last, "EOF") || str_find_char(frame.body, '\n') == str_rfind_char(frame.body, '\n'))
		return;
	frame.body.len--;
	if (frame.body.len && frame.body.ptr[frame.body.len - 1] == '\r')
		frame.body.len--;
	*text = frame.body;
}

int patch_parse(struct patch *ret, struct str text, struct patch_error *err)
{
	if (text.len > LIMIT_PATCH_TEXT)
		return patch_error_set(err, ERR_limit, "the patch is larger than %d bytes; send it in parts",
		                       LIMIT_PATCH_TEXT);
	struct patch patch = {.text = text_trim(text)};
	cut_heredoc(&patch.text);
	struct cursor at = {.line = 2, .patch = &patch, .err = err};
	int status = cut_markers(patch.text, &at.rest, err);
	while (status == 0 && at.rest.len)
		status = parse_hunk(&at);
	if (status != 0)
		patch_finish(&patch);
	else
		*ret = patch;
	return status;
}
