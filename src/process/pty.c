/* The command's end is opened through the screen's descriptor and not by its name in /dev/pts: in a container that name
 * may belong to somebody else's terminal. */
#include "process/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/error.h"
#include "base/mem.h"

static int raise_fd(int fd)
{
	int raised = fd < 0 || fd > 2 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (raised != fd)
		close(fd);
	return raised;
}

int pty_open(const struct pty_size *size, int *ret_screen, int *ret_line, struct error *err)
{
	auto_close int screen = raise_fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (screen < 0 || grantpt(screen) != 0 || unlockpt(screen) != 0)
		return error_sys(err, errno, "cannot open a terminal");
	auto_close int line = raise_fd(ioctl(screen, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (line < 0)
		return error_sys(err, errno, "cannot open a terminal");
	int status = pty_resize(screen, size, err);
	if (status != 0)
		return status;
	*ret_screen = steal_fd(&screen);
	*ret_line = steal_fd(&line);
	return 0;
}

int pty_resize(int screen, const struct pty_size *size, struct error *err)
{
	struct winsize cells = {.ws_row = size->rows, .ws_col = size->cols};
	return ioctl(screen, TIOCSWINSZ, &cells) == 0 ? 0 : error_sys(err, errno, "cannot resize the terminal");
}
