/* md4c reports blocks and spans in the order of the text; a leaf block is collected as styled text and written when it
 * ends. md4c reads past the size that it is given, so it always gets a copy that ends with NUL. */
#include "term/term_markdown.h"

#include <md4c.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_code.h"
#include "term/term_limits.h"
#include "term/term_table.h"
#include "term/term_width.h"

enum { RULE_COLUMNS = 40 };

/* ---- the library ---- */

struct md4c {
#define MD4C(name) __typeof__(&md_##name) name;
#include "term/md4c.def"
#undef MD4C
};

static struct md4c library;

static const char *const names[] = {
#define MD4C(name) "md_" #name,
#include "term/md4c.def"
#undef MD4C
};

LIBRARY(libmd4c, library, names, LIBRARY_ROW(libmd4c), .purpose = "md4c, which parses Markdown");

/* ---- state ---- */

/* A list item or a quote: what its rows begin with. */
struct level {
	char mark[24], rest[24];
	bool is_begun; /* the row with the mark was written */
};

struct list {
	bool is_ordered, is_loose;
	unsigned number; /* of the next item */
	size_t items;
};

struct render {
	const struct term_sink *sink;
	struct term_margin *base, margin;
	struct level levels[LIMIT_TERM_LEVELS];
	struct list lists[LIMIT_TERM_LEVELS];
	size_t depth, list_depth; /* may exceed LIMIT_TERM_LEVELS; deeper levels have no mark */
	struct term_text text;    /* the leaf block so far */
	char *hrefs[LIMIT_TERM_LINKS];
	size_t link_from[LIMIT_TERM_LINKS], links;
	unsigned strong, em, del, code, heading; /* open spans; level of the heading */
	struct term_table table;
	struct str language;
	bool is_code;  /* in a block of code */
	bool is_fresh; /* in a container that has no rows yet */
	bool has_rows;
};

/* ---- rows ---- */

static void make_margin(struct render *render)
{
	size_t depth = render->depth < LIMIT_TERM_LEVELS ? render->depth : LIMIT_TERM_LEVELS;
	const struct term_text *first = render->base->is_begun ? &render->base->rest : &render->base->first;
	term_text_clear(&render->margin.first);
	term_text_clear(&render->margin.rest);
	render->margin.is_begun = false;
	/* the base has one style at most */
	term_text_add(&render->margin.first, first->spans.count ? first->spans.items[0].style : TERM_plain,
	              buf_str(&first->bytes));
	term_text_add(&render->margin.rest, TERM_plain, buf_str(&render->base->rest.bytes));
	for (size_t i = 0; i < depth; i++) {
		struct level *level = &render->levels[i];
		term_text_add_c(&render->margin.first, TERM_dim, level->is_begun ? level->rest : level->mark);
		term_text_add_c(&render->margin.rest, TERM_dim, level->rest);
		level->is_begun = true;
	}
	render->base->is_begun = true;
}

/* Writes a row with the marks of its containers alone. */
static void write_gap(struct render *render)
{
	struct term_text empty;
	term_text_init(&empty);
	make_margin(render);
	term_text_write(&empty, false, &render->margin, render->sink);
	term_text_finish(&empty);
}

/* Comes before the rows of each leaf block. */
static void begin_leaf(struct render *render)
{
	if (render->has_rows && !render->is_fresh)
		write_gap(render);
	make_margin(render);
	render->is_fresh = false;
	render->has_rows = true;
}

/* Writes the text of a paragraph; of a tight list item, which has none of its own, as soon as another block follows. */
static void flush_text(struct render *render)
{
	if (!render->text.bytes.len || render->is_code)
		return;
	begin_leaf(render);
	term_text_write(&render->text, false, &render->margin, render->sink);
	term_text_clear(&render->text);
}

/* ---- blocks ---- */

static void write_rule(struct render *render)
{
	size_t columns = render->sink->row->width < RULE_COLUMNS ? render->sink->row->width : RULE_COLUMNS;
	begin_leaf(render);
	for (size_t i = term_width(buf_str(&render->margin.rest.bytes)); i < columns; i++)
		term_text_add_c(&render->text, TERM_dim, "─");
	term_text_write(&render->text, false, &render->margin, render->sink);
	term_text_clear(&render->text);
}

static void write_code(struct render *render)
{
	struct str rest = buf_str(&render->text.bytes), line;
	struct term_code code;
	struct term_text colored;
	term_code_init(&code, render->language);
	term_text_init(&colored);
	begin_leaf(render);
	while (str_next_line(&rest, &line)) {
		term_code_add(&code, line, &colored);
		term_text_add_c(&colored, TERM_plain, "\n");
	}
	term_text_write(&colored, true, &render->margin, render->sink);
	term_text_finish(&colored);
	term_text_clear(&render->text);
	render->is_code = false;
}

static void enter_item(struct render *render, const MD_BLOCK_LI_DETAIL *detail)
{
	size_t deepest = render->list_depth < LIMIT_TERM_LEVELS ? render->list_depth : LIMIT_TERM_LEVELS;
	struct list *list = &render->lists[deepest ? deepest - 1 : 0];
	if (list->is_loose && list->items && render->has_rows)
		write_gap(render);
	list->items++;
	render->is_fresh = true;
	if (render->depth < LIMIT_TERM_LEVELS) {
		struct level *level = &render->levels[render->depth];
		const char *box = !detail->is_task ? "" : detail->task_mark == ' ' ? "□ " : "✔ ";
		level->is_begun = false;
		if (list->is_ordered)
			snprintf(level->mark, sizeof(level->mark), "%u. %s", list->number++, box);
		else
			snprintf(level->mark, sizeof(level->mark), "%s", detail->is_task ? box : "• ");
		snprintf(level->rest, sizeof(level->rest), "%*s", (int)term_width(str_of(level->mark)), "");
	}
	render->depth++;
}

static void enter_list(struct render *render, bool is_ordered, unsigned start, bool is_tight)
{
	flush_text(render);
	if (render->list_depth < LIMIT_TERM_LEVELS)
		render->lists[render->list_depth] = (struct list){is_ordered, !is_tight, start, 0};
	render->list_depth++;
}

static void enter_quote(struct render *render)
{
	flush_text(render);
	if (render->has_rows && !render->is_fresh)
		write_gap(render);
	render->is_fresh = true;
	if (render->depth < LIMIT_TERM_LEVELS)
		render->levels[render->depth] = (struct level){.mark = "│ ", .rest = "│ "};
	render->depth++;
}

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *self)
{
	struct render *render = self;
	if (type == MD_BLOCK_UL)
		enter_list(render, false, 0, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight);
	else if (type == MD_BLOCK_OL)
		enter_list(render, true, ((MD_BLOCK_OL_DETAIL *)detail)->start,
		           ((MD_BLOCK_OL_DETAIL *)detail)->is_tight);
	else if (type == MD_BLOCK_LI)
		enter_item(render, detail);
	else if (type == MD_BLOCK_QUOTE)
		enter_quote(render);
	else if (type != MD_BLOCK_TH && type != MD_BLOCK_TD)
		flush_text(render);
	if (type == MD_BLOCK_TABLE)
		term_table_begin(&render->table, ((MD_BLOCK_TABLE_DETAIL *)detail)->col_count);
	if (type == MD_BLOCK_H)
		render->heading = ((MD_BLOCK_H_DETAIL *)detail)->level;
	if (type == MD_BLOCK_TH)
		render->strong++;
	if (type == MD_BLOCK_CODE) {
		const MD_ATTRIBUTE *lang = &((MD_BLOCK_CODE_DETAIL *)detail)->lang;
		render->is_code = true;
		render->language = str_n(lang->text, lang->text ? lang->size : 0);
	}
	return 0;
}

static void leave_cell(struct render *render, const MD_BLOCK_TD_DETAIL *detail)
{
	static const enum term_align aligns[] = {[MD_ALIGN_DEFAULT] = TERM_LEFT,
	                                         [MD_ALIGN_LEFT] = TERM_LEFT,
	                                         [MD_ALIGN_CENTER] = TERM_CENTER,
	                                         [MD_ALIGN_RIGHT] = TERM_RIGHT};
	term_table_add(&render->table, aligns[detail->align], &render->text);
}

static void write_empty_item(struct render *render)
{
	write_gap(render);
	render->has_rows = true;
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *self)
{
	struct render *render = self;
	if (type == MD_BLOCK_TH || type == MD_BLOCK_TD)
		leave_cell(render, detail);
	else if (type == MD_BLOCK_CODE)
		write_code(render);
	else if (type == MD_BLOCK_HR)
		write_rule(render);
	else
		flush_text(render);
	if (type == MD_BLOCK_TABLE) {
		begin_leaf(render);
		term_table_write(&render->table, &render->margin, render->sink);
	}
	if (type == MD_BLOCK_TH)
		render->strong--;
	if (type == MD_BLOCK_H)
		render->heading = 0;
	if (type == MD_BLOCK_LI && render->is_fresh)
		write_empty_item(render);
	if (type == MD_BLOCK_LI || type == MD_BLOCK_QUOTE)
		render->depth--;
	if (type == MD_BLOCK_UL || type == MD_BLOCK_OL)
		render->list_depth--;
	if (type == MD_BLOCK_LI || type == MD_BLOCK_QUOTE)
		render->is_fresh = false;
	return 0;
}

/* ---- spans ---- */

static enum term_style get_style(const struct render *render)
{
	if (render->code)
		return TERM_code;
	if (render->heading)
		return render->heading == 1 ? TERM_heading : TERM_bold;
	if (render->strong)
		return render->em ? TERM_bold_italic : TERM_bold;
	if (render->links)
		return TERM_underline;
	if (render->del)
		return TERM_strike;
	return render->em ? TERM_italic : TERM_plain;
}

static void enter_link(struct render *render, const MD_ATTRIBUTE *href)
{
	if (render->links < LIMIT_TERM_LINKS) {
		render->hrefs[render->links] = xstrndup(href->text ? href->text : "", href->size);
		render->link_from[render->links] = render->text.bytes.len;
	}
	render->links++;
}

/* Returns true if the text of a link is its address, so that the address need not be repeated. */
static bool is_address(struct str text, const char *href)
{
	struct str address = str_of(href);
	if (str_eq(text, address))
		return true;
	return (str_cut_prefix(&address, "mailto:") || str_cut_prefix(&address, "http://")) && str_eq(text, address);
}

/* md4c can leave a link that it has not entered. */
static void leave_link(struct render *render)
{
	if (!render->links || --render->links >= LIMIT_TERM_LINKS)
		return;
	auto_free char *href = steal(render->hrefs[render->links]);
	size_t from = render->link_from[render->links];
	struct str text = str_skip(buf_str(&render->text.bytes), from);
	if (!*href || is_address(text, href))
		return;
	term_text_add_c(&render->text, TERM_dim, text.len ? " (" : "(");
	term_text_add_c(&render->text, TERM_dim, href);
	term_text_add_c(&render->text, TERM_dim, ")");
}

static unsigned *find_count(struct render *render, MD_SPANTYPE type)
{
	switch (type) {
	case MD_SPAN_EM:
		return &render->em;
	case MD_SPAN_STRONG:
		return &render->strong;
	case MD_SPAN_CODE:
		return &render->code;
	case MD_SPAN_DEL:
		return &render->del;
	default:
		return NULL;
	}
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *self)
{
	unsigned *count = find_count(self, type);
	if (count)
		++*count;
	else if (type == MD_SPAN_A)
		enter_link(self, &((MD_SPAN_A_DETAIL *)detail)->href);
	else if (type == MD_SPAN_IMG)
		enter_link(self, &((MD_SPAN_IMG_DETAIL *)detail)->src);
	return 0;
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *self)
{
	unsigned *count = find_count(self, type);
	(void)detail;
	if (count)
		*count -= *count > 0;
	else if (type == MD_SPAN_A || type == MD_SPAN_IMG)
		leave_link(self);
	return 0;
}

/* ---- text ---- */

static const struct {
	const char *name, *text;
} entities[] = {
	{"&amp;", "&"},  {"&lt;", "<"},   {"&gt;", ">"},   {"&quot;", "\""},  {"&apos;", "'"},   {"&nbsp;", " "},
	{"&copy;", "©"}, {"&reg;", "®"},  {"&deg;", "°"},  {"&times;", "×"},  {"&mdash;", "—"},  {"&ndash;", "–"},
	{"&bull;", "•"}, {"&rarr;", "→"}, {"&larr;", "←"}, {"&middot;", "·"}, {"&hellip;", "…"},
};

/* Adds the character of "&#65;" or "&#x41;"; false for other text. */
static bool add_number(struct render *render, struct str entity)
{
	char bytes[8];
	unsigned long code = 0;
	bool is_hex = entity.len > 3 && (entity.ptr[2] == 'x' || entity.ptr[2] == 'X');
	for (size_t i = is_hex ? 3 : 2; i + 1 < entity.len && code < 0x110000; i++) {
		int digit = str_hex_digit(entity.ptr[i]);
		code = code * (is_hex ? 16 : 10) + (unsigned long)(digit < 0 ? 0 : digit);
	}
	if (!code || code >= 0x110000 || (code >= 0xd800 && code < 0xe000))
		return false;
	term_text_add(&render->text, get_style(render), str_n(bytes, text_put_utf8(bytes, (uint32_t)code)));
	return true;
}

static void add_entity(struct render *render, struct str entity)
{
	if (str_has_prefix(entity, "&#") && add_number(render, entity))
		return;
	for (size_t i = 0; i < countof(entities); i++) {
		if (!str_is(entity, entities[i].name))
			continue;
		term_text_add_c(&render->text, get_style(render), entities[i].text);
		return;
	}
	term_text_add(&render->text, get_style(render), entity);
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *bytes, MD_SIZE size, void *self)
{
	struct render *render = self;
	struct str text = str_n(bytes, size);
	if (type == MD_TEXT_ENTITY)
		add_entity(render, text);
	else if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) /* lines stay lines */
		term_text_add_c(&render->text, TERM_plain, "\n");
	else if (type == MD_TEXT_NULLCHAR)
		term_text_add_c(&render->text, get_style(render), "\xef\xbf\xbd");
	else
		term_text_add(&render->text, get_style(render), text);
	return 0;
}

/* ---- the whole ---- */

static void write_plain(struct str text, struct term_margin *margin, const struct term_sink *sink)
{
	struct term_text plain;
	term_text_init(&plain);
	term_text_add(&plain, TERM_plain, str_trim_end(text));
	term_text_write(&plain, false, margin, sink);
	term_text_finish(&plain);
}

/* Returns true if nothing in the text can be markup, so that no parser is needed. */
static bool is_plain(struct str text)
{
	bool is_start = true;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
		if ((is_start && !is_letter) || strchr("*_`[]<>~\\&|!@:", c)) /* strchr finds NUL too */
			return false;
		is_start = c == '\n';
	}
	return str_find(text, STR("www.")) < 0;
}

/* md4c fills up the rows of a table: the cells of a table with many columns could exceed any memory. */
static bool has_wide_table(struct str text)
{
	struct str line;
	while (str_next_line(&text, &line)) {
		size_t bars = 0;
		for (size_t i = 0; i < line.len; i++)
			bars += line.ptr[i] == '|';
		if (bars > LIMIT_TERM_TABLE_COLUMNS)
			return true;
	}
	return false;
}

static char *copy_of(struct str text)
{
	char *copy = xmalloc(text.len + 1);
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return copy;
}

static void finish(struct render *render)
{
	while (render->links)
		if (--render->links < LIMIT_TERM_LINKS)
			free(render->hrefs[render->links]);
	term_margin_finish(&render->margin);
	term_text_finish(&render->text);
	term_table_finish(&render->table);
}

void term_markdown_write(struct str text, struct term_margin *margin, const struct term_sink *sink)
{
	static const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
	                                          MD_FLAG_PERMISSIVEAUTOLINKS | MD_FLAG_NOHTML,
	                                 .enter_block = on_enter_block,
	                                 .leave_block = on_leave_block,
	                                 .enter_span = on_enter_span,
	                                 .leave_span = on_leave_span,
	                                 .text = on_text};
	struct render render = {.sink = sink, .base = margin};
	if (is_plain(text) || has_wide_table(text) || library_load(&libmd4c, NULL) != 0) {
		write_plain(text, margin, sink);
		return;
	}
	auto_free char *copy = copy_of(text);
	term_margin_init(&render.margin);
	term_text_init(&render.text);
	term_table_init(&render.table);
	library.parse(copy, (MD_SIZE)text.len, &parser, &render); /* no callback stops it */
	if (!render.has_rows)
		write_plain(text, margin, sink);
	finish(&render);
}
