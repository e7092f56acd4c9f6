/* pages.h — manual pages and lists that are made from the program's own tables. sections: further sections of a page,
 * written by hand with the man macros. */
#ifndef MAN_PAGES_H
#define MAN_PAGES_H

#include "base/buf.h"
#include "ui/cli/cli.h"

/* Finds the command that the page describes, `command` or one below it; else NULL. */
const struct cli_command *command_page_find(const struct cli_command *command, const char *page);
void command_page_write(struct buf *out, const struct cli_command *command, struct str sections);

void config_page_write(struct buf *out, struct str sections);

/* The software bill of materials as JSON, and the licences as plain text. */
void sbom_page_write(struct buf *out);
void licences_page_write(struct buf *out);

#endif
