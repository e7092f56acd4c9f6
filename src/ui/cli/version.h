/* version.h — `codex --version --verbose`: the version, the build, and the libraries. */
#ifndef UI_VERSION_H
#define UI_VERSION_H

#include <stdbool.h>

/* True if the command line consists of --version (-V) and --verbose, in any order. */
bool version_wants_verbose(int argc, char **argv);

/* Prints the report and returns the exit status. Loads the libraries that the engine opens by name; one that is missing
 * is no error, because the program works without it. */
int version_print_verbose(void);

#endif
