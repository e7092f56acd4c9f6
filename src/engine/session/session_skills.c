/* A task looks for skills on the loop, as for AGENTS.md, because its turn needs them; without skills the search
 * takes a few system calls. A list for a user interface may cover many folders, so a worker builds it. */
#include "engine/session/session_skills.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "engine/history/history_item.h"
#include "loop/loop.h"
#include "skill/custom_prompt.h"
#include "skill/skill_brief.h"
#include "skill/skill_scan.h"
#include "skill/skill_watch.h"

struct session_skills {
	struct session *session;
	struct skill_places *places;
	uint64_t roots_generation;      /* generation of the shared roots in `places` */
	struct skills_list_entry entry; /* allocated in the arena */
	struct arena arena;
	struct skill_watch *watch;
	struct skill_brief_cut warned_cut; /* the omissions of the list that the user was warned of */
	bool is_stale;                     /* files may have changed since the last scan */
	struct list lists;
};

/* A list that a worker builds for the UI. */
struct list_request {
	struct list link;
	struct session_skills *skills; /* NULL: the session was destroyed while a worker read prompts */
	struct skill_scan_job *scan;   /* NULL: the list is one of prompts */
	char *sub_id;
	char *home;
	struct ev_list_custom_prompts prompts;
	struct arena arena;
};

static void on_change(void *self)
{
	struct session_skills *skills = self;
	skills->is_stale = true;
	session_emit(skills->session, STR(""), EV_skills_update_available, NULL);
}

/* Refreshes the places: a client may have changed the roots, which all sessions of the process share. */
static void take_places(struct session_skills *skills)
{
	const struct session_env *env = skills->session->env;
	const struct skill_roots *roots = env->skill_roots;
	if (skills->places && skills->roots_generation == roots->generation)
		return;
	skill_places_destroy(skills->places);
	skills->places = skill_places_create(env->config, roots->paths.items, roots->paths.count);
	skills->roots_generation = roots->generation;
	skills->is_stale = true;
}

static struct session_skills *get(struct session *session)
{
	if (!session->skills) {
		session->skills = xnew(struct session_skills);
		session->skills->session = session;
		list_init(&session->skills->lists);
	}
	take_places(session->skills);
	return session->skills;
}

static void look(struct session_skills *skills, struct str cwd)
{
	struct loop *loop = skills->session->env->loop;
	arena_finish(&skills->arena);
	skills->entry = skill_scan(skills->places, cwd, &skills->arena);
	skills->is_stale = false;
	skill_watch_destroy(skills->watch);
	skills->watch = skill_watch_create(loop, skills->places, &skills->entry, on_change, skills);
}

static const struct skills_list_entry *find(struct session *session, const char *cwd)
{
	struct session_skills *skills = get(session);
	if (skills->is_stale || !str_is(skills->entry.cwd, cwd))
		look(skills, str_of(cwd));
	return &skills->entry;
}

static void request_destroy(struct list_request *request)
{
	list_remove(&request->link);
	arena_finish(&request->arena);
	free(request->sub_id);
	free(request->home);
	free(request);
}

static void request_cancel(struct list_request *request)
{
	if (request->scan) {
		skill_scan_cancel(request->scan);
		request_destroy(request);
		return;
	}
	list_remove(&request->link);
	request->skills = NULL; /* on_prompts frees the request */
}

void session_skills_destroy(struct session_skills *skills)
{
	struct list_request *it;
	if (!skills)
		return;
	list_for_each(it, &skills->lists, link)
		request_cancel(it);
	skill_watch_destroy(skills->watch);
	skill_places_destroy(skills->places);
	arena_finish(&skills->arena);
	free(skills);
}

/* Warns when the omissions of the list change; the list is written for each task. */
static void warn_cut(struct session *session, struct skill_brief_cut cut)
{
	struct skill_brief_cut *warned = &session->skills->warned_cut;
	bool is_new = cut.shortened != warned->shortened || cut.left_out != warned->left_out;
	*warned = cut;
	if (is_new && cut.left_out)
		session_warn(session, STR(""),
		             "The list of skills for the model has room for %d bytes: %zu skills are left out and %zu "
		             "descriptions are shortened. Disable the skills that are not needed ([[skills.config]]).",
		             LIMIT_SKILL_LIST, cut.left_out, cut.shortened);
	else if (is_new && cut.shortened)
		session_warn(session, STR(""),
		             "The list of skills for the model has room for %d bytes: %zu descriptions are shortened. "
		             "Disable the skills that are not needed ([[skills.config]]).",
		             LIMIT_SKILL_LIST, cut.shortened);
}

void session_skills_describe(struct session *session, const struct settings *settings, struct buf *out)
{
	if (session->env->config->skills.include_instructions)
		warn_cut(session, skill_brief_write(find(session, settings->cwd), out));
}

/* ---- skills that the input chooses ---- */

struct giver {
	struct session *session;
	struct skills_given *given;
	session_skill_fn on_item;
	void *self;
};

static bool is_given(const struct skills_given *given, struct str path)
{
	vec_for_each(it, &given->paths) {
		if (str_eq(*it, path))
			return true;
	}
	return false;
}

static void on_chosen(const struct skill_metadata *skill, void *self)
{
	struct giver *giver = self;
	struct error err;
	auto_buf struct buf file, text, item;
	buf_init(&file, LIMIT_SKILL_FILE);
	buf_init(&text, (size_t)LIMIT_SKILL_FILE * 3 + 64 * KIB);
	buf_init(&item, (size_t)LIMIT_SKILL_FILE * 18 + MIB);
	if (is_given(giver->given, skill->path) || giver->given->paths.count >= LIMIT_SKILLS_CHOSEN)
		return;
	vec_push(&giver->given->paths, str_copy(skill->path));
	if (file_read_regular(skill->path.ptr, &file, &err) != 0) {
		session_warn(giver->session, STR(""), "Failed to load skill %.*s at %.*s: %s", STR_ARG(skill->name),
		             STR_ARG(skill->path), err.text);
		return;
	}
	skill_brief_write_file(skill, buf_str(&file), &text);
	text_message_write(&item, "user", buf_str(&text));
	giver->on_item(buf_str(&item), giver->self);
}

void session_skills_give(struct session *session, const struct settings *settings, const struct user_input *items,
                         size_t count, struct skills_given *given, session_skill_fn on_item, void *self)
{
	struct giver giver = {session, given, on_item, self};
	const struct skills_list_entry *entry = find(session, settings->cwd);
	for (size_t i = 0; i < count; i++) {
		const struct skill_metadata *skill =
			items[i].tag == user_input_skill ? skill_find(entry, items[i].skill->path) : NULL;
		if (skill)
			on_chosen(skill, &giver);
	}
	for (size_t i = 0; i < count; i++) {
		if (items[i].tag == user_input_text)
			skill_mention_each(entry, items[i].text->text, on_chosen, &giver);
	}
}

void skills_given_finish(struct skills_given *given)
{
	vec_for_each(it, &given->paths)
		str_free(it);
	vec_finish(&given->paths);
}

/* ---- lists for the UI ---- */

static struct list_request *request_create(struct session_skills *skills, struct str sub_id)
{
	struct list_request *request = xnew(struct list_request);
	request->skills = skills;
	request->sub_id = str_dup(sub_id);
	list_append(&skills->lists, &request->link);
	return request;
}

static void on_listed(struct skills_list_entry *entries, size_t count, void *self)
{
	struct list_request *request = self;
	struct ev_list_skills event = {entries, count};
	session_emit(request->skills->session, str_of(request->sub_id), EV_list_skills_response, &event);
	request_destroy(request);
}

void session_skills_list(struct session *session, struct str sub_id, const struct op_list_skills *op)
{
	struct session_skills *skills = get(session);
	struct list_request *request = request_create(skills, sub_id);
	struct str own = str_of(session->settings->cwd);
	request->scan = skill_scan_start(session->env->loop, skills->places, op->cwds_count ? op->cwds : &own,
	                                 op->cwds_count ? op->cwds_count : 1, on_listed, request);
	find(session, session->settings->cwd); /* this starts the watch, which reports changes */
}

static void read_prompts(void *self)
{
	struct list_request *request = self;
	request->prompts = custom_prompt_list(request->home, &request->arena);
}

static void on_prompts(void *self)
{
	struct list_request *request = self;
	if (request->skills)
		session_emit(request->skills->session, str_of(request->sub_id), EV_list_custom_prompts_response,
		             &request->prompts);
	request_destroy(request);
}

void session_prompts_list(struct session *session, struct str sub_id)
{
	struct list_request *request = request_create(get(session), sub_id);
	request->home = xstrdup(config_home(session->env->config));
	worker_run(session->env->loop, read_prompts, on_prompts, request);
}
