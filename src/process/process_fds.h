/* process_fds.h — both ends of a command's standard streams, while it starts.
 *
 * Owns: the descriptors, until they are taken out. All close on exec, and none of the engine's ends is below 3:
 * libuv does not accept such descriptors, which an engine that was started without its standard streams would get.
 * Neither are the command's ends of pipes.
 * Thread: any. */
#ifndef PROCESS_PROCESS_FDS_H
#define PROCESS_PROCESS_FDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"

/* The size of a terminal in character cells. */
struct pty_size {
	uint16_t rows, cols;
};
enum { PTY_ROWS = 24, PTY_COLS = 80 }; /* the default size */

struct process_fds_spec {
	const char *name;                /* the command's name, for errors */
	const struct pty_size *terminal; /* NULL: use pipes */
	bool stdin_open;                 /* stdin is a pipe; else /dev/null, unless there is a terminal */
	bool merge_output;               /* both output streams share one pipe, whose engine's end is ours[1] */
};

struct process_fds {
	int child[3]; /* descriptors 0, 1 and 2 of the command; may be the same */
	int ours[3];  /* the engine's ends; -1: none */
};

#define PROCESS_FDS_NONE           \
	{                          \
		{-1, -1, -1},      \
		{                  \
			-1, -1, -1 \
		}                  \
	}

/* *fds must be PROCESS_FDS_NONE. After an error some descriptors may be open. */
must_check int process_fds_open(struct process_fds *fds, const struct process_fds_spec *spec, struct error *err);
/* Takes the command's end of merged output out. */
int process_fds_take_output(struct process_fds *fds);
void process_fds_finish(struct process_fds *fds);
#define auto_process_fds __attribute__((cleanup(process_fds_finish)))

/* The buffer that the output of all commands of a thread is read through. It exists while there are commands: an array
 * of the thread itself would be cleared whenever a thread of any kind starts. */
enum { PROCESS_READ_SIZE = 64 * KIB };
char *process_buffer_ref(void);
void process_buffer_unref(void);

#endif
