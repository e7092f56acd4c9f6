/* A cell shows the ends of an output; the transcript has all of it. */
#include "ui/tui/tui_cell_exec.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/record/types.h"
#include "term/term_code.h"
#include "ui/cli/terminal.h"

enum { OUTPUT_HEAD = 2, OUTPUT_TAIL = 2, LINE_ROWS = 2, COMMAND_LINES = 5, EXPLORED_MAX = 16 * KIB };

static const struct tui_look detail_look = {"  └ ", TERM_dim, TERM_dim}, more_look = {"    ", TERM_dim, TERM_dim},
			     failed_look = {"    ", TERM_red, TERM_red};

void tui_command_append(struct buf *out, const struct str *words, size_t count)
{
	if (count == 3 && (str_is(words[1], "-lc") || str_is(words[1], "-c")))
		buf_append_str(out, words[2]);
	else
		terminal_command_append(out, words, count);
}

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
	struct str line;
	char more[80];
	snprintf(more, sizeof(more), "… +%zu lines (ctrl + t to view transcript)", total - OUTPUT_HEAD - OUTPUT_TAIL);
	for (; str_next_line(&output, &line); at++) {
		bool is_hidden = !page->is_full && total > OUTPUT_HEAD + OUTPUT_TAIL + 1 && at >= OUTPUT_HEAD &&
		                 at < total - OUTPUT_TAIL;
		const struct tui_look *look = at == 0 ? &detail_look : &more_look;
		if (!is_hidden)
			tui_page_write_line(page, look, line, LINE_ROWS);
		else if (at == OUTPUT_HEAD)
			tui_page_write(page, look, str_of(more));
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
	if (exec->is_unended)
		snprintf(status, sizeof(status), "✗ (not finished)");
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

void tui_explored_init(struct tui_explored *explored)
{
	*explored = (struct tui_explored){0};
	buf_init(&explored->text, EXPLORED_MAX + 2 * KIB);
}

void tui_explored_clear(struct tui_explored *explored)
{
	buf_clear(&explored->text);
	free(steal(explored->last_name));
	explored->ends_with_read = false;
}

void tui_explored_finish(struct tui_explored *explored)
{
	tui_explored_clear(explored);
	buf_finish(&explored->text);
}

bool tui_explored_is_empty(const struct tui_explored *explored)
{
	return explored->text.len == 0;
}

static struct str shorten(struct str text)
{
	return str_n(text.ptr, text.len > KIB / 2 ? text_floor_boundary(text, KIB / 2) : text.len);
}

static void add_read(struct tui_explored *explored, struct str name)
{
	if (explored->last_name && str_is(name, explored->last_name))
		return; /* the next part of the same file */
	buf_append_c(&explored->text, explored->ends_with_read ? ", " : explored->text.len ? "\nRead " : "Read ");
	buf_append_str(&explored->text, shorten(name));
	free(explored->last_name);
	explored->last_name = str_dup(name);
	explored->ends_with_read = true;
}

static void add_line(struct tui_explored *explored, const char *verb, struct str text, struct str path)
{
	free(steal(explored->last_name));
	explored->ends_with_read = false;
	buf_append_c(&explored->text, explored->text.len ? "\n" : "");
	buf_append_c(&explored->text, verb);
	buf_append_str(&explored->text, shorten(text));
	if (path.len)
		buf_append_c(&explored->text, " in ");
	buf_append_str(&explored->text, shorten(path));
}

static bool only_reads(const struct parsed_command *parsed, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (parsed[i].tag == parsed_command_unknown)
			return false;
	}
	return count > 0;
}

bool tui_explored_add(struct tui_explored *explored, const struct parsed_command *parsed, size_t count)
{
	if (!only_reads(parsed, count) || explored->text.len > EXPLORED_MAX)
		return false;
	for (size_t i = 0; i < count && explored->text.len <= EXPLORED_MAX; i++) {
		const struct parsed_command *one = &parsed[i];
		if (one->tag == parsed_command_read)
			add_read(explored, one->read->name);
		else if (one->tag == parsed_command_list_files)
			add_line(explored, "List ",
			         one->list_files->path.len ? one->list_files->path : one->list_files->cmd, STR(""));
		else if (one->search->query.len)
			add_line(explored, "Search ", one->search->query, one->search->path);
		else
			add_line(explored, "Search ", one->search->cmd, STR(""));
	}
	return true;
}

void tui_cell_explored(struct tui_page *page, struct str lines)
{
	static const struct tui_look title_look = {"• ", TERM_dim, TERM_bold};
	struct str line;
	bool is_first = true;
	tui_page_cell(page, &title_look, STR("Explored"));
	for (; str_next_line(&lines, &line); is_first = false)
		tui_page_write(page, is_first ? &detail_look : &more_look, line);
}
