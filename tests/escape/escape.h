/* escape.h — attempts of a command to escape from its sandbox: one row per attempt.
 *
 * `escape try W O VICTIM` makes all attempts, each in a process of its own, and prints a line for each: its name, a
 * tab, and "out" (it worked) or why it did not. W is the workspace, O a folder outside, VICTIM a file in which
 * `escape victim` says where it can be found: its pid, ports and sockets. */
#ifndef TESTS_ESCAPE_H
#define TESTS_ESCAPE_H

#include <stdbool.h>

/* The targets of the attempts. */
struct target {
	char workspace[1024], outside[1024];
	int pid, tcp4, tcp6, udp4;
	char abstract[64], shared_memory[64]; /* names */
	int system_v_key;
};
extern struct target target;

/* True if it worked. Else errno says why not; 0: it had no effect. */
typedef bool (*attempt_fn)(void);

struct attempt {
	const char *name;
	attempt_fn run;
};

/* Each ends with a row without a name. */
extern const struct attempt attempts_on_files[], attempts_on_guarded[], attempts_on_network[], attempts_on_processes[],
	attempts_on_kernel[];

/* A path below the workspace or the outside folder; good until the fourth call from now. */
const char *in_workspace(const char *name);
const char *in_outside(const char *name);
/* Opens and writes one byte. */
bool can_write(const char *path, int flags);
/* True if the call was allowed, even if it failed because of its arguments. */
bool was_heard(long result);

int victim_main(int argc, char **argv);

#endif
