/* nsswitch.h — which modules the C library loads to look up names.
 *
 * It loads them by name when a host, a user or a group is looked up first, and some are linked to many libraries. */
#ifndef BASE_NSSWITCH_H
#define BASE_NSSWITCH_H

#include <stdbool.h>

#define NSSWITCH_FILE "/etc/nsswitch.conf"

/* True if the file does not exist, or names only modules that are known to be linked to none of the libraries of
 * stand_in.def. The C library reads the file again when it changes: a module that is added while a program runs with
 * stand-ins may not load in it before its next start. */
bool nsswitch_is_plain(const char *path);

#endif
