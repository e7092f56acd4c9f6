/* token_command.h — tokens printed by the program of a provider's auth.command.
 *
 * A token is cached, and replaced when it has reached its age or a server has refused it. Requests for the same command
 * share its token and its run. The program gets this program's environment and no input. It has failed if it does not
 * exit with status 0 in time, or prints more than LIMIT_TOKEN_OUTPUT bytes or something that is not a token; it is then
 * terminated with all its descendants. A token that has reached its age is used on if it cannot be replaced. Tokens are
 * kept in memory only and appear in no error.
 *
 * Owns: the programs that run. Borrows: the loop. Thread: loop only. No callback runs inside a call to this module. */
#ifndef ACCOUNT_TOKEN_COMMAND_H
#define ACCOUNT_TOKEN_COMMAND_H

#include "account/account_token.h"

struct auth_command;
struct loop;
struct token_commands;
struct token_request;

struct token_commands *token_commands_create(struct loop *loop);
/* Terminates the programs and ends all requests without on_done. Must not be called in their callbacks. NULL is a
 * no-op. */
void token_commands_destroy(struct token_commands *commands);

/* Requests a token other than `refused`, which a server has refused; STR_NONE: any. Everything is copied. The result is
 * valid until on_done or token_request_cancel. Never NULL. */
struct token_request *token_command_get(struct token_commands *commands, const struct auth_command *command,
                                        struct str refused, account_fn on_done, void *self);
void token_request_cancel(struct token_request *request); /* NULL is a no-op; the program continues */

#endif
