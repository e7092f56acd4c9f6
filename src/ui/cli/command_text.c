/* Quoting is process/shell's, so that what is shown can be pasted and run. */
#include "ui/cli/command_text.h"

#include "command/shell.h"

void command_text_append(struct buf *out, const struct str *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_char(out, ' ');
		shell_quote(out, words[i]);
	}
}
