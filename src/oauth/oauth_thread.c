/* The thread leaves its news in the struct and wakes the loop, which takes them. */
#include "oauth/oauth_thread.h"

#include <pthread.h>

#include "base/mem.h"
#include "loop/loop.h"

struct oauth_thread {
	uv_async_t news;
	pthread_t thread;
	struct oauth_login *login;
	const struct oauth_thread_events *events;
	void *self;
	bool is_over; /* oauth_thread_destroy was called */
	pthread_mutex_t lock;
	/* under the lock: */
	char *url; /* not reported yet, or NULL */
	bool has_ended;
	int status;
	struct error err;
};

/* ---- on the thread ---- */

static void on_url(const char *url, void *self)
{
	struct oauth_thread *thread = self;
	pthread_mutex_lock(&thread->lock);
	thread->url = xstrdup(url);
	pthread_mutex_unlock(&thread->lock);
	best_effort(uv_async_send(&thread->news));
}

static void *run(void *self)
{
	struct oauth_thread *thread = self;
	struct error err = {0};
	int status = oauth_login_run(thread->login, &err);
	pthread_mutex_lock(&thread->lock);
	thread->has_ended = true;
	thread->status = status;
	thread->err = err;
	pthread_mutex_unlock(&thread->lock);
	best_effort(uv_async_send(&thread->news));
	return NULL;
}

/* ---- on the loop ---- */

static void on_news(uv_async_t *async)
{
	struct oauth_thread *thread = async->data;
	pthread_mutex_lock(&thread->lock);
	auto_free char *url = steal(thread->url);
	bool has_ended = thread->has_ended;
	struct error err = thread->err;
	int status = thread->status;
	pthread_mutex_unlock(&thread->lock);
	if (url)
		thread->events->on_url(url, thread->self);
	if (has_ended && !thread->is_over)
		thread->events->on_done(status == 0 ? NULL : &err, thread->self);
}

static void on_closed(uv_handle_t *handle)
{
	struct oauth_thread *thread = handle->data;
	pthread_mutex_destroy(&thread->lock);
	free(thread->url);
	free(thread);
}

struct oauth_thread *oauth_thread_start(struct loop *loop, const struct oauth_login_options *options,
                                        const struct oauth_thread_events *events, void *self, struct error *err)
{
	struct oauth_login_options own = *options;
	struct oauth_thread *thread = xnew(struct oauth_thread);
	own.on_url = on_url;
	own.self = thread;
	thread->events = events;
	thread->self = self;
	thread->login = oauth_login_create(&own, err);
	if (!thread->login) {
		free(thread);
		return NULL;
	}
	pthread_mutex_init(&thread->lock, NULL);
	thread->news.data = thread;
	int status = uv_async_init(loop_uv(loop), &thread->news, on_news);
	if (status == 0 && pthread_create(&thread->thread, NULL, run, thread) == 0)
		return thread;
	error_set(err, ERR_io, "cannot start a thread for the login");
	oauth_login_destroy(thread->login);
	if (status == 0)
		uv_close((uv_handle_t *)&thread->news, on_closed);
	else
		free(thread);
	return NULL;
}

void oauth_thread_destroy(struct oauth_thread *thread)
{
	if (!thread || thread->is_over)
		return;
	thread->is_over = true;
	oauth_login_stop(thread->login);
	pthread_join(thread->thread, NULL);
	oauth_login_destroy(thread->login);
	uv_close((uv_handle_t *)&thread->news, on_closed);
}
