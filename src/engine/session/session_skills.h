/* session_skills.h — the skills of a Session: found for its working folder, told to the model, given when somebody
 * names them. Private to engine/.
 *
 * Looked for when the first Task needs them, and anew when the folder is another or a watch says that files have
 * changed. Owns: what was found, the watch, the lists that are being made for list_skills. Loop thread only.
 * Source: core 7, plan-skills-questions 4. */
#ifndef ENGINE_SESSION_SKILLS_H
#define ENGINE_SESSION_SKILLS_H

#include "base/vec.h"
#include "protocol/record/types.h"

struct buf;
struct session;
struct session_skills;
struct settings;

/* NULL is fine. */
void session_skills_destroy(struct session_skills *skills);

/* Appends what the model is told of them; nothing if there are none. */
void session_skills_describe(struct session *session, const struct settings *settings, struct buf *out);

/* Paths of what a Task has been given already; the texts lie in its arena. */
struct skills_given {
	VEC(struct str) paths;
};

/* The skills that input names or brings, each once a Task: called with each one's message, a JSON item. One that cannot
 * be read is told as a warning. */
typedef void (*session_skill_fn)(struct str item, void *self);
void session_skills_give(struct session *session, const struct settings *settings, const struct user_input *items,
                         size_t count, struct skills_given *given, session_skill_fn on_item, void *self);
void skills_given_finish(struct skills_given *given);

/* Answers list_skills and list_custom_prompts, when a worker has looked. */
void session_skills_list(struct session *session, struct str sub_id, const struct op_list_skills *op);
void session_prompts_list(struct session *session, struct str sub_id);

#endif
