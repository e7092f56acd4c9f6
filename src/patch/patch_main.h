/* patch_main.h — the program `apply_patch PATCH`; without an argument it reads stdin.
 *
 * It runs when the program's name is apply_patch or applypatch, or with the hidden first argument
 * --codex-run-as-apply-patch, through which the engine runs itself inside a sandbox. */
#ifndef PATCH_PATCH_MAIN_H
#define PATCH_PATCH_MAIN_H

#include <stdbool.h>

/* True if this command line invokes patch_main. */
bool patch_main_wants(int argc, char **argv);

/* Applies the patch below the current folder. Returns the exit status: 0 success, 1 failure, 2 usage error. */
int patch_main(int argc, char **argv);

#endif
