/* session_skills.h — the skills of a Session: found for its working folder, listed for the model, added to the
 * history when the user's input chooses them. Private to engine/.
 *
 * The first task scans for them, and a later one scans again if the folder changed or a watch reported changed
 * files. Owns: the skills found, the watch, the pending requests of list_skills. Loop thread only. */
#ifndef ENGINE_SESSION_SKILLS_H
#define ENGINE_SESSION_SKILLS_H

#include "base/vec.h"
#include "protocol/record/types.h"

struct buf;
struct session;
struct session_skills;
struct settings;

/* Cancels pending lists. NULL is a no-op. */
void session_skills_destroy(struct session_skills *skills);

/* Appends the list of skills for the model; nothing if there are no skills. */
void session_skills_describe(struct session *session, const struct settings *settings, struct buf *out);

/* Paths of the skills that are in the history of a task; owned. */
struct skills_given {
	VEC(struct str) paths;
};

/* Calls on_item with the message, a JSON item, of each skill that the input names or contains and that the Task does
 * not have yet. Warns of a skill that cannot be read. */
typedef void (*session_skill_fn)(struct str item, void *self);
void session_skills_give(struct session *session, const struct settings *settings, const struct user_input *items,
                         size_t count, struct skills_given *given, session_skill_fn on_item, void *self);
void skills_given_finish(struct skills_given *given);

/* Emits the answer to list_skills or list_custom_prompts after a worker has read the folders. */
void session_skills_list(struct session *session, struct str sub_id, const struct op_list_skills *op);
void session_prompts_list(struct session *session, struct str sub_id);

#endif
