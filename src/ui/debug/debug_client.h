/* debug_client.h — an interactive client of an engine: sends input as Ops and prints events.
 *
 * Owns: the peer and the input. Loop thread only. */
#ifndef UI_DEBUG_CLIENT_H
#define UI_DEBUG_CLIENT_H

#include <stdbool.h>

#include "base/error.h"

struct debug_client;
struct loop;

struct debug_client_options {
	struct loop *loop;
	const char *address;     /* address of a socket, or NULL to start a program: */
	const char *path;        /* the program's file; NULL: argv[0] is looked up in PATH */
	const char *const *argv; /* ends with NULL */
	const char *token;       /* token to send first; NULL: none */
	bool is_script;          /* each line waits until the previous one has had its effect */
	bool shows_all, shows_json, color;
	void (*on_end)(bool is_in_order, void *self); /* called once, on the loop; the client must be destroyed later */
	void *self;
};

/* Connects to the engine or starts it; the options are borrowed. NULL and err if this fails. */
must_check struct debug_client *debug_client_create(const struct debug_client_options *options, struct error *err);
/* Handles Ctrl-C: the first one interrupts the task, the next one ends the conversation. */
void debug_client_interrupt(struct debug_client *client);
void debug_client_destroy(struct debug_client *client); /* NULL is fine */

#endif
