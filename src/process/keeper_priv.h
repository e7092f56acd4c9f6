/* keeper_priv.h — what an engine and its keeper say to each other. For process/keeper*.c only.
 *
 * Through a socket the engine sends a request with the command's descriptors (spawn_plan's three, and the extra one if
 * there is one) and, behind it, its texts, each with a NUL: the file, the folder if there is one, the words, the
 * environment. The keeper answers with a reply. A request may instead give it a placeholder (sandbox_placeholder.h), a
 * descriptor and a path, which it takes away when everything has ended; to that there is no reply. Through a pipe the
 * keeper reports each command that has ended. When the engine's end of the socket closes, all ends. */
#ifndef PROCESS_KEEPER_PRIV_H
#define PROCESS_KEEPER_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/error.h"

struct keeper_request {
	uint32_t argc, envc, len; /* of the texts together */
	bool has_cwd, has_terminal;
	bool is_placeholder;
};

enum { KEEPER_FDS = 4 };

union keeper_control {
	char bytes[CMSG_SPACE(KEEPER_FDS * sizeof(int))];
	struct cmsghdr align;
};

struct keeper_reply {
	pid_t pid; /* 0: err says why */
	struct error err;
};

struct keeper_exit {
	pid_t pid;
	int wait_status;
};

/* The life of the keeper, in a process of its own. */
void keeper_main(int requests, int exits) __attribute__((noreturn));

#endif
