/* A cell shows the ends of an output; the transcript has all of it. */
#include "ui/tui/tui_cell_exec.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/record/types.h"
#include "term/term_code.h"
#include "ui/cli/terminal.h"

enum { OUTPUT_HEAD = 2, OUTPUT_TAIL = 2, LINE_ROWS = 2, COMMAND_LINES = 5, EXPLORED_MAX = 16 * KIB };

static const struct tui_look detail_look = {"  └ ", TERM_dim, TERM_dim}, more_look = {"    ", TERM_dim, TERM_dim},
			     failed_look = {"    ", TERM_red, TERM_red};

/* Writes the command after the word "Ran", highlighted as a shell's. */
static void write_command(struct tui_page *page, const struct tui_exec *exec)
{
	struct tui_look look = {exec->is_user ? "• You ran " : "• Ran ", TERM_bold, TERM_plain};
	struct str rest = str_trim_end(exec->command), line;
	size_t total = text_line_count(rest), at = 0;
	struct term_text text;
	struct term_code code;
	term_text_init(&text);
	term_code_init(&code, STR("sh"));
	for (; str_next_line(&rest, &line) && (page->is_full || at < COMMAND_LINES); at++) {
		term_code_add(&code, line, &text);
		term_text_add_c(&text, TERM_plain, "\n");
	}
	if (at < total)
		term_text_add_c(&text, TERM_dim, "…");
	tui_page_write_text(page, &look, &text);
	term_text_finish(&text);
}

static void write_output(struct tui_page *page, struct str output)
{
	while (!page->is_full && (str_cut_prefix(&output, "\n") || str_cut_prefix(&output, "\r\n")))
		continue;
	size_t total = text_line_count(output), at = 0;
	struct str line, part;
	struct term_sgr sgr = {0};
	char more[80];
	bool is_part =
		str_find(output, STR(" bytes of output left out here]\n")) >= 0; /* those lines are not counted */
	snprintf(more, sizeof(more), "… %s%zu lines (ctrl-t to view transcript)", is_part ? "more than " : "+",
	         total - OUTPUT_HEAD - OUTPUT_TAIL);
	for (; str_next_line(&output, &line); at++) {
		bool is_hidden = !page->is_full && total > OUTPUT_HEAD + OUTPUT_TAIL + 1 && at >= OUTPUT_HEAD &&
		                 at < total - OUTPUT_TAIL;
		const struct tui_look *look = at == 0 ? &detail_look : &more_look;
		if (!is_hidden)
			tui_page_write_line(page, look, line, LINE_ROWS, &sgr);
		else if (at == OUTPUT_HEAD)
			tui_page_write(page, look, str_of(more));
		while (is_hidden && term_sgr_next(&sgr, &line, &part)) /* the lines below may depend on it */
			continue;
	}
	if (!total)
		tui_page_write(page, &detail_look, STR("(no output)"));
}

static void append_duration(char *text, size_t size, int64_t ms)
{
	if (ms < 1000)
		snprintf(text, size, "%lldms", (long long)ms);
	else if (ms < 60000)
		snprintf(text, size, "%lld.%llds", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
	else
		snprintf(text, size, "%lldm %02llds", (long long)(ms / 60000), (long long)(ms / 1000 % 60));
}

static void write_end(struct tui_page *page, const struct tui_exec *exec)
{
	char status[96], duration[48];
	append_duration(duration, sizeof(duration), exec->duration_ms);
	if (exec->is_unended || exec->exit_code < 0) /* refused, killed, or never started */
		snprintf(status, sizeof(status), "✗ (not finished)%s%s", exec->is_unended ? "" : " • ",
		         exec->is_unended ? "" : duration);
	else if (exec->exit_code)
		snprintf(status, sizeof(status), "✗ (%lld) • %s", (long long)exec->exit_code, duration);
	else
		snprintf(status, sizeof(status), "✓ • %s", duration);
	if (exec->is_unended || exec->exit_code)
		tui_page_write(page, &failed_look, str_of(status));
	else if (page->is_full)
		tui_page_write(page, &more_look, str_of(status));
}

void tui_cell_exec(struct tui_page *page, const struct tui_exec *exec)
{
	tui_page_begin(page);
	write_command(page, exec);
	write_output(page, exec->output);
	write_end(page, exec);
}

/* ---- commands that only read ---- */

void tui_explored_clear(struct tui_explored *explored)
{
	vec_for_each(part, &explored->parts)
		free(part->text);
	explored->parts.count = explored->bytes = 0;
}

void tui_explored_finish(struct tui_explored *explored)
{
	tui_explored_clear(explored);
	vec_finish(&explored->parts);
}

bool tui_explored_is_empty(const struct tui_explored *explored)
{
	return explored->parts.count == 0;
}

static struct str shorten(struct str text)
{
	return str_n(text.ptr, text.len > KIB / 2 ? text_floor_boundary(text, KIB / 2) : text.len);
}

/* Inserts it before the parts of commands that began later. */
static void add_part(struct tui_explored *explored, struct tui_explored_part part)
{
	size_t at = explored->parts.count;
	vec_push(&explored->parts, part);
	for (; at > 0 && explored->parts.items[at - 1].number > part.number; at--)
		explored->parts.items[at] = explored->parts.items[at - 1];
	explored->parts.items[at] = part;
	explored->bytes += strlen(part.text);
}

static void add_line(struct tui_explored *explored, uint64_t number, const char *verb, struct str text, struct str path)
{
	struct str name = shorten(text), place = shorten(path);
	char *line = xasprintf("%s%.*s%s%.*s", verb, STR_ARG(name), path.len ? " in " : "", STR_ARG(place));
	add_part(explored, (struct tui_explored_part){number, false, line});
}

static bool only_reads(const struct parsed_command *parsed, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (parsed[i].tag == parsed_command_unknown)
			return false;
	}
	return count > 0;
}

bool tui_explored_add(struct tui_explored *explored, uint64_t number, const struct parsed_command *parsed, size_t count)
{
	if (!only_reads(parsed, count) || explored->bytes > EXPLORED_MAX)
		return false;
	for (size_t i = 0; i < count && explored->bytes <= EXPLORED_MAX; i++) {
		const struct parsed_command *one = &parsed[i];
		if (one->tag == parsed_command_read)
			add_part(explored, (struct tui_explored_part){number, true, str_dup(shorten(one->read->name))});
		else if (one->tag == parsed_command_list_files)
			add_line(explored, number, "List ",
			         one->list_files->path.len ? one->list_files->path : one->list_files->cmd, STR(""));
		else if (one->search->query.len)
			add_line(explored, number, "Search ", one->search->query, one->search->path);
		else
			add_line(explored, number, "Search ", one->search->cmd, STR(""));
	}
	return true;
}

/* Files that are read one after the other share a line; several parts of a file are one. */
void tui_explored_append(const struct tui_explored *explored, struct buf *out)
{
	const struct tui_explored_part *before = NULL;
	vec_for_each(part, &explored->parts) {
		bool joins = part->is_read && before && before->is_read;
		if (joins && strcmp(part->text, before->text) == 0)
			continue;
		buf_append_c(out, joins ? ", " : before ? "\n" : "");
		buf_append_c(out, part->is_read && !joins ? "Read " : "");
		buf_append_c(out, part->text);
		before = part;
	}
}

void tui_cell_explored(struct tui_page *page, const struct tui_explored *explored)
{
	static const struct tui_look title_look = {"• ", TERM_dim, TERM_bold};
	auto_buf struct buf text;
	struct str lines, line;
	bool is_first = true;
	buf_init(&text, 2 * EXPLORED_MAX);
	tui_explored_append(explored, &text);
	tui_page_cell(page, &title_look, STR("Explored"));
	for (lines = buf_str(&text); str_next_line(&lines, &line); is_first = false)
		tui_page_write(page, is_first ? &detail_look : &more_look, line);
}
