/* completion_priv.h — what the writers of the three scripts share. */
#ifndef UI_COMPLETION_PRIV_H
#define UI_COMPLETION_PRIV_H

#include "base/buf.h"
#include "ui/cli/cli.h"

enum completion_value {
	COMPLETION_nothing, /* a flag, or a value without known candidates */
	COMPLETION_choices,
	COMPLETION_files,
	COMPLETION_folders,
};

/* The kind of candidates for the option's value. */
enum completion_value completion_value(const struct cli_option *option);
/* "a|b|c" as "a b c". */
void completion_append_choices(struct buf *out, const char *choices);
/* Words of the command that --help lists, each after a blank. */
void completion_append_words(struct buf *out, const struct cli_command *command);

void completion_bash(const struct cli_command *program, struct buf *out);
void completion_zsh(const struct cli_command *program, struct buf *out);
void completion_fish(const struct cli_command *program, struct buf *out);

#endif
