/* The JSON form is that of the app-server: turns with their items, as they are stored. */
#include "ui/sessions/export_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_server/history/thread_history.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_reader.h"
#include "ui/sessions/session_pick.h"
#include "ui/cli/terminal.h"
#include "ui/sessions/script.h"
#include "ui/sessions/transcript.h"
#include "ui/sessions/transcript_html.h"

struct export_options {
	const char *format, *output, *answer;
	bool last, all, mask;
};

#define EXPORT_FORMATS "md|json|html|script" /* the rows of `formats` */

static const struct cli_option rows[] = {
	{"format", 'f', CLI_TEXT, offsetof(struct export_options, format), "FORMAT", EXPORT_FORMATS,
         "Format of the output; default: md"},
	{"output", 'o', CLI_TEXT, offsetof(struct export_options, output), "FILE", NULL,
         "Write to FILE instead of standard output"},
	{"answer", 0, CLI_TEXT, offsetof(struct export_options, answer), "HOW", "run|record",
         "With a script: tools run again (the default), or their recorded output is printed instead"},
	{"mask", 0, CLI_FLAG, offsetof(struct export_options, mask), NULL, NULL,
         "With a script: replace secrets, the session's folder and the home folder"},
	{"last", 0, CLI_FLAG, offsetof(struct export_options, last), NULL, NULL,
         "Export the newest session of this folder"},
	{"all", 0, CLI_FLAG, offsetof(struct export_options, all), NULL, NULL,
         "With --last: the newest session of any folder"},
};

static const struct cli_argument arguments[] = {
	{.name = "[SESSION]", .doc = "An id, a unique prefix of one, or a name"},
};

const struct cli_command export_command = {
	.name = "codex export",
	.about = "Write a recorded session: as text, as JSON, or as a script that replays it.",
	.usage = "Usage: codex export [OPTIONS] <SESSION | --last>",
	.details = "Of each command's output a session stores at most 64 KiB: its start and its end.\n"
		   "\n"
		   "A script plays the model's part again, without a model:\n"
		   "  $ codex export --last --format script -o session.jsonl\n"
		   "  $ codex mock-model --script session.jsonl\n"
		   "Its comments have the prompts.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1,
};

static char *find(const struct export_options *options, const char *home, const char *word, struct error *err)
{
	auto_free char *cwd = realpath(".", NULL);
	struct rollout_filter filter = {.cwd = options->all ? STR_NONE : str_of(cwd)};
	return word ? session_find(home, word, err) : rollout_list_find_latest(home, &filter, err);
}

static void write_json(const struct rollout_meta *meta, struct str name, const struct thread_history *history,
                       struct buf *out)
{
	auto_buf struct buf compact;
	buf_init(&compact, out->max);
	struct json_writer w = json_writer(&compact);
	jw_object(&w);
	jw_member_str(&w, "id", meta->thread_id);
	jw_member_str(&w, "name", name);
	jw_member_str(&w, "forkedFromId", meta->forked_from_id);
	jw_member_str(&w, "timestamp", meta->timestamp);
	jw_member_str(&w, "cwd", meta->cwd);
	jw_member_str(&w, "originator", meta->originator);
	jw_member_str(&w, "cliVersion", meta->cli_version);
	jw_member_str(&w, "modelProvider", meta->model_provider);
	jw_key(&w, "turns");
	jw_array(&w);
	for (size_t i = 0; i < history->count; i++)
		record_encode(&record_app_turn, &history->turns[i], &w);
	jw_array_end(&w);
	jw_object_end(&w);
	json_indent(out, buf_str(&compact));
	buf_append_char(out, '\n');
	out->over |= compact.over;
}

/* A session that is being written. */
struct session_export {
	const struct export_options *options;
	struct rollout_reader *reader;
	struct arena arena;
	struct thread_history history; /* of the formats that show turns */
	struct str name;
};

typedef void (*write_fn)(struct session_export *self, struct buf *out);

static void write_markdown(struct session_export *self, struct buf *out)
{
	transcript_write(&self->reader->meta, self->name, &self->history, out);
}

static void write_turns(struct session_export *self, struct buf *out)
{
	write_json(&self->reader->meta, self->name, &self->history, out);
}

static void write_page(struct session_export *self, struct buf *out)
{
	transcript_html_write(&self->reader->meta, self->name, &self->history, out);
}

static void write_script(struct session_export *self, struct buf *out)
{
	const struct export_options *options = self->options;
	const struct script_options script = {
		.answers = options->answer && strcmp(options->answer, "record") == 0,
		.is_masked = options->mask,
		.home = config_env("HOME"),
	};
	script_write(self->reader, &script, out);
}

static const struct {
	const char *name;
	enum rollout_wants wants;
	write_fn write;
} formats[] = {
	{"md", ROLLOUT_EVENTS, write_markdown},
	{"json", ROLLOUT_EVENTS, write_turns},
	{"html", ROLLOUT_EVENTS, write_page},
	{"script", ROLLOUT_ALL, write_script},
};

static size_t format_of(const struct export_options *options)
{
	for (size_t i = 0; options->format && i < countof(formats); i++) {
		if (strcmp(options->format, formats[i].name) == 0)
			return i;
	}
	return 0;
}

static int write_session(const struct export_options *options, const char *home, const char *path, struct buf *out,
                         struct error *err)
{
	struct rollout_names names = {0};
	struct session_export self = {.options = options};
	size_t format = format_of(options);
	self.reader = rollout_reader_create_for(path, formats[format].wants, err);
	if (!self.reader)
		return -(int)err->code;
	if (formats[format].wants == ROLLOUT_EVENTS)
		thread_history_read(self.reader, &self.arena, &self.history);
	rollout_names_read(home, &names);
	self.name = rollout_names_find(&names, self.reader->meta.thread_id);
	formats[format].write(&self, out);
	rollout_names_finish(&names);
	rollout_reader_destroy(self.reader);
	arena_finish(&self.arena);
	return out->over ? error_set(err, ERR_limit, "the session is too large to be exported") : 0;
}

int export_write(const char *home, const char *path, bool is_json, struct buf *out, struct error *err)
{
	const struct export_options options = {.format = is_json ? "json" : "md"};
	return write_session(&options, home, path, out, err);
}

/* Prints the text; on a terminal control characters are made visible, a file or pipe gets the bytes unchanged. */
static int print(struct buf *text, struct error *err)
{
	auto_buf struct buf shown;
	buf_init(&shown, text->max * 2);
	bool is_terminal = isatty(STDOUT_FILENO);
	if (is_terminal)
		terminal_text_append(&shown, buf_str(text));
	struct str bytes = buf_str(is_terminal ? &shown : text);
	int status = fd_write_all(STDOUT_FILENO, bytes.ptr, bytes.len, err);
	return status != 0 && err->sys == EPIPE ? 0 : status;
}

static int export_session(const struct export_options *options, const char *word, struct error *err)
{
	auto_free char *home = config_env_home(err);
	auto_free char *path = home ? find(options, home, word, err) : NULL;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_ROLLOUT_FILE);
	int status = path ? write_session(options, home, path, &out, err) : -(int)err->code;
	if (status == 0)
		status = options->output ? file_write_atomic(options->output, buf_str(&out), 0600, false, err)
		                         : print(&out, err);
	return status;
}

static int check(const struct export_options *options, const struct cli_result *words, struct error *err)
{
	if (options->last == (words->positionals.count > 0))
		return error_set(err, ERR_usage,
		                 options->last ? "the argument '--last' cannot be used with '[SESSION]'"
		                               : "export needs a session's id or name, or --last");
	if (options->all && !options->last)
		return error_set(err, ERR_usage, "'--all' requires --last");
	bool is_script = options->format && strcmp(options->format, "script") == 0;
	if (!is_script && (options->answer || options->mask))
		return error_set(err, ERR_usage, "'--%s' requires --format script", options->mask ? "mask" : "answer");
	return 0;
}

int export_main(int argc, char **argv)
{
	struct export_options options = {0};
	struct cli_result words;
	struct error err = {0};
	int status = cli_read(&export_command, argc, argv, &options, &words);
	if (status < 0 && check(&options, &words, &err) != 0) {
		status = cli_print_error(&export_command, &err);
	} else if (status < 0) {
		status = export_session(&options, words.positionals.count ? words.positionals.items[0] : NULL, &err);
		if (status != 0)
			fprintf(stderr, "codex export: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
	}
	cli_finish(&export_command, &options, &words);
	return status;
}
