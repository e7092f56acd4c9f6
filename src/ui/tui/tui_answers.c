/* The output of a call has the answers by the ids of its questions: the label of the option, then the note after a
 * prefix. */
#include "ui/tui/tui_answers.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "ui/tui/tui_cell_note.h"

#define NOTE_PREFIX "user_note: "

void tui_answers_write(struct json_writer *w, struct str option, struct str note)
{
	jw_object(w);
	jw_key(w, "answers");
	jw_array(w);
	if (option.len)
		jw_str(w, option);
	if (!str_is_blank(note))
		jw_strf(w, NOTE_PREFIX "%.*s", STR_ARG(note));
	jw_array_end(w);
	jw_object_end(w);
}

/* ---- the cell ---- */

void tui_answers_begin(struct buf *lines, size_t count)
{
	buf_printf(lines, "Questions %zu/%zu answered\n", count, count);
}

void tui_answers_add(struct buf *lines, struct str question, struct str option, struct str note, bool is_secret)
{
	buf_printf(lines, "  %.*s\n", STR_ARG(question));
	if (option.len)
		buf_printf(lines, "    answer: %.*s\n", STR_ARG(option));
	if (str_is_blank(note))
		return;
	note = is_secret ? STR("••") : note;
	buf_printf(lines, "    note: %.*s\n", STR_ARG(note));
}

/* ---- a recorded call ---- */

static void add_recorded(struct buf *lines, const struct json *question, const struct json *answers)
{
	auto_buf struct buf id;
	struct str option = STR(""), note = STR(""), text;
	buf_init(&id, LIMIT_LINE);
	buf_append_str(&id, json_get_str(question, "id"));
	json_for_each(it, json_get(json_get(answers, buf_str(&id).ptr), "answers")) {
		if (!json_to_str(it, &text))
			continue;
		if (str_cut_prefix(&text, NOTE_PREFIX))
			note = text;
		else
			option = text;
	}
	bool is_secret = json_get_bool(question, "isSecret", false);
	tui_answers_add(lines, json_get_str(question, "question"), option, note, is_secret);
}

void tui_answers_replay(struct tui_page *page, struct str arguments, struct str output)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf lines;
	const struct json *questions = json_get(json_parse(&arena, arguments, NULL), "questions");
	const struct json *answers = json_get(json_parse(&arena, output, NULL), "answers");
	size_t count = 0;
	buf_init(&lines, LIMIT_LINE);
	json_for_each(it, questions)
		count++;
	if (!count || !json_is(answers, JSON_object))
		return;
	tui_answers_begin(&lines, count);
	json_for_each(it, questions)
		add_recorded(&lines, it, answers);
	tui_cell_list(page, buf_str(&lines));
}
