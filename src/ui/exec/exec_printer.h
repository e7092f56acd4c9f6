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

#endif
