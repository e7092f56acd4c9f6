/* The subagents of a session. One of them can take the place of the main thread: what it has said is read from its
 * rollout, and its events become cells then, as those of the main thread do otherwise. Events of threads that are not
 * shown change their state only; when a thread is shown again, its rollout has what happened meanwhile. */
#include <stdio.h>
#include <sys/stat.h>

#include "attach/attach_frame.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "protocol/message/message.h"
#include "rollout/rollout_list.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cell_note.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

enum { AGENTS_MAX = CHOICES_MAX - 1 };

/* ---- the list ---- */

static struct tui_agent *find(struct tui *tui, const char *thread_id)
{
	vec_for_each(it, &tui->agents) {
		if (strcmp((*it)->thread_id, thread_id) == 0)
			return *it;
	}
	return NULL;
}

/* Returns the agent with this id, which is added if necessary; NULL: there are too many. */
static struct tui_agent *get(struct tui *tui, const char *thread_id)
{
	struct tui_agent *agent = find(tui, thread_id);
	if (agent || tui->agents.count >= AGENTS_MAX)
		return agent;
	agent = xnew(struct tui_agent);
	agent->tui = tui;
	agent->thread_id = xstrdup(thread_id);
	vec_push(&tui->agents, agent);
	return agent;
}

static const char *name_of(const struct tui_agent *agent)
{
	return agent->name ? agent->name : "subagent";
}

static void set_name(struct tui_agent *agent, struct str name)
{
	if (agent->name || !name.len)
		return;
	agent->name = str_dup(name);
}

void tui_agent_spawned(struct tui *tui, const struct ev_collab_spawn_end *spawn)
{
	auto_free char *id = str_dup(spawn->new_thread_id);
	struct tui_agent *agent = *id ? get(tui, id) : NULL;
	if (agent)
		set_name(agent, spawn->new_agent_nickname);
}

/* ---- events ---- */

static void on_event(const struct event *event, void *self)
{
	struct tui_agent *agent = self;
	struct tui *tui = agent->tui;
	if (event->msg.tag == EV_task_started) {
		agent->is_running = true;
		agent->started_ms = clock_now_ms();
		tui_tick_start(tui);
	} else if (event->msg.tag == EV_task_complete || event->msg.tag == EV_turn_aborted) {
		agent->is_running = false;
	} else if (attach_request_id(event).ptr) { /* the main thread emits it, too, and it is answered there */
		return;
	}
	if (tui->watched == agent)
		tui_cells_event(tui->cells, event);
	tui_frame_change(tui->frame);
}

void tui_agents_on_child(struct codex *child, const struct codex_child *about, void *self)
{
	struct tui *tui = self;
	struct tui_agent *agent = about ? get(tui, about->thread_id) : NULL;
	if (agent) {
		agent->codex = child;
		set_name(agent, about->nickname ? str_of(about->nickname) : STR(""));
		if (about->role && !agent->role)
			agent->role = xstrdup(about->role);
		codex_listen(child, on_event, agent);
	}
	vec_for_each(it, &tui->agents) {
		if (about || (*it)->codex != child)
			continue;
		(*it)->codex = NULL;
		(*it)->is_running = false;
	}
}

void tui_agents_forget(struct tui *tui)
{
	vec_for_each(it, &tui->agents) {
		struct tui_agent *agent = *it;
		if (agent->codex)
			codex_listen(agent->codex, NULL, NULL);
		free(agent->thread_id);
		free(agent->name);
		free(agent->role);
		free(agent);
	}
	tui->agents.count = 0;
	tui->watched = NULL;
}

/* ---- the thread that is shown ---- */

/* Returns the path of a thread's rollout, or NULL. agent: NULL for the main thread. */
static char *path_of(const struct tui *tui, const struct tui_agent *agent)
{
	const char *path = agent && agent->codex ? codex_record_path(agent->codex) : NULL;
	if (!agent)
		path = tui_engine_path(tui);
	if (path || !agent)
		return path ? xstrdup(path) : NULL;
	return rollout_list_find_id(config_home(tui->config), str_of(agent->thread_id), NULL);
}

char *tui_shown_path(const struct tui *tui)
{
	return path_of(tui, tui->watched);
}

static uint64_t size_of(const char *path)
{
	struct stat info;
	return path && stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static uint64_t *seen_of(struct tui *tui, struct tui_agent *agent)
{
	return agent ? &agent->seen : &tui->seen;
}

/* Writes what the thread has done since it was shown last, or its end. */
static void replay(struct tui *tui, struct tui_agent *agent)
{
	auto_free char *path = path_of(tui, agent);
	struct tui_page *page = tui_cells_begin(tui->cells);
	uint64_t seen = *seen_of(tui, agent), size = size_of(path);
	struct error err;
	int status = 0;
	if (size && !seen)
		status = tui_replay_end(path, size, false, page, &err);
	else if (size > seen)
		status = tui_replay_since(path, seen, page, &err);
	if (status != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
}

static void show(struct tui *tui, struct tui_agent *agent)
{
	auto_buf struct buf text;
	auto_free char *old = tui_shown_path(tui);
	buf_init(&text, LIMIT_LINE);
	if (agent == tui->watched)
		return;
	*seen_of(tui, tui->watched) = size_of(old);
	tui_cells_leave(tui->cells);
	tui_handle_early(tui);
	tui->watched = agent;
	if (agent)
		buf_printf(&text, "Watching %s (%s)%s", name_of(agent), agent->thread_id,
		           agent->codex ? ""
		           : tui->link
		                   ? ": it runs elsewhere, and this is what it has recorded; what comes is shown when "
		                     "you come back to it"
		                   : ": it is not loaded, and this is what it did");
	else
		buf_append_c(&text, "Main thread");
	tui_cells_note(tui->cells, buf_str(&text));
	replay(tui, agent);
	tui_frame_change(tui->frame);
}

void tui_agents_show_main(struct tui *tui)
{
	show(tui, NULL);
}

bool tui_agents_step(struct tui *tui, int by)
{
	ptrdiff_t count = (ptrdiff_t)tui->agents.count + 1, at = 0; /* 0: the main thread */
	for (ptrdiff_t i = 1; i < count; i++)
		at = tui->agents.items[i - 1] == tui->watched ? i : at;
	at = (at + by + count) % count;
	show(tui, at ? tui->agents.items[at - 1] : NULL);
	return count > 1;
}

bool tui_shows_running(const struct tui *tui)
{
	return tui->watched ? tui->watched->is_running : tui->is_running;
}

uint64_t tui_shows_since(const struct tui *tui)
{
	return tui->watched ? tui->watched->started_ms : tui->started_ms;
}

/* ---- input for a subagent ---- */

static void submit(struct tui *tui, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	struct error err;
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	if (!tui->watched->codex)
		tui_cells_fail(tui->cells,
		               tui->link ? STR("this subagent runs elsewhere: do this in the terminal of its session; "
		                               "alt-left goes back to the main thread")
		                         : STR("this subagent is not loaded; alt-left goes back to the main thread"));
	else if (codex_submit_op(tui->watched->codex, str_of(id), &op, &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
	tui_frame_change(tui->frame);
}

void tui_agents_interrupt(struct tui *tui)
{
	submit(tui, OP_interrupt, NULL);
}

void tui_agents_send(struct tui *tui, struct op_user_input *input)
{
	submit(tui, OP_user_input, input);
}

void tui_agents_append(const struct tui *tui, struct buf *out)
{
	if (tui->watched)
		buf_printf(out, " · Watching %s (alt-left, alt-right)", name_of(tui->watched));
}

/* ---- the command ---- */

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	if (chosen->at >= 0 && (size_t)chosen->at <= tui->agents.count)
		show(tui, chosen->at ? tui->agents.items[chosen->at - 1] : NULL);
}

/* Returns "NAME [ROLE] (current)"; owned by the caller. */
static char *label_of(const char *name, const char *role, bool is_current)
{
	return xasprintf("%s%s%s%s%s", name, role ? " [" : "", role ? role : "", role ? "]" : "",
	                 is_current ? " (current)" : "");
}

void on_slash_subagents(struct tui *tui, struct str text)
{
	size_t count = tui->agents.count, current = 0;
	auto_free struct tui_choice *items = xcalloc(count + 1, sizeof(*items));
	(void)text;
	items[0].label = label_of("Main", "default", !tui->watched);
	for (size_t i = 1; i <= count; i++) {
		const struct tui_agent *agent = tui->agents.items[i - 1];
		current = agent == tui->watched ? i : current;
		items[i] = (struct tui_choice){.label = label_of(name_of(agent), agent->role, i == current),
		                               .about = agent->thread_id};
	}
	struct tui_choices what = {.title = STR("Subagents\n"),
	                           .items = items,
	                           .count = count + 1,
	                           .current = current,
	                           .hint = "  enter watches it · esc back",
	                           .on_chosen = on_chosen,
	                           .self = tui};
	if (count)
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
	else
		tui_cells_note(tui->cells, STR("This session has no subagents"));
	for (size_t i = 0; i <= count; i++)
		free((char *)items[i].label);
}

void on_slash_agent(struct tui *tui, struct str text)
{
	on_slash_subagents(tui, text);
}

void on_slash_agents(struct tui *tui, struct str text)
{
	on_slash_subagents(tui, text);
}
