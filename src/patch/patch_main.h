/* patch_main.h — the bare program `apply_patch PATCH` (core 4.6): an edge, it reads stdin and prints.
 *
 * Reached by the program's name, apply_patch or applypatch, or by the hidden first argument
 * --codex-run-as-apply-patch, through which the engine runs itself inside a sandbox. */
#ifndef PATCH_PATCH_MAIN_H
#define PATCH_PATCH_MAIN_H

#include <stdbool.h>

/* True if this command line is patch_main's. */
bool patch_main_wants(int argc, char **argv);

/* Applies the patch below the current folder. Exit status: 0 done, 1 it failed, 2 misused. */
int patch_main(int argc, char **argv);

#endif
