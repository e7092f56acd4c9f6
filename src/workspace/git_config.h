/* git_config.h — reads one value from the text of a git configuration file, as git-config(1) describes it.
 *
 * Owns: nothing. Thread: any. Includes and URL rewriting are ignored. */
#ifndef WORKSPACE_GIT_CONFIG_H
#define WORKSPACE_GIT_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends the last value of section.subsection.key to out (section and key in lower case); false if it does not
 * exist. */
bool git_config_find(struct str text, const char *section, const char *subsection, const char *key, struct buf *out);

#endif
