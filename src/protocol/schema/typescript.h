/* typescript.h — the app-server's tables as TypeScript types: one file for each, and an index of each folder.
 *
 * Names and folders are those of codex 0.169.0, whose clients import by them. A field is `x?: T | null` where it is
 * left out when there is nothing, `x: T | null` where it is told as null; one that has a default may be left out of
 * parameters and of what only they are made of. Thread: any. Errors: those of the writer that is given. */
#ifndef PROTOCOL_TYPESCRIPT_H
#define PROTOCOL_TYPESCRIPT_H

#include "base/buf.h"
#include "protocol/message/app_message.h"

struct error;

/* What stands right of "export type X =". is_input: clients send it, and nobody else. */
void typescript_append(struct buf *out, const struct type_set *set, const struct named_type *type, bool is_input);

/* All files, one after the other, up to the first error. */
int typescript_write_files(bool is_experimental, app_message_file_fn write, struct error *err, void *self);

#endif
