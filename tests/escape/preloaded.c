/* A library that a command left in the workspace: loaded outside of the sandbox it would be an escape. It writes a file
 * where $PRELOADED_OUT says, if it may. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((constructor)) void on_load(void)
{
	const char *path = getenv("PRELOADED_OUT");
	int fd = path ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
}
