/* item_legacy.h — the events that reported an item before items existed: user_message, agent_message, …
 *
 * The engine emits each fact once, as an item. Clients of the older protocol and older readers of rollouts expect
 * the legacy events as well; this translation produces them for both. Owns: nothing. Thread: any. */
#ifndef PROTOCOL_ITEM_LEGACY_H
#define PROTOCOL_ITEM_LEGACY_H

struct event_msg;

/* Receives one legacy event, which is valid during the call. */
typedef void (*item_legacy_fn)(const struct event_msg *event, void *self);

/* Calls emit with the legacy events of an item_started, an item_completed or an item's delta, in order. Other
 * events, and items that the older protocol lacks, such as plans, have none. */
void item_legacy_translate(const struct event_msg *event, item_legacy_fn emit, void *self);

#endif
