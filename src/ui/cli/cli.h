/* cli.h — command lines from tables: parsing, --help and completion use the same rows.
 *
 * A command's options are rows of struct cli_option with the offset of their value in the options struct; its words are
 * the subcommands and fixed arguments that may follow its name. All tables are constant.
 * Values are borrowed from argv, but for texts of --enable and --disable, which end with cli_finish. Errors are worded
 * as in codex 0.169; the exit status is 2. */
#ifndef UI_CLI_H
#define UI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

enum cli_kind {
	CLI_FLAG, /* bool */
	CLI_TEXT, /* const char *; the last one wins */
	CLI_LIST, /* struct cli_list; the option may be repeated */
	/* As CLI_LIST; the words after the value belong to the option, too, as long as they name existing files. */
	CLI_FILES,
};

struct cli_list {
	const char **items;
	size_t count;
	size_t cap;
};

struct cli_option {
	const char *name; /* without leading dashes */
	char letter;      /* 0: no short form */
	enum cli_kind kind;
	size_t offset;       /* offset of the value in the options struct */
	const char *value;   /* the name of the value in --help; FILE and DIR are completed as paths */
	const char *choices; /* "a|b|c": the permitted values, or NULL */
	const char *doc;     /* NULL: not listed */
};

struct cli_argument {
	const char *name; /* for example "[PROMPT]" */
	const char *doc;
};

struct cli_command;

/* A word that may follow the name of the command. */
struct cli_word {
	const char *word;
	const char *other; /* a synonym, or NULL */
	const char *doc;   /* NULL: not listed */
	/* For a word that is a command: */
	const struct cli_command *command;
	int (*run)(int argc, char **argv); /* argv[0] is that word */
};

struct cli_command {
	const char *name;    /* for example "codex exec" */
	const char *about;   /* a single line */
	const char *usage;   /* all lines from "Usage: " on, at most 80 columns wide */
	const char *details; /* examples for --help, lines of at most 80 columns; may be NULL */
	const struct cli_word *words;
	size_t word_count;
	const struct cli_argument *arguments;
	size_t argument_count;
	const struct cli_option *options;
	size_t option_count;
	size_t most_positionals; /* number of positionals after the word */
};

struct cli_result {
	const struct cli_word *word; /* the first positional if it is a word and does not follow "--" */
	struct cli_list positionals;
	/* "key=value" texts of -c, --enable and --disable, which every command takes, if its table lacks them; owned.
	 * Those of the last two are also added to a row `config`. */
	VEC(char *) overrides;
	bool wants_help;
	bool wants_version;
};

/* 0 if the feature is known, else ERR_config and a message that suggests the nearest name. */
must_check int cli_check_feature(const char *name, struct error *err);

/* Parses argv[1..] and handles --help, --version and errors. Options and positionals may be mixed; "--" ends the
 * options. Returns -1 to continue, else the exit status.
 * cli_finish frees the lists in either case. */
must_check int cli_read(const struct cli_command *command, int argc, char **argv, void *options,
                        struct cli_result *result);
void cli_finish(const struct cli_command *command, void *options, struct cli_result *result);

/* Finds the first positional without storing any option. *ret_at is its index, or argc. */
must_check int cli_find_positional(const struct cli_command *command, int argc, char **argv, int *ret_at,
                                   struct cli_result *result, struct error *err);

/* If argv[at], which may be its end, is a word of the command: moves it before the options, which belong to it, and
 * returns it. Else returns NULL. */
const struct cli_word *cli_move_word(const struct cli_command *command, char **argv, int at);

/* Returns the name that is nearest to a mistyped one; STR_NONE if none is similar. name_at returns NULL at the end. */
struct str cli_nearest(struct str wrong, const char *(*name_at)(size_t index));

const struct cli_word *cli_find_word(const struct cli_command *command, const char *text);
/* Fills err for a word that is not among the command's, and suggests the nearest one; returns -ERR_usage. */
must_check int cli_unknown_word(const struct cli_command *command, const char *text, struct error *err);

/* True for --help before "--", also beside options that this program does not know. */
bool cli_wants_help(int argc, char **argv);

/* Prints the text of --help, at most 80 columns wide. */
void cli_print_help(const struct cli_command *command, int fd);
/* Prints the version, such as "codex-cli-exec 1.2.3" for "codex exec". */
void cli_print_version(const struct cli_command *command);
/* Prints an error of the command line on stderr, with the usage unless only a value is wrong (ERR_invalid); returns
 * the exit status: 2, or 1 for ERR_config, an unknown feature. */
int cli_print_error(const struct cli_command *command, const struct error *err);

#endif
