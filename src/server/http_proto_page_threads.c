/* GET /v1/threads: a page of the stored sessions. Files are read on a worker; a client that leaves meanwhile is
 * forgotten, and the reading continues to its end. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http_server.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"
#include "server/server_limits.h"

struct threads_job {
	struct list link;
	struct http_exchange *exchange; /* NULL: the client is gone */
	struct http_page_options options;
	size_t limit;
	char *cursor;
	struct str open[LIMIT_KEPT_SESSIONS]; /* owned copies */
	size_t open_count;
	struct buf out;
	struct error err;
	int status;
};

static void on_gone(void *self)
{
	struct threads_job *job = self;
	http_reply_end(job->exchange);
	job->exchange = NULL;
}

static const struct http_exchange_events exchange_events = {.on_gone = on_gone};

static void on_work(void *self)
{
	struct threads_job *job = self;
	job->status = job->options.list_threads(job->limit, str_of(job->cursor), job->open, job->open_count, &job->out,
	                                        job->options.self, &job->err);
}

static void on_done(void *self)
{
	struct threads_job *job = self;
	struct http_request request = {.exchange = job->exchange};
	list_remove(&job->link);
	if (job->exchange && job->status == 0)
		http_request_answer(&request, 200, buf_str(&job->out), NULL, 0);
	else if (job->exchange)
		http_request_refuse(&request, job->err.code == ERR_invalid ? 400 : 500, job->err.text);
	for (size_t i = 0; i < job->open_count; i++)
		str_free(&job->open[i]);
	buf_finish(&job->out);
	free(job->cursor);
	free(job);
}

void http_page_detach_jobs(struct http_page *page)
{
	struct threads_job *it;
	list_for_each(it, &page->jobs, link) {
		list_remove(&it->link);
		if (it->exchange)
			on_gone(it);
	}
}

static bool read_query(const struct http_request *request, struct threads_job *job)
{
	struct str rest = request->query, pair, cursor = STR_NONE;
	auto_buf struct buf decoded;
	uint64_t limit = 50;
	buf_init(&decoded, LIMIT_HTTP_HEAD);
	while (str_next_part(&rest, '&', &pair)) {
		if (str_cut_prefix(&pair, "cursor="))
			cursor = pair;
		else if (str_cut_prefix(&pair, "limit=") &&
		         (!str_to_u64(pair, &limit) || !limit || limit > LIMIT_PAGE_THREADS))
			return false;
	}
	text_append_url_decoded(&decoded, cursor);
	job->limit = limit;
	job->cursor = str_dup(buf_str(&decoded));
	return true;
}

void on_route_page_threads(struct http_request *request)
{
	struct threads_job *job = xnew(struct threads_job);
	struct http_page *page = request->proto->page;
	struct http_session *it;
	if (!read_query(request, job)) {
		free(job);
		http_request_refuse(request, 400, "`limit` must be a number from 1 to 100");
		return;
	}
	job->options = page->options;
	job->exchange = request->exchange;
	buf_init(&job->out, LIMIT_PAGE_LIST);
	list_for_each(it, &request->proto->sessions, link) {
		const char *thread = kept_session_thread(it->kept);
		if (thread && job->open_count < countof(job->open))
			job->open[job->open_count++] = str_copy(str_of(thread));
	}
	list_append(&page->jobs, &job->link);
	http_exchange_watch(job->exchange, &exchange_events, job);
	worker_run(request->proto->options.loop, on_work, on_done, job);
}
