/* history_notes.h — what the terminal shows of a stored thread besides the app-server's items: checklists, the reasons
 * of denials, and the names of subagents.
 *
 * Owns: nothing; all results live in the arena. Any thread, one at a time. */
#ifndef APP_SERVER_HISTORY_NOTES_H
#define APP_SERVER_HISTORY_NOTES_H

#include "base/arena.h"
#include "base/vec.h"

struct app_thread_item;
struct json;
struct rollout_reader;

/* A call that changed the checklist, or asked the user, which is no item of the app-server. */
struct history_checklist {
	size_t turn, item;    /* it comes before this item of this turn */
	size_t record;        /* its record in the reader */
	struct str arguments; /* JSON, as the model wrote it */
	struct str answers;   /* JSON: of the user; STR_NONE: it is a checklist */
	struct str call_id;
	bool is_accepted; /* the tool's output says so; others are left out */
	bool is_question; /* to the user */
	bool is_update;   /* an event of the engine: of a call in a script, unless a call of the model turns up */
};

struct history_name {
	struct str thread_id, name; /* of a subagent */
};

/* The output of a call that may be the reason why its command was declined. */
struct history_reason {
	size_t turn;
	struct str call_id, text; /* its first line; empty if the user declined it */
};

struct history_notes {
	const struct history_checklist *checklists; /* oldest first */
	size_t checklist_count;
	const struct history_reason *reasons; /* oldest first */
	size_t reason_count;
	const struct history_name *names;
	size_t name_count;
};

/* Returns the name of a subagent; STR_NONE if no record has it. */
struct str history_notes_name(const struct history_notes *notes, struct str thread_id);

/* ---- building ---- */

/* Zero-initialised; history_notes_take ends it. */
struct history_notes_builder {
	VEC(struct history_checklist) checklists;
	VEC(struct history_reason) reasons;
	VEC(struct history_name) names;
	size_t placed;   /* number of checklists whose place is final */
	size_t accepted; /* an output accepts this one or a later one */
};

/* agents: receiver_agents of a recorded call. */
void history_notes_add_names(struct history_notes_builder *builder, const struct json *agents, struct arena *arena);
/* Adds a checklist if the item is a call that changes it, or accepts it if the item is the output, or adds the reason
 * of a denial; at: its place, without the arguments. */
void history_notes_add_call(struct history_notes_builder *builder, const struct rollout_reader *reader,
                            const struct json *item, struct arena *arena, struct history_checklist at);
/* Adds the checklist of a plan_update event. A call of the model has one, too; the call is kept, as its place is exact.
 */
void history_notes_add_update(struct history_notes_builder *builder, const struct json *event, struct arena *arena,
                              struct history_checklist at);
/* To be called when a turn ends; its records begin at first_record. */
void history_notes_place(struct history_notes_builder *builder, const struct rollout_reader *reader,
                         size_t first_record, const struct app_thread_item *items, size_t count);
struct history_notes history_notes_take(struct history_notes_builder *builder, struct arena *arena);

#endif
