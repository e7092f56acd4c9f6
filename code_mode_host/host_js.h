/* host_js.h — a JavaScript engine that runs one script: the interface of the back ends.
 *
 * A back end evaluates glue.js in a fresh realm and keeps the functions that it returns. A call into the script runs
 * its jobs until none is left. Owns: the realm, which lives as long as the process. No script runs in a realm that
 * has run another one: the process forks before the start, or ends with the script. */
#ifndef CODE_MODE_HOST_JS_H
#define CODE_MODE_HOST_JS_H

#include <stdbool.h>
#include <stddef.h>

#include "host_crash.h"
#include "host_lock.h"

#define HOST_SCRIPT "exec_main.mjs" /* the name of the script in stacks */

struct host_js {
	const char *name;
	bool can_fork; /* after open: the engine has one thread, and nothing in it depends on the process */
	/* Loads the engine and evaluates the glue. False if the engine is not there; *ret_why is a constant. */
	bool (*open)(const char *glue, size_t len, const char **ret_why);
	/* Takes the frame with the script and starts it. The text ends with NUL, as in frame. */
	void (*start)(const char *text, size_t len);
	void (*frame)(const char *text, size_t len);
	/* Runs a timer that is due; returns the milliseconds until the next one, or -1. */
	double (*tick)(void);
};

extern const struct host_js host_quickjs, host_jsc;

/* ---- host_main.c: for back ends ---- */

/* Sends a frame. */
void host_send(const char *text, size_t len);
/* Ends the process. */
void host_exit(void) __attribute__((noreturn));
double host_now(void); /* milliseconds of a clock that never goes back */

#endif
