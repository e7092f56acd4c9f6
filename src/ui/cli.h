/* cli.h — command lines from tables: parsing, --help and completion follow from the same rows.
 *
 * A command's options are rows of struct cli_option that say where in its options struct a value goes.
 * Values are borrowed from argv. Errors are worded as people who know the reference expect, exit status 2. */
#ifndef UI_CLI_H
#define UI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct error;

enum cli_kind {
	CLI_FLAG, /* bool */
	CLI_TEXT, /* const char *; the last one counts */
	CLI_LIST, /* struct cli_list; may be given again */
};

struct cli_list {
	const char **items;
	size_t count;
	size_t cap;
};

struct cli_option {
	const char *name; /* without dashes */
	char letter;      /* 0: none */
	enum cli_kind kind;
	size_t offset;       /* in the options struct */
	const char *value;   /* how --help calls the value */
	const char *choices; /* "a|b|c": the only values, or NULL */
	const char *doc;     /* NULL: not listed */
};

struct cli_command {
	const char *name;    /* "codex exec" */
	const char *about;   /* one line */
	const char *usage;   /* lines, without the command's name repeated by us */
	const char *details; /* arguments and examples for --help; may be NULL */
	const struct cli_option *options;
	size_t option_count;
	size_t most_positionals;
};

struct cli_result {
	struct cli_list positionals;
	bool wants_help;
};

/* Reads argv[1..]. Stops nowhere: options and positionals may be mixed; "--" ends options.
 * ERR_usage with the text to show. cli_finish frees the lists in either case. */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *options, struct cli_result *result,
              struct error *err);
void cli_finish(const struct cli_command *command, void *options, struct cli_result *result);

/* Prints what --help shows, on stdout. */
void cli_print_help(const struct cli_command *command);
/* Prints a usage error on stderr; returns the exit status (2). */
int cli_print_error(const struct cli_command *command, const struct error *err);

#endif
