/* item_legacy.h — the events that reported an item before items existed: user_message, agent_message, …
 *
 * The engine emits each fact once, as an item. Clients of the older protocol and older readers of rollouts expect the
 * legacy events as well; both take them from this translation. Owns: nothing. Thread: any. */
#ifndef PROTOCOL_ITEM_LEGACY_H
#define PROTOCOL_ITEM_LEGACY_H

struct event_msg;

/* Receives one legacy event, which is valid during the call. */
typedef void (*item_legacy_fn)(const struct event_msg *event, void *self);

/* Calls emit with the legacy events of an item_started, an item_completed or a delta of an item, in their order; not at
 * all for other events and for items that the older protocol lacks, such as plans. */
void item_legacy_translate(const struct event_msg *event, item_legacy_fn emit, void *self);

#endif
