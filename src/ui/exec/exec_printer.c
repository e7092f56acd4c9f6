/* Failures to write to standard output (a full disk, a closed pipe) are recorded, because they must change the exit
 * status. */
#include "ui/exec/exec_printer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

void exec_printer_write(struct exec_printer *printer, struct str bytes)
{
	if (printer->lost.code == ERR_none && fd_write_all(STDOUT_FILENO, bytes.ptr, bytes.len, &printer->lost) != 0)
		error_wrap(&printer->lost, "standard output");
}

/* ---- the last message ---- */

/* Opens the file, which is written in place: -o may name a device, a pipe or a link, so it cannot be replaced by a
 * rename. */
int last_message_init(struct last_message *last, const char *path, struct error *err)
{
	*last = (struct last_message){.path = path, .fd = -1};
	if (!path)
		return 0;
	last->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	return last->fd >= 0 ? 0 : error_sys(err, errno, "Failed to open last message file %s", path);
}

void last_message_finish(struct last_message *last)
{
	if (last->path && last->fd >= 0)
		close(last->fd);
	str_free(&last->text);
}

void last_message_keep(struct last_message *last, struct str text)
{
	str_free(&last->text);
	last->text = str_copy(text);
}

int last_message_write(struct last_message *last, struct error *err)
{
	struct stat st;
	if (!last->path)
		return 0;
	if (!last->text.ptr)
		fprintf(stderr, "Warning: no last agent message; wrote empty content to %s\n", last->path);
	int status = 0;
	if (fstat(last->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(last->fd, 0) != 0)
		status = error_sys(err, errno, "cannot empty it");
	if (status == 0)
		status = fd_write_all(last->fd, last->text.ptr, last->text.len, err);
	return status == 0 ? 0 : error_wrap(err, "Failed to write last message file %s", last->path);
}
