/* Requests of subagents are shown with those of their root, and answered to the thread that has asked. */
#include "app_server/threads/thread_attach.h"

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_ask.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/threads.h"
#include "attach/attach_frame.h"
#include "attach/attach_point.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"

static bool is_of(const struct thread *thread, const struct thread *root)
{
	return thread == root || thread->root == root;
}

/* Returns the thread that has asked; NULL: it was unloaded since. */
static struct thread *loaded(struct thread *root, const void *asker)
{
	struct thread *it;
	list_for_each(it, &root->server->threads->all, link) {
		if (it == asker && is_of(it, root))
			return it;
	}
	return NULL;
}

static int submit(struct str id, const struct op *op, void *asker, void *self, struct error *err)
{
	struct thread *thread = asker ? loaded(self, asker) : self;
	if (!thread)
		return error_set(err, ERR_invalid, "the subagent that has asked is not loaded any more");
	return codex_submit_op(thread->codex, id, op, err);
}

/* The id of an elicitation is a JSON text. */
static bool is_quoted(struct str id)
{
	return id.len > 1 && id.ptr[0] == '"' && id.ptr[id.len - 1] == '"';
}

static void on_answered(const struct event *event, uint64_t seq, void *asker, void *self)
{
	struct thread *thread = loaded(self, asker);
	struct str request = attach_request_id(event);
	(void)seq;
	if (thread)
		thread_asks_forget(thread, is_quoted(request) ? str_n(request.ptr + 1, request.len - 2) : request);
}

static void on_count(size_t count, void *self)
{
	if (!count)
		thread_unload_when_idle(self);
}

static void create(struct thread *thread)
{
	static const struct attach_owner owner = {.submit = submit, .on_answered = on_answered, .on_count = on_count};
	struct thread *it;
	size_t count = 0;
	list_for_each(it, &thread->server->threads->all, link)
		count += it->attach != NULL;
	if (count < ATTACHABLE_MAX)
		thread->attach = attach_point_create(thread->server->loop, config_home(thread->config), "app-server",
		                                     &owner, thread);
}

void thread_attach_event(struct thread *thread, const struct event *event)
{
	struct str request = attach_request_id(event);
	struct thread *root = thread->root ? thread->root : thread;
	if (!thread->server->is_attachable || root->is_ephemeral)
		return;
	if (event->msg.tag == EV_session_configured && thread == root && !thread->attach)
		create(thread);
	if (!root->attach || (thread != root && !request.ptr))
		return;
	auto_buf struct buf name;
	buf_init(&name, LIMIT_LINE);
	if (request.ptr)
		codex_write_asker(root->codex, event->id, &name);
	attach_point_event(root->attach, event, &(struct attach_asker){thread, buf_str(&name)});
}
