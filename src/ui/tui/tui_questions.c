/* The model's questions (request_user_input): one page each, with the options and free text. */
#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "ui/tui/tui_answers.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_form.h"
#include "ui/tui/tui_priv.h"

#define NO_OPTION "None of the above"

static struct str option_of(const struct form_page *page)
{
	return str_of(page->at < page->options.count ? page->options.items[page->at].label : "");
}

static void write_page(struct json_writer *w, const struct form_page *page, struct str note)
{
	bool is_answered = page->is_answered;
	tui_answers_write(w, is_answered ? option_of(page) : STR(""), is_answered ? note : STR(""));
}

static void submit_answers(struct tui *tui, const struct ev_request_user_input *asked, struct str answers)
{
	struct user_input_answers response = {.answers = answers};
	struct op_user_input_answer op = {.id = asked->turn_id, .response = &response};
	tui_submit(tui, OP_user_input_answer, &op);
}

static void send_answers(struct tui *tui, struct tui_form *form)
{
	const struct ev_request_user_input *asked = form->about->msg.request_user_input;
	auto_buf struct buf answers, lines;
	buf_init(&answers, LIMIT_LINE);
	buf_init(&lines, LIMIT_LINE);
	struct json_writer w = json_writer(&answers);
	tui_answers_begin(&lines, form->pages.count);
	jw_object(&w);
	for (size_t i = 0; i < form->pages.count; i++) {
		auto_buf struct buf note;
		buf_init(&note, LIMIT_LINE);
		composer_take(&form->pages.items[i]->notes, &note, NULL);
		jw_key_str(&w, asked->questions[i].id);
		write_page(&w, form->pages.items[i], buf_str(&note));
		tui_answers_add(&lines, str_of(form->pages.items[i]->text), option_of(form->pages.items[i]),
		                buf_str(&note), form->pages.items[i]->is_secret);
	}
	jw_object_end(&w);
	if (answers.over) {
		tui_cells_fail(tui->cells, STR("the answers are too long to be sent"));
		submit_answers(tui, asked, STR("{}"));
		return;
	}
	submit_answers(tui, asked, buf_str(&answers));
	tui_cells_note(tui->cells, buf_str(&lines));
}

static void on_done(struct tui_form *form, enum form_end end, void *self)
{
	struct tui *tui = self;
	if (end == FORM_sent)
		send_answers(tui, form);
	else
		tui_interrupt(tui, false);
}

static void add_question(struct tui_form *form, const struct user_input_question *question)
{
	bool has_options = question->options_count > 0;
	struct form_page *page =
		tui_form_add(form, has_options ? FORM_one : FORM_text, question->header, question->question);
	if (!page)
		return;
	page->has_notes = true;
	page->is_secret = question->isSecret;
	for (size_t i = 0; i < question->options_count; i++)
		form_page_option(page, question->options[i].label, question->options[i].description);
	if (has_options && question->isOther)
		form_page_option(page, STR(NO_OPTION), STR("add details in notes (tab)"));
}

void tui_request_questions(struct tui *tui, const struct event *event)
{
	static const struct form_use use = {
		.noun = "Question", .escapes = " · esc to interrupt", .on_read = tui_read_open, .on_done = on_done};
	const struct ev_request_user_input *asked = event->msg.request_user_input;
	if (!asked->questions_count) {
		submit_answers(tui, asked, STR("{}"));
		return;
	}
	struct event *about = event_create(event->id, EV_request_user_input, asked);
	struct tui_form *form = tui_form_create(&use, asked->call_id, about, NULL, tui);
	form->asker = tui->asker.len ? str_dup(tui->asker) : NULL;
	for (size_t i = 0; i < asked->questions_count; i++)
		add_question(form, &asked->questions[i]);
	tui_ask_add(tui->ask, &form->panel);
}
