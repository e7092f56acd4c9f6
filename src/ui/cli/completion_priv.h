/* completion_priv.h — shared by the writers of completion scripts. */
#ifndef UI_COMPLETION_PRIV_H
#define UI_COMPLETION_PRIV_H

#include "base/buf.h"
#include "ui/cli/completion.h"

enum candidates {
	CANDIDATES_nothing, /* for flags, and for values without known candidates */
	CANDIDATES_choices,
	CANDIDATES_files,
	CANDIDATES_folders,
};

/* Returns the kind of candidates for the option's value. */
enum candidates completion_candidates(const struct cli_option *option);

/* Append the script of a shell. */
void completion_write_elvish(const struct cli_command *program, struct buf *out);
void completion_write_powershell(const struct cli_command *program, struct buf *out);

#endif
