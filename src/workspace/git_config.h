/* git_config.h — one value out of the text of a git configuration file.
 * Owns: nothing. Any thread. Include files and url rewriting are not followed.
 * Source: git-config(1), "CONFIGURATION FILE". */
#ifndef WORKSPACE_GIT_CONFIG_H
#define WORKSPACE_GIT_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends the last value of section.subsection.key to out (section and key in lower case); false if
 * there is none. */
bool git_config_find(struct str text, const char *section, const char *subsection, const char *key, struct buf *out);

#endif
