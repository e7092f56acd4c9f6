/* thread_history_item.h — decodes single items from the payloads of a rollout. Private to app_server/.
 *
 * Owns: nothing; results live in the arena or borrow from the payload. Any thread. */
#ifndef APP_SERVER_THREAD_HISTORY_ITEM_H
#define APP_SERVER_THREAD_HISTORY_ITEM_H

#include "base/arena.h"
#include "base/json.h"
#include "protocol/message/app.h"

/* Decodes `item` of an item_completed; false for types that the wire does not have. */
bool history_item_decode(const struct json *item, struct arena *arena, struct app_thread_item *ret);
/* Decodes a user_message event. */
struct app_item_user_message *history_item_user(const struct json *payload, struct arena *arena);
/* Decodes a model's call of a command tool; cwd is used unless the call names a folder. NULL for other tools. */
struct app_item_command_execution *history_item_call(const struct json *call, struct str cwd, struct arena *arena);
/* Sets status, exit code and output from the call's output. */
void history_item_finish_call(struct app_item_command_execution *command, const struct json *output,
                              struct arena *arena);

#endif
