/* The command's side of a terminal is opened through the descriptor of the engine's side instead of its name in
 * /dev/pts: in a container that name may belong to another terminal. The engine's side is read and, if the command
 * takes input, also written; libuv needs one handle for each direction, so the second is a duplicate. */
#include "process/process_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/host.h"
#include "base/mem.h"

/* Takes ownership of fd. */
static int raise_fd(int fd)
{
	int raised = fd < 0 || fd > 2 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (raised != fd)
		close(fd);
	return raised;
}

/* Opens pipe `at`. For stdin, the child gets the reading end. */
static int open_pipe(struct process_fds *fds, int at)
{
	int ends[2];
	if (host_pipe(ends) != 0)
		return -1;
	fds->child[at] = raise_fd(ends[at == 0 ? 0 : 1]);
	fds->ours[at] = raise_fd(ends[at == 0 ? 1 : 0]);
	return fds->ours[at] < 0 || fds->child[at] < 0 ? -1 : 0;
}

static int open_pty(const struct pty_size *size, int *ret_screen, int *ret_line)
{
	struct winsize cells = {.ws_row = size->rows, .ws_col = size->cols};
	*ret_screen = raise_fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (*ret_screen < 0 || grantpt(*ret_screen) != 0 || unlockpt(*ret_screen) != 0)
		return -1;
	*ret_line = raise_fd(ioctl(*ret_screen, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
	return *ret_line < 0 ? -1 : ioctl(*ret_screen, TIOCSWINSZ, &cells);
}

static int open_terminal(struct process_fds *fds, const struct process_fds_spec *spec, struct error *err)
{
	if (open_pty(spec->terminal, &fds->ours[1], &fds->child[0]) != 0)
		return error_sys(err, errno, "cannot run %s: cannot open a terminal", spec->name);
	fds->child[1] = fds->child[2] = fds->child[0];
	if (spec->stdin_open && (fds->ours[0] = fcntl(fds->ours[1], F_DUPFD_CLOEXEC, 3)) < 0)
		return error_sys(err, errno, "cannot run %s: its input", spec->name);
	return 0;
}

int process_fds_open(struct process_fds *fds, const struct process_fds_spec *spec, struct error *err)
{
	if (spec->terminal)
		return open_terminal(fds, spec, err);
	if (!spec->stdin_open)
		fds->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (spec->stdin_open ? open_pipe(fds, 0) != 0 : fds->child[0] < 0)
		return error_sys(err, errno, "cannot run %s: its input", spec->name);
	if (open_pipe(fds, 1) != 0 || (!spec->merge_output && open_pipe(fds, 2) != 0))
		return error_sys(err, errno, "cannot run %s: its output", spec->name);
	if (spec->merge_output)
		fds->child[2] = fds->child[1];
	return 0;
}

int process_fds_take_output(struct process_fds *fds)
{
	fds->child[2] = -1;
	return steal_fd(&fds->child[1]);
}

void process_fds_finish(struct process_fds *fds)
{
	for (int i = 0; i < 3; i++) {
		mem_close_slot(&fds->ours[i]);
		if (i == 0 || fds->child[i] != fds->child[i - 1])
			mem_close_slot(&fds->child[i]);
	}
}

/* ---- the buffer for output ---- */

static _Thread_local struct {
	char *bytes;
	size_t commands;
} shared;

char *process_buffer_ref(void)
{
	if (shared.commands++ == 0)
		shared.bytes = xmalloc(PROCESS_READ_SIZE);
	return shared.bytes;
}

void process_buffer_unref(void)
{
	if (--shared.commands == 0)
		free(steal(shared.bytes));
}
