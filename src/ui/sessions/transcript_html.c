/* A policy in the head of the file forbids scripts and requests, in case an escape is missing. */
#include "ui/sessions/transcript_html.h"

#include <md4c.h>
#include <string.h>

#include "app_server/history/thread_history.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "rollout/rollout_meta.h"
#include "ui/sessions/transcript.h"

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
	"data:\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"referrer\" "
	"content=\"no-referrer\">\n"
	"<style>:root{color-scheme:light dark}body{max-width:760px;margin:24px auto;padding:0 16px;font:16px/1.55 "
	"system-ui,sans-serif;"
	"overflow-wrap:anywhere}article{margin:0 0 "
	"20px}article>h2{margin:0;font-size:13px;opacity:.75}h1{font-size:20px}"
	"dl{font-size:14px}dt{float:left;margin-right:8px}dd{margin:0}pre,code{font:13.5px/1.5 "
	"ui-monospace,Menlo,monospace}"
	"pre{overflow-x:auto;padding:8px 12px;border:1px solid #8886;border-radius:8px;tab-size:4}"
	"pre.wrap,p.raw{white-space:pre-wrap}blockquote{margin:0;padding-left:14px;border-left:3px solid #8886}"
	"table{border-collapse:collapse}th,td{border:1px solid #8886;padding:4px 10px}img{max-width:100%}"
	".add{background:#2a24}.del{background:#d334}</style>\n<title>";

/* ---- text ---- */

/* True for characters that change how other text is shown, or have no glyph. */
static bool is_hidden(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

static uint32_t code_point(struct str s, size_t len)
{
	static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (uint8_t)s.ptr[0] & masks[len];
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((uint8_t)s.ptr[i] & 0x3f);
	return c;
}

static void append_character(struct buf *out, struct str s)
{
	char c = s.ptr[0];
	if (c == '<' || c == '>' || c == '&' || c == '"')
		buf_printf(out, "&#%d;", c);
	else
		buf_append_str(out, s);
}

static void append_text(struct buf *out, struct str text)
{
	while (text.len) {
		size_t len = text_utf8_len(text);
		uint32_t c = len ? code_point(text, len) : 0xfffd;
		if (!len)
			buf_append_c(out, "\xef\xbf\xbd");
		else if (is_hidden(c))
			buf_printf(out, "\\u%04x", c);
		else
			append_character(out, str_n(text.ptr, len));
		text = str_skip(text, len ? len : 1);
	}
}

static void append_element(struct buf *out, const char *open, struct str text, const char *close)
{
	buf_append_c(out, open);
	append_text(out, text);
	buf_append_c(out, close);
}

/* ---- Markdown ---- */

static struct {
	int (*parse)(const char *text, unsigned size, const MD_PARSER *parser, void *self);
} md4c;

static const char *const names[] = {"md_parse"};

LIBRARY(libmd4c, md4c, names, LIBRARY_ROW(libmd4c), .purpose = "md4c, which parses Markdown");

static const char *const blocks[] = {
	[MD_BLOCK_DOC] = NULL,      [MD_BLOCK_QUOTE] = "blockquote",
	[MD_BLOCK_UL] = "ul",       [MD_BLOCK_OL] = "ol",
	[MD_BLOCK_LI] = "li",       [MD_BLOCK_HR] = "hr",
	[MD_BLOCK_H] = "h3",        [MD_BLOCK_CODE] = "pre",
	[MD_BLOCK_HTML] = NULL,     [MD_BLOCK_P] = "p",
	[MD_BLOCK_TABLE] = "table", [MD_BLOCK_THEAD] = "thead",
	[MD_BLOCK_TBODY] = "tbody", [MD_BLOCK_TR] = "tr",
	[MD_BLOCK_TH] = "th",       [MD_BLOCK_TD] = "td",
};

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *self)
{
	const char *name = type < countof(blocks) ? blocks[type] : NULL;
	if (type == MD_BLOCK_OL)
		buf_printf(self, "<ol start=\"%u\">", ((MD_BLOCK_OL_DETAIL *)detail)->start);
	else if (name)
		buf_printf(self, "<%s>", name);
	return 0;
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *self)
{
	const char *name = type < countof(blocks) ? blocks[type] : NULL;
	(void)detail;
	if (name && type != MD_BLOCK_HR)
		buf_printf(self, "</%s>\n", name);
	return 0;
}

static bool is_address(struct str text)
{
	static const char *const schemes[] = {"http://", "https://", "mailto:"};
	for (size_t i = 0; i < countof(schemes); i++) {
		size_t len = strlen(schemes[i]);
		if (text.len > len && str_equal_fold(str_n(text.ptr, len), str_of(schemes[i])))
			return str_find_char(text, ' ') < 0 && str_find_char(text, '\n') < 0;
	}
	return false;
}

static struct str address_of(MD_SPANTYPE type, void *detail)
{
	const MD_ATTRIBUTE *address =
		type == MD_SPAN_A ? &((MD_SPAN_A_DETAIL *)detail)->href : &((MD_SPAN_IMG_DETAIL *)detail)->src;
	return str_n(address->text, address->size);
}

static const char *span_of(MD_SPANTYPE type)
{
	return type == MD_SPAN_EM       ? "em"
	       : type == MD_SPAN_STRONG ? "strong"
	       : type == MD_SPAN_CODE   ? "code"
	       : type == MD_SPAN_DEL    ? "del"
	                                : NULL;
}

/* An image is a link: it would be loaded, and its address can carry out what the model has read. */
static int on_enter_span(MD_SPANTYPE type, void *detail, void *self)
{
	if (span_of(type))
		buf_printf(self, "<%s>", span_of(type));
	else if ((type == MD_SPAN_A || type == MD_SPAN_IMG) && is_address(address_of(type, detail)))
		append_element(self, "<a rel=\"noopener noreferrer nofollow\" href=\"", address_of(type, detail),
		               "\">");
	return 0;
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *self)
{
	if (span_of(type))
		buf_printf(self, "</%s>", span_of(type));
	else if ((type == MD_SPAN_A || type == MD_SPAN_IMG) && is_address(address_of(type, detail)))
		buf_append_c(self, "</a>");
	else if (type == MD_SPAN_A || type == MD_SPAN_IMG)
		append_element(self, " (", address_of(type, detail), ")");
	return 0;
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *self)
{
	if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR)
		buf_append_c(self, "\n");
	else
		append_text(self, type == MD_TEXT_NULLCHAR ? STR("\xef\xbf\xbd") : str_n(text, size));
	return 0;
}

static void append_markdown(struct buf *out, struct str text)
{
	static const MD_PARSER parser = {
		.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML,
		.enter_block = on_enter_block,
		.leave_block = on_leave_block,
		.enter_span = on_enter_span,
		.leave_span = on_leave_span,
		.text = on_text,
	};
	auto_free char *copy = str_dup(text); /* md4c reads past the size that it is given */
	size_t begin = out->len;
	if (library_load(&libmd4c, NULL) == 0 && md4c.parse(copy, (unsigned)text.len, &parser, out) == 0)
		return;
	buf_truncate(out, begin);
	append_element(out, "<p class=\"raw\">", text, "</p>\n");
}

/* ---- items ---- */

static void begin(struct buf *out, const char *name)
{
	buf_printf(out, "<article aria-label=\"%s\"><h2>%s</h2>\n", name, name);
}

static void end(struct buf *out)
{
	buf_append_c(out, "</article>\n");
}

static bool is_picture(struct str url)
{
	static const char *const kinds[] = {"png", "jpeg", "gif", "webp"};
	bool is_known = false;
	if (!str_cut_prefix(&url, "data:image/"))
		return false;
	for (size_t i = 0; i < countof(kinds); i++)
		is_known |=
			str_has_prefix(url, kinds[i]) && str_has_prefix(str_skip(url, strlen(kinds[i])), ";base64,");
	return is_known;
}

static void append_user(struct buf *out, const struct app_item_user_message *message)
{
	begin(out, "You");
	for (size_t i = 0; i < message->content_count; i++) {
		const struct app_user_input *input = &message->content[i];
		if (input->tag == app_user_input_text)
			append_element(out, "<p class=\"raw\">", input->text->text, "</p>\n");
		else if (input->tag == app_user_input_image && is_picture(input->image->url))
			append_element(out, "<img alt=\"Attached image\" src=\"", input->image->url, "\">\n");
		else
			buf_append_c(out, "<p>(an attachment)</p>\n");
	}
	end(out);
}

static void append_command(struct buf *out, const struct app_item_command_execution *command)
{
	begin(out, "Command");
	append_element(out, "<pre class=\"wrap\">$ ", command->command, "</pre>\n");
	if (command->aggregated_output.len)
		append_element(out, "<details><summary>Output</summary><pre class=\"wrap\">",
		               command->aggregated_output, "</pre></details>\n");
	if (!command->has_exit_code)
		append_element(out, "<p>", str_of(enum_wire(&enum_app_command_execution_status, (int)command->status)),
		               "</p>\n");
	else if (command->exit_code)
		buf_printf(out, "<p>Exit status %lld</p>\n", (long long)command->exit_code);
	else
		buf_append_c(out, "<p>Succeeded</p>\n");
	end(out);
}

static void append_diff(struct buf *out, struct str text, bool has_marks)
{
	struct str line;
	buf_append_c(out, "<pre>");
	while (str_next_line(&text, &line)) {
		char mark = has_marks && line.len ? line.ptr[0] : ' ';
		const char *kind = mark == '+'   ? "<span class=\"add\">"
		                   : mark == '-' ? "<span class=\"del\">"
		                                 : "<span>";
		append_element(out, kind, line, "</span>\n");
	}
	buf_append_c(out, "</pre>\n");
}

static void append_patch(struct buf *out, const struct app_item_file_change *patch)
{
	begin(out, "File change");
	for (size_t i = 0; i < patch->changes_count; i++) {
		const struct app_file_update_change *change = &patch->changes[i];
		append_element(out, "<h3><code>", change->path, "</code></h3>\n");
		append_diff(out, change->diff, change->kind->tag == app_patch_change_kind_update);
	}
	buf_append_c(out,
	             patch->status == app_patch_apply_status_completed ? "<p>Applied</p>\n" : "<p>Not applied</p>\n");
	end(out);
}

static void append_reasoning(struct buf *out, const struct app_item_reasoning *reasoning)
{
	begin(out, "Reasoning");
	buf_append_c(out, "<details><summary>Show reasoning</summary>\n");
	for (size_t i = 0; i < reasoning->summary_count; i++)
		append_element(out, "<p class=\"raw\">", reasoning->summary[i], "</p>\n");
	buf_append_c(out, "</details>\n");
	end(out);
}

static void append_message(struct buf *out, bool is_plan, struct str text)
{
	begin(out, is_plan ? "Proposed plan" : "Codex");
	append_markdown(out, text);
	end(out);
}

static void append_plain(struct buf *out, const char *name, struct str text)
{
	begin(out, name);
	append_element(out, "<p class=\"raw\">", text, "</p>\n");
	end(out);
}

static void append_search(struct buf *out, struct str query)
{
	append_plain(out, "Web search", query);
}

static void append_note(struct buf *out, const char *text)
{
	append_plain(out, "Notice", str_of(text));
}

static void append_failure(struct buf *out, struct str text)
{
	append_plain(out, "Error", text);
}

static const struct transcript_form form = {
	.user = append_user,
	.message = append_message,
	.reasoning = append_reasoning,
	.command = append_command,
	.patch = append_patch,
	.search = append_search,
	.note = append_note,
	.failure = append_failure,
};

/* ---- the whole ---- */

static void append_fact(struct buf *out, const char *name, struct str value)
{
	if (!value.len)
		return;
	buf_printf(out, "<dt>%s</dt>", name);
	append_element(out, "<dd>", value, "</dd>\n");
}

void transcript_html_write(const struct rollout_meta *meta, struct str name, const struct thread_history *history,
                           struct buf *out)
{
	struct str title = transcript_title(name, history);
	append_element(out, head, title, "</title></head><body><main>\n");
	append_element(out, "<h1>", title, "</h1>\n<dl>");
	append_fact(out, "Session", meta->thread_id);
	append_fact(out, "Began", meta->timestamp);
	append_fact(out, "Folder", meta->cwd);
	append_fact(out, "Branch", meta->git_branch);
	buf_append_c(out, "</dl>\n");
	transcript_append_turns(out, &form, history);
	buf_append_c(out, "</main></body></html>\n");
}
