/* debug_client.h — an interactive client of an engine: sends input as Ops and prints events.
 *
 * Owns: the peer and the input. Loop thread only. */
#ifndef UI_DEBUG_CLIENT_H
#define UI_DEBUG_CLIENT_H

#include <stdbool.h>

struct debug_client;
struct error;
struct loop;

struct debug_client_options {
	struct loop *loop;
	const char *address;     /* of a socket; or NULL and: */
	const char *path;        /* of the program to run; NULL: argv[0] is looked up */
	const char *const *argv; /* ends with NULL */
	const char *token;       /* shown first; NULL: none */
	bool is_script;          /* each line waits until the one before has had its effect */
	bool shows_all, shows_json, color;
	void (*on_end)(bool is_in_order, void *self); /* once, from the loop; destroy it later */
	void *self;
};

/* All of the options is borrowed. NULL and err if the engine cannot be reached or started. */
struct debug_client *debug_client_create(const struct debug_client_options *options, struct error *err);
/* Ctrl-C: the first one interrupts the task, the next one ends the conversation. */
void debug_client_interrupt(struct debug_client *client);
void debug_client_destroy(struct debug_client *client); /* NULL is fine */

#endif
