/* supervisor_priv.h — the messages between an engine and its supervisor. For process/supervisor*.c only.
 *
 * The engine sends requests through a socket. A request carries the descriptors of the command (the three of
 * spawn_plan and the extra one, if any) and is followed by its texts, each with a NUL: the folder, if any, the
 * paths, the wanted files, the arguments and the environment. Another kind of request passes a placeholder
 * (placeholder.h), a descriptor and a path, which the supervisor removes when all commands have ended; it is not
 * answered. Requests are handled in the order in which they are sent. When the engine's end of the socket closes,
 * the supervisor terminates everything.
 *
 * The supervisor reports through a pipe: for each command that it has a process; if requested, that its file was
 * executed; and finally that it has ended or could not be started. */
#ifndef PROCESS_SUPERVISOR_PRIV_H
#define PROCESS_SUPERVISOR_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct supervisor_request {
	/* on the clock of clock_now_ms: a later start is refused, because its failure was reported by then */
	uint64_t not_after_ms;
	uint32_t id; /* identifies the command in reports */
	uint32_t path_count, wanted_count, argc, envc;
	uint32_t len;        /* bytes of all texts */
	uint32_t timeout_ms; /* time until the exec */
	bool has_cwd, has_wanted, has_terminal, reports_run;
	bool is_placeholder;
};

/* The message for ETOOMANYREFS, because strerror's text suggests no remedy. */
#define SUPERVISOR_IN_TRANSIT \
	"too many descriptors of this user are in transit between processes; try again, or raise `ulimit -n`"

enum { SUPERVISOR_FDS = 4 };

union supervisor_control {
	char bytes[CMSG_SPACE(SUPERVISOR_FDS * sizeof(int))];
	struct cmsghdr align;
};

enum supervisor_event {
	SUPERVISOR_STARTED, /* value: its pid; sys: not 0 if it was reaped meanwhile, which another report says */
	SUPERVISOR_RUNS,    /* the file was executed; sent if requested */
	SUPERVISOR_FAILED,  /* value: a spawn_step, sys: errno */
	SUPERVISOR_ENDED,   /* value: the status of waitpid(2) */
};

struct supervisor_report {
	uint32_t id;
	enum supervisor_event event;
	int32_t value, sys;
};

/* The main function of the supervisor process. */
void supervisor_main(int requests, int exits) __attribute__((noreturn));

#endif
