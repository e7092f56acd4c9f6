/* config_write.h — a change to the user's config.toml on behalf of a request: edited, checked as the next start would
 * check it, written atomically by a worker, and answered.
 *
 *     struct config_write *write = config_write_create(request);
 *     if (config_write_open(write, …) != 0 || config_write_edit(write, …) != 0)
 *             return config_write_refuse(write);
 *     return config_write_commit(write, reply);
 *
 * Each of the last two destroys it. If another process has changed the file in between, the request's handler runs
 * again, with another config_write, even if its client has left: no change is lost. The handler may answer only
 * through the config_write then.
 * Loop thread only. */
#ifndef APP_SERVER_CONFIG_WRITE_H
#define APP_SERVER_CONFIG_WRITE_H

#include "app_server/rpc/rpc_request.h"
#include "base/error.h"

struct config;
struct config_write;
struct toml;

struct config_write *config_write_create(struct rpc_request *request);
/* Reads the file. file and version are what the client expects; STR_NONE accepts any. */
must_check int config_write_open(struct config_write *write, struct str file, struct str version);
/* Sets a value. key_path: dotted keys, of which those that contain dots are quoted. value: JSON; null removes the
 * key. */
must_check int config_write_edit(struct config_write *write, struct str key_path, struct str value, bool is_merge);
/* As config_write_edit, with valid keys and a valid value; NULL removes the key. */
must_check int config_write_set(struct config_write *write, const struct str *path, size_t count,
                                const struct toml *value);
/* Returns the user's file with the edits so far. */
const struct toml *config_write_root(const struct config_write *write);
/* Sets the subject of the change for the reply; it must live as long as the request. */
void config_write_name(struct config_write *write, struct str subject);
struct str config_write_subject(const struct config_write *write);
/* Fails with an error of the caller. The result is always negative. */
int config_write_fail(struct config_write *write, const char *code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum rpc_verdict config_write_refuse(struct config_write *write);
/* Checks all changes together. reply is called when they are on disk; its config includes the changes. */
typedef void (*config_write_reply_fn)(struct config_write *write, struct rpc_request *request,
                                      const struct config *config);
enum rpc_verdict config_write_commit(struct config_write *write, config_write_reply_fn reply);

/* Sends the response of config/value/write and config/batchWrite. */
void config_write_reply(struct config_write *write, struct rpc_request *request, const struct config *config);

#endif
