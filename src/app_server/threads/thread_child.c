/* The thread of a subagent lives as long as a Codex that the engine owns, and has the watchers of its parent. It has
 * no thread/started: clients learn of it from its first status notification. */
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/threads/notify.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"

static void on_event(const struct event *event, void *self)
{
	notify_event(self, event);
}

/* {"thread_spawn":{…}}, as in its rollout. */
static struct app_session_source *describe(const struct codex_child *about, struct arena *arena)
{
	struct app_session_source *ret = arena_new(arena, struct app_session_source);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_key(&w, "thread_spawn");
	jw_object(&w);
	jw_member_cstr(&w, "parent_thread_id", about->parent_thread_id);
	jw_member_i64(&w, "depth", about->depth);
	jw_member_cstr(&w, "agent_path", NULL);
	jw_member_cstr(&w, "agent_nickname", about->nickname);
	jw_member_cstr(&w, "agent_role", NULL);
	jw_object_end(&w);
	jw_object_end(&w);
	ret->tag = app_session_source_sub_agent;
	ret->sub_agent = arena_new(arena, struct app_session_source_sub_agent);
	ret->sub_agent->source = arena_str(arena, buf_str(&text));
	return ret;
}

static void create(struct codex *child, const struct codex_child *about, struct thread *root)
{
	static const struct app_thread_start_params no_wishes;
	struct thread *parent = threads_find(root->server, str_of(about->parent_thread_id));
	struct thread *thread = xnew(struct thread);
	snprintf(thread->id, sizeof(thread->id), "%s", about->thread_id);
	thread->server = root->server;
	thread->root = root;
	thread->codex = child;
	thread->config = config_ref(root->config);
	thread->source = describe(about, &thread->origin_arena);
	thread->originator = xstrdup(root->originator);
	thread->client_version = xstrdup(root->client_version);
	thread->is_ephemeral = root->is_ephemeral;
	thread->opening.wishes = &no_wishes;
	thread->created_at = thread->updated_at = clock_unix_ms() / 1000;
	thread_items_init(&thread->items);
	list_append(&root->server->threads->all, &thread->link);
	threads_add(thread);
	codex_listen(child, on_event, thread);
	parent = parent ? parent : root;
	for (size_t i = 0; i < parent->watchers.count; i++)
		thread_watch(thread, parent->watchers.items[i].connection);
}

static void unload(struct thread *thread)
{
	struct app_thread_status status = {.tag = app_thread_status_not_loaded};
	struct app_thread_status_changed_notification event = {str_of(thread->id), &status};
	thread_notify(thread, NOTIFY_thread_status_changed, &event);
	thread_destroy(thread);
}

void thread_on_child(struct codex *child, const struct codex_child *about, void *self)
{
	struct thread *root = self, *it;
	if (about) {
		create(child, about, root);
		return;
	}
	list_for_each(it, &root->server->threads->all, link) {
		if (it->root == root && it->codex == child) {
			unload(it);
			return;
		}
	}
}
