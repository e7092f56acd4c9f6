/* grpc_descriptor.h — the text of a .proto file as a FileDescriptorProto, which server reflection sends.
 *
 * Only what the files of grpc_files.def use: messages with fields, maps and oneofs, enums, and services. A type's name
 * is relative to the file's package, or begins with a package. Owns nothing. Any thread. */
#ifndef SERVER_GRPC_DESCRIPTOR_H
#define SERVER_GRPC_DESCRIPTOR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends the descriptor of a file; path: the file's name in descriptors. */
void grpc_describe(struct str text, const char *path, struct buf *out);
/* True if the file declares the symbol: a service, method, message, field or enum with its package. */
bool grpc_declares(struct str text, struct str symbol);
/* Calls on_service with the full name of each service. */
void grpc_list_services(struct str text, void (*on_service)(struct str name, void *self), void *self);

#endif
