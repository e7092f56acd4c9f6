/* skill_hints.h — skills/changed: tells clients that a list of skills may be another now.
 *
 * Watched are the folders that lists were asked for (the last LIMIT_SKILL_HINTS of them); threads tell of theirs.
 * Several hints at a time are one. Owns: watches and a timer. Loop thread only. */
#ifndef APP_SERVER_SKILL_HINTS_H
#define APP_SERVER_SKILL_HINTS_H

struct app_server;
struct skill_hints;
struct skill_places;
struct skills_list_entry;

/* Somebody knows these skills now. */
void skill_hints_watch(struct app_server *server, const struct skill_places *places,
                       const struct skills_list_entry *entry);
/* Something has changed: clients are told soon. */
void skill_hints_change(struct app_server *server);
void skill_hints_destroy(struct skill_hints *hints); /* NULL is fine */

#endif
