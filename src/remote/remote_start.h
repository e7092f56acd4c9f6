/* remote_start.h — the parameters of process/start, with which an exec-server starts a command, and those that requests
 * about files share with them. Owns: nothing. Thread: any. */
#ifndef REMOTE_REMOTE_START_H
#define REMOTE_REMOTE_START_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "sandbox/command_run.h"

struct environment;

/* Checks what needs no server. ERR_not_found: the environment is not registered; ERR_unsupported: the policy, which may
 * be NULL, is about this machine. */
must_check int remote_check(const struct environment *environment, const struct sandbox_policy *policy,
                            struct error *err);

/* Appends the parameters as JSON. ERR_limit: they do not fit. The policy must have been checked. */
must_check int remote_start_write(struct buf *out, const char *id, const struct command_run_spec *spec,
                                  struct error *err);
/* As remote_start_write, for a command without effect in the same sandbox. */
must_check int remote_start_write_probe(struct buf *out, const struct sandbox_policy *policy, struct error *err);
/* True if the answer to either says that the process has a sandbox. */
bool remote_start_has_sandbox(const struct json *result);

/* Write a path as a file: URI, and a policy, or null if it needs no sandbox. */
void remote_write_uri(struct json_writer *w, const char *path);
void remote_write_sandbox(struct json_writer *w, const struct sandbox_policy *policy);
/* True if that sandbox lets the path be written, as far as its text shows: links there are not known here. */
bool remote_can_write(const struct sandbox_policy *policy, const char *path);

#endif
