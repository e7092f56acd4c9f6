/* remote_start.h — the parameters of process/start, with which an exec-server starts a command. Owns: nothing. Thread:
 * any. */
#ifndef REMOTE_REMOTE_START_H
#define REMOTE_REMOTE_START_H

#include "base/buf.h"
#include "base/error.h"
#include "sandbox/command_run.h"

/* Appends the parameters as JSON. ERR_unsupported: the policy cannot be expressed; ERR_limit: they do not fit. */
must_check int remote_start_write(struct buf *out, const char *id, const struct command_run_spec *spec,
                                  struct error *err);
/* As remote_start_write, for a command without effect in the same sandbox. */
must_check int remote_start_write_probe(struct buf *out, const struct command_run_spec *spec, struct error *err);

#endif
