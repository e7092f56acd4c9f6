/* exec_printer.h — how `codex exec` prints events: one interface with two implementations.
 *
 * Both read the same Event stream; neither changes what happens. Owns: its notes on open items. */
#ifndef UI_EXEC_PRINTER_H
#define UI_EXEC_PRINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct event;
struct loop;

struct exec_facts {
	const char *model_provider;
	struct str prompt;
	const char *color; /* "always", "never", "auto" or NULL */
	bool hides_thinking;
};

struct exec_printer {
	/* read-only */
	struct error lost; /* why standard output took no more; its code is ERR_none while it does */
	/* private */
	void (*on_event)(struct exec_printer *printer, const struct event *event);
	void (*destroy)(struct exec_printer *printer);
};

/* For printers: writes on standard output, until that fails once. */
void exec_printer_write(struct exec_printer *printer, struct str bytes);

/* JSON lines on stdout. */
struct exec_printer *exec_json_create(void);
/* For people: progress on stderr, the last message on stdout. facts is borrowed. */
struct exec_printer *exec_human_create(struct loop *loop, const struct exec_facts *facts);

/* The agent's last message, and the file of option -o. The file is opened before the run, so that a path that cannot be
 * written costs no tokens; its content is kept until there is a new message. Owns the text and the descriptor. */
struct last_message {
	const char *path; /* borrowed; NULL: no file */
	int fd;
	struct str text; /* owned; STR_NONE: the agent said nothing */
};

must_check int last_message_init(struct last_message *last, const char *path, struct error *err);
void last_message_finish(struct last_message *last);

void last_message_keep(struct last_message *last, struct str text);
/* Writes the last message to the file of --output-last-message, if that was given. If there was no message, writes an
 * empty file and warns on stderr. */
must_check int last_message_write(struct last_message *last, struct error *err);

#endif
