/* typescript.h — the app-server's tables as TypeScript types: one file per type, and an index for each folder.
 *
 * Names and folders are those of codex 0.169.0, from which clients import. An OPT field is `x?: T | null`, a NUL field
 * `x: T | null`; a field with a default is optional in parameters and in types used only by them. Thread: any.
 * Errors: those of the given writer. */
#ifndef PROTOCOL_TYPESCRIPT_H
#define PROTOCOL_TYPESCRIPT_H

#include "base/buf.h"
#include "base/error.h"
#include "protocol/record/type_set.h"
#include "protocol/schema/app_message.h"

/* Appends the right side of "export type X =". is_input: only clients send the type. */
void typescript_append(struct buf *out, const struct type_set *set, const struct named_type *type, bool is_input);

/* Writes all files; stops at the first error. */
must_check int typescript_write_files(bool is_experimental, app_message_file_fn write, struct error *err, void *self);

#endif
