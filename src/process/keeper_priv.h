/* keeper_priv.h — what an engine and its keeper say to each other. For process/keeper*.c only.
 *
 * Through a socket the engine sends a request with the command's descriptors (spawn_plan's three, and the extra one if
 * there is one) and, after it, its texts, each with a NUL: the file, the folder if there is one, the words, the
 * environment. A request may instead give it a placeholder (placeholder.h), a descriptor and a path, which it
 * takes away when everything has ended; to that there is no reply. Requests are taken in the order in which they are
 * sent. When the engine's end of the socket closes, all ends.
 *
 * Through a pipe the keeper reports each command: that there is a process; at a terminal, that it has been executed;
 * then that it has ended or could not be started. */
#ifndef PROCESS_KEEPER_PRIV_H
#define PROCESS_KEEPER_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct keeper_request {
	uint32_t id;              /* of the command, in its reports */
	uint32_t argc, envc, len; /* of the texts together */
	uint32_t patience_ms;     /* for its start */
	bool has_cwd, has_terminal;
	bool is_placeholder;
};

enum { KEEPER_FDS = 4 };

union keeper_control {
	char bytes[CMSG_SPACE(KEEPER_FDS * sizeof(int))];
	struct cmsghdr align;
};

enum keeper_event {
	KEEPER_STARTED, /* value: its pid */
	KEEPER_RUNS,    /* it has been executed; for a command at a terminal only */
	KEEPER_FAILED,  /* value: a spawn_step, sys: errno */
	KEEPER_ENDED,   /* value: the status of waitpid(2) */
};

struct keeper_report {
	uint32_t id;
	enum keeper_event event;
	int32_t value, sys;
};

/* The life of the keeper, in a process of its own. */
void keeper_main(int requests, int exits) __attribute__((noreturn));

#endif
