/* exec_printer.h — prints the events of `codex exec`: one interface with two implementations.
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
	struct error lost; /* the error of the first failed write to standard output; ERR_none without one */
	/* private */
	void (*on_event)(struct exec_printer *printer, const struct event *event);
	void (*destroy)(struct exec_printer *printer);
};

/* For printers: writes to standard output until that fails once. */
void exec_printer_write(struct exec_printer *printer, struct str bytes);

/* Prints JSON lines on stdout. */
struct exec_printer *exec_json_create(void);
/* Prints for people: progress on stderr, the last message on stdout. facts is borrowed. */
struct exec_printer *exec_human_create(struct loop *loop, const struct exec_facts *facts);

/* The agent's last message, and the file of option -o. The file is opened before the run, so that a path that cannot be
 * written costs no tokens; its content is kept until there is a new message. Owns the text and the descriptor. */
struct last_message {
	const char *path; /* borrowed; NULL: no file was requested */
	int fd;
	struct str text; /* owned; STR_NONE: there was no message */
};

must_check int last_message_init(struct last_message *last, const char *path, struct error *err);
void last_message_finish(struct last_message *last);

void last_message_keep(struct last_message *last, struct str text);
/* Writes the last message to the file of --output-last-message, if that was given. If there was no message, writes an
 * empty file and warns on stderr. */
must_check int last_message_write(struct last_message *last, struct error *err);

#endif
