/* uuid.h — ids. Version 7: time-ordered, so a directory sorted by name is sorted by age. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { UUID_TEXT_SIZE = 37 };

/* Writes a new version-7 id in lower case, greater than all earlier ones of this process. Loop thread only. */
void uuid_v7(char out[UUID_TEXT_SIZE]);
/* True for 8-4-4-4-12 hex digits. */
bool uuid_is_valid(struct str text);
/* Returns the time at which a version 7 id was made, in Unix milliseconds. */
int64_t uuid_v7_ms(struct str id);

#endif
