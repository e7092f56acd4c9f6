/* A name that is no command stays in the composer, so that a typing error costs nothing. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_env.h"
#include "protocol/message/approval.h"
#include "term/term_tty.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_priv.h"

static void slash_help(struct tui *tui, struct str text);

static void slash_compact(struct tui *tui, struct str text)
{
	(void)text;
	tui->is_exclusive = true;
	tui_submit(tui, OP_compact, NULL);
}

/* The terminal puts the text on the clipboard (OSC 52); tmux passes it on in its own envelope. */
static void slash_copy(struct tui *tui, struct str text)
{
	auto_buf struct buf code, out;
	(void)text;
	buf_init(&code, LIMIT_LINE);
	buf_init(&out, LIMIT_LINE * 3);
	text_base64(&code, tui_cells_answer(tui->cells).ptr, tui_cells_answer(tui->cells).len);
	buf_printf(&out, "\x1b]52;c;");
	buf_append_str(&out, buf_str(&code));
	buf_append_c(&out, "\a");
	if (config_env("TMUX")) {
		buf_append_c(&out, "\x1bPtmux;\x1b\x1b]52;c;");
		buf_append_str(&out, buf_str(&code));
		buf_append_c(&out, "\a\x1b\\");
	}
	if (code.over || !code.len) {
		tui_cells_fail(tui->cells, code.len ? STR("the last answer is too long to copy")
		                                    : STR("there is no answer to copy yet"));
		return;
	}
	term_tty_write(tui->tty, buf_str(&out));
	tui_cells_note(tui->cells, STR("Copied the last answer to the clipboard"));
}

static void slash_quit(struct tui *tui, struct str text)
{
	(void)text;
	tui_quit(tui);
}

static void slash_exit(struct tui *tui, struct str text)
{
	slash_quit(tui, text);
}

static void slash_plan(struct tui *tui, struct str text)
{
	tui_set_plan_mode(tui, true);
	if (text.len)
		tui_say(tui, text);
}

static void slash_rename(struct tui *tui, struct str text)
{
	struct op_set_thread_name op = {.name = text};
	if (text.len)
		tui_submit(tui, OP_set_thread_name, &op);
	else
		tui_cells_fail(tui->cells, STR("a name is missing: /rename NAME"));
}

static void slash_review(struct tui *tui, struct str text)
{
	struct review_custom custom = {text};
	struct review_target target = {.tag = review_target_uncommitted_changes};
	struct review_request request = {.target = &target};
	struct op_review op = {.review_request = &request};
	if (text.len)
		target = (struct review_target){.tag = review_target_custom, .custom = &custom};
	tui->is_exclusive = true;
	tui_submit(tui, OP_review, &op);
}

static void slash_stop(struct tui *tui, struct str text)
{
	(void)text;
	tui_submit(tui, OP_clean_background_terminals, NULL);
}

static void slash_status(struct tui *tui, struct str text)
{
	auto_buf struct buf out;
	const struct token_usage *usage = &tui->usage;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	buf_printf(&out, "Model: %s %s\nModel provider: %s\nDirectory: %s\nPermissions: %s\n",
	           tui->model ? tui->model : "", tui->effort ? tui->effort : "", tui->config->model_provider, tui->cwd,
	           approval_name(tui->config->approval_policy));
	buf_printf(&out, "Collaboration mode: %s\nSession: %s\n", tui->is_plan_mode ? "Plan" : "Default",
	           tui->session_id ? tui->session_id : "");
	buf_printf(&out, "Token usage: %lld total  (%lld input + %lld output)\n", (long long)usage->total_tokens,
	           (long long)usage->input_tokens, (long long)usage->output_tokens);
	if (tui->context_window > 0)
		buf_printf(&out, "Context window: %lld%% left (%lld used / %lld)\n",
		           (long long)(100 - 100 * tui->context_used / tui->context_window),
		           (long long)tui->context_used, (long long)tui->context_window);
	tui_cells_note(tui->cells, buf_str(&out));
}

/* ---- the table ---- */

static const struct slash {
	const char *name, *doc;
	bool is_free; /* also during a turn */
	void (*run)(struct tui *tui, struct str text);
} commands[] = {
#define SLASH(name, while_busy, doc) {#name, doc, while_busy, slash_##name},
#include "ui/tui/tui_command.def"
#undef SLASH
};

static void slash_help(struct tui *tui, struct str text)
{
	auto_buf struct buf out;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	for (size_t i = 0; i < countof(commands); i++)
		buf_printf(&out, "/%s  %s\n", commands[i].name, commands[i].doc);
	tui_cells_note(tui->cells, buf_str(&out));
}

static const struct slash *find(struct str name)
{
	for (size_t i = 0; i < countof(commands); i++) {
		if (str_is(name, commands[i].name))
			return &commands[i];
	}
	return NULL;
}

static void run(struct tui *tui, const struct slash *command, struct str rest)
{
	auto_buf struct buf taken, text;
	buf_init(&taken, LIMIT_PROMPT * 2);
	buf_init(&text, LIMIT_LINE);
	if (tui->is_running && !command->is_free) {
		buf_printf(&text, "'/%s' is disabled while a task is in progress.", command->name);
		tui_cells_fail(tui->cells, buf_str(&text));
		return;
	}
	buf_append_str(&text, str_trim(rest));
	composer_take(&tui->composer, &taken);
	command->run(tui, buf_str(&text));
}

bool tui_command(struct tui *tui, struct str text)
{
	struct str name, rest = text;
	auto_buf struct buf note;
	buf_init(&note, LIMIT_LINE);
	if (!str_cut_prefix(&rest, "/"))
		return false;
	for (name = str_n(rest.ptr, 0); rest.len && rest.ptr[0] != ' ' && rest.ptr[0] != '\n'; name.len++)
		rest = str_skip(rest, 1);
	if (str_find_char(name, '/') >= 0) /* a path */
		return false;
	const struct slash *command = find(name);
	buf_printf(&note, "Unrecognized command '/%.*s'. Type \"/help\" for a list of supported commands.",
	           STR_ARG(name));
	if (command)
		run(tui, command, rest);
	else
		tui_cells_fail(tui->cells, buf_str(&note));
	return true;
}
