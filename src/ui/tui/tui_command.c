/* A name that is no command stays in the composer, so that a typing error costs nothing. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/file.h"
#include "config/config_env.h"
#include "term/term_tty.h"
#include "ui/cli/cli.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_form.h"
#include "ui/tui/tui_priv.h"

/* ---- the work ---- */

void on_slash_compact(struct tui *tui, struct str text)
{
	(void)text;
	tui->is_exclusive = true;
	tui_submit(tui, OP_compact, NULL);
}

void on_slash_plan(struct tui *tui, struct str text)
{
	tui_set_plan_mode(tui, true);
	if (text.len)
		tui_say(tui, text);
}

static const char init_prompt[] = "Write a file AGENTS.md in this folder: a guide for agents and people who are new to "
				  "this repository. Read what is "
				  "here first. Cover, as far as it applies: how the code is organised, the commands "
				  "that build, test and run it, the "
				  "style of the code, how tests are written and named, and how commits and pull "
				  "requests look. Be specific to this "
				  "repository, keep it under 400 words, and leave out what you could not verify.";

void on_slash_init(struct tui *tui, struct str text)
{
	auto_free char *path = path_join(tui->cwd, "AGENTS.md");
	(void)text;
	if (file_exists(path))
		tui_cells_note(tui->cells, STR("AGENTS.md already exists here, so /init sends nothing"));
	else
		tui_say(tui, str_of(init_prompt));
}

static const char recap_prompt[] =
	"Summarize this session in at most 10 lines, for someone who returns to it: what was "
	"asked, what was done and decided, which files changed, what is open. Run no "
	"commands and change nothing.";

void on_slash_recap(struct tui *tui, struct str text)
{
	(void)text;
	tui_say(tui, str_of(recap_prompt));
}

void on_slash_collab(struct tui *tui, struct str text)
{
	(void)text;
	tui_set_plan_mode(tui, !tui->is_plan_mode);
}

void on_slash_mention(struct tui *tui, struct str text)
{
	(void)text;
	composer_set(&tui->composer, STR("@"));
	tui_complete_update(tui);
}

void on_slash_vim(struct tui *tui, struct str text)
{
	bool is_on = !tui->composer.vim.is_on;
	(void)text;
	composer_set_vim(&tui->composer, is_on);
	tui_cells_note(tui->cells, is_on ? STR("Vim mode on: esc begins normal mode. For each session: "
	                                       "tui.vim_mode_default = true in config.toml")
	                                 : STR("Vim mode off"));
}

/* ---- the session ---- */

static void on_renamed(struct tui_form *form, enum form_end end, void *self)
{
	struct op_set_thread_name op = {.name = str_trim(composer_text(&form->pages.items[0]->notes))};
	if (end == FORM_sent && op.name.len)
		tui_submit(self, OP_set_thread_name, &op);
}

static void ask_name(struct tui *tui)
{
	static const struct form_use use = {.escapes = "enter save · esc back", .on_done = on_renamed};
	struct tui_form *form = tui_form_create(&use, STR("rename"), NULL, NULL, tui);
	tui_form_add(form, FORM_text, STR(""), STR("Name this session"));
	form->panel.is_request = false;
	tui_ask_add(tui->ask, &form->panel);
}

void on_slash_rename(struct tui *tui, struct str text)
{
	struct op_set_thread_name op = {.name = text};
	if (text.len)
		tui_submit(tui, OP_set_thread_name, &op);
	else
		ask_name(tui);
}

void on_slash_quit(struct tui *tui, struct str text)
{
	(void)text;
	tui_quit(tui);
}

void on_slash_exit(struct tui *tui, struct str text)
{
	on_slash_quit(tui, text);
}

/* ---- copying ---- */

/* The terminal puts the text on the clipboard (OSC 52); tmux passes it on in its own envelope. */
void tui_copy(struct tui *tui)
{
	auto_buf struct buf code, out;
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
	tui_cells_note(tui->cells, STR("Sent the last answer to the terminal, for its clipboard"));
}

void on_slash_copy(struct tui *tui, struct str text)
{
	(void)text;
	tui_copy(tui);
}

/* ---- the table ---- */

static const struct slash {
	const char *name, *doc;
	bool is_free; /* also during a turn */
	void (*run)(struct tui *tui, struct str text);
} commands[] = {
#define SLASH(name, while_busy, doc) {#name, doc, while_busy, on_slash_##name},
#define ABSENT(name, reason)
#include "ui/tui/tui_command.def"
#undef SLASH
#undef ABSENT
};

static const struct {
	const char *name, *reason;
} absent[] = {
#define SLASH(name, while_busy, doc)
#define ABSENT(name, reason) {name, reason},
#include "ui/tui/tui_command.def"
#undef SLASH
#undef ABSENT
};

void on_slash_help(struct tui *tui, struct str text)
{
	auto_buf struct buf out;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	for (size_t i = 0; i < countof(commands); i++) {
		if (commands[i].doc)
			buf_printf(&out, "/%-12s %s\n", commands[i].name, commands[i].doc);
	}
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
	if (tui->watched && !command->is_free) {
		buf_printf(&text, "'/%s' works in the main thread; esc goes back to it.", command->name);
		tui_cells_fail(tui->cells, buf_str(&text));
		return;
	}
	buf_append_str(&text, str_trim(rest));
	composer_take(&tui->composer, &taken, NULL);
	command->run(tui, buf_str(&text));
}

static const char *listed_at(size_t index)
{
	for (size_t i = 0, at = 0; i < countof(commands); i++) {
		if (commands[i].doc && at++ == index)
			return commands[i].name;
	}
	return NULL;
}

const char *tui_command_absence(struct str name)
{
	for (size_t i = 0; i < countof(absent); i++) {
		if (str_is(name, absent[i].name))
			return absent[i].reason;
	}
	return NULL;
}

/* Names what the user may have meant, or how to find it. */
static void refuse(struct tui *tui, struct str name)
{
	auto_buf struct buf note;
	struct str nearest = cli_nearest(name, listed_at);
	const char *reason = tui_command_absence(name);
	buf_init(&note, LIMIT_LINE);
	if (reason)
		buf_printf(&note, "There is no /%.*s here: %s.", STR_ARG(name), reason);
	else
		buf_printf(&note, "Unrecognized command '/%.*s'. Type \"/\" for a list of supported commands.",
		           STR_ARG(name));
	if (nearest.ptr && !reason)
		buf_printf(&note, " Did you mean /%.*s?", STR_ARG(nearest));
	tui_cells_fail(tui->cells, buf_str(&note));
}

bool tui_command(struct tui *tui, struct str text)
{
	struct str name, rest = text;
	if (!str_cut_prefix(&rest, "/"))
		return false;
	for (name = str_n(rest.ptr, 0); rest.len && rest.ptr[0] != ' ' && rest.ptr[0] != '\n'; name.len++)
		rest = str_skip(rest, 1);
	if (str_find_char(name, '/') >= 0) /* a path */
		return false;
	const struct slash *command = find(name);
	if (command)
		run(tui, command, rest);
	else
		refuse(tui, name);
	return true;
}

bool tui_command_at(size_t index, const char **ret_name, const char **ret_about)
{
	if (index >= countof(commands))
		return false;
	*ret_name = commands[index].name;
	*ret_about = commands[index].doc;
	return true;
}
