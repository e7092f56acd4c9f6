/* Failures to write to standard output (a full disk, a closed pipe) are recorded, because they must change the exit
 * status. */
#include "ui/exec/exec_printer.h"

#include <unistd.h>

#include "base/file.h"

void exec_printer_write(struct exec_printer *printer, struct str bytes)
{
	if (printer->lost.code == ERR_none && fd_write_all(STDOUT_FILENO, bytes.ptr, bytes.len, &printer->lost) != 0)
		error_wrap(&printer->lost, "standard output");
}
