/* notify_dynamic.h — calls of tools that the client provides, as items. Private to app_server/. */
#ifndef APP_SERVER_NOTIFY_DYNAMIC_H
#define APP_SERVER_NOTIFY_DYNAMIC_H

#include "base/arena.h"
#include "base/json.h"
#include "protocol/message/app.h"

/* The parts of an answer; those that are none are left out. In the arena. */
struct app_dynamic_tool_call_output_content_item *notify_dynamic_parts(const struct json *list, struct arena *arena,
                                                                       size_t *ret_count);

#endif
