/* The subagents of a session: /subagents lists them, and shows the transcript of the chosen one, which is read from its
 * file, so that no text is kept for it. */
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "rollout/rollout_list.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cell_note.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_pager.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

enum { AGENTS_MAX = CHOICES_MAX - 1 };

void tui_agent_spawned(struct tui *tui, const struct ev_collab_spawn_end *spawn)
{
	if (!spawn->new_thread_id.len || tui->agents.count >= AGENTS_MAX)
		return;
	struct str name = spawn->new_agent_nickname.len ? spawn->new_agent_nickname : STR("subagent");
	vec_push(&tui->agents, (struct tui_agent){.thread_id = str_dup(spawn->new_thread_id),
	                                          .name = str_dup(name),
	                                          .prompt = str_dup(spawn->prompt)});
}

void tui_agents_forget(struct tui *tui)
{
	vec_for_each(agent, &tui->agents) {
		free(agent->thread_id);
		free(agent->name);
		free(agent->prompt);
	}
	tui->agents.count = 0;
}

/* ---- the transcript ---- */

static void fill(struct tui_page *page, void *self)
{
	static const struct tui_look look = {"", TERM_dim, TERM_dim};
	struct tui *tui = self;
	const struct tui_agent *agent = &tui->agents.items[tui->watched];
	struct error err;
	auto_free char *path = rollout_list_find_id(config_home(tui->config), str_of(agent->thread_id), &err);
	page->cwd = tui->cwd;
	tui_page_write(page, &look, str_of(agent->name));
	tui_page_cell(page, &tui_user_look, str_of(agent->prompt));
	if (!path || tui_replay(path, page, &err) != 0)
		tui_page_write(page, &look, str_of(err.text));
}

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	if (chosen->at <= 0) /* the main thread is what the terminal shows */
		return;
	tui->watched = (size_t)chosen->at - 1;
	tui_pager_open(tui, "S U B A G E N T", fill);
}

/* ---- the list ---- */

void on_slash_subagents(struct tui *tui, struct str text)
{
	size_t count = tui->agents.count;
	auto_free struct tui_choice *items = xcalloc(count + 1, sizeof(*items));
	(void)text;
	items[0] = (struct tui_choice){.label = "Main [default] (current)"};
	for (size_t i = 0; i < count; i++)
		items[i + 1] = (struct tui_choice){.label = tui->agents.items[i].name,
		                                   .about = tui->agents.items[i].thread_id};
	struct tui_choices what = {.title = STR("Subagents\n"),
	                           .items = items,
	                           .count = count + 1,
	                           .hint = "  enter shows what it did · esc back",
	                           .on_chosen = on_chosen,
	                           .self = tui};
	if (count)
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
	else
		tui_cells_note(tui->cells, STR("This session has no subagents"));
}

void on_slash_agent(struct tui *tui, struct str text)
{
	on_slash_subagents(tui, text);
}

void on_slash_agents(struct tui *tui, struct str text)
{
	on_slash_subagents(tui, text);
}
