/* explain.h — `codex help KEY`: the type of a key of config.toml, its value in this folder, and where that is set. */
#ifndef UI_EXPLAIN_H
#define UI_EXPLAIN_H

#include <stdbool.h>

/* True if the dotted path names a key of config.toml. */
bool explain_knows(const char *path);
/* Prints the key; returns the exit status: 1 if the configuration cannot be loaded. */
int explain_print(const char *path);

#endif
