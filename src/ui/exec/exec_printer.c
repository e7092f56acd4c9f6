/* Whoever reads standard output must be able to trust the exit status: what could not be written there
 * (a full disk, a reader that went away) is remembered for it. */
#include "ui/exec/exec_printer.h"

#include <unistd.h>

#include "base/file.h"

void exec_printer_write(struct exec_printer *printer, struct str bytes)
{
	if (printer->lost.code == ERR_none && fd_write_all(STDOUT_FILENO, bytes.ptr, bytes.len, &printer->lost) != 0)
		error_wrap(&printer->lost, "standard output");
}
