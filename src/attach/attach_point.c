/* An event is encoded once for all who are attached. The rollout holds all lines of the events that have left the
 * engine, so its size at the greeting divides what is read there from what is sent. */
#include "attach/attach_point.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach_find.h"
#include "attach/attach_frame.h"
#include "base/file.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "transport/transport_listen.h"
#include "transport/transport_stdio.h"

enum { ATTACHED_MAX = 16, PENDING_MAX = 64, AGENTS_BYTES = 16 * KIB };

struct pending {
	struct event *event;
	uint64_t seq;
	void *asker;
	char *from; /* the name of the subagent that asks, or NULL */
};

struct watcher {
	struct list link;
	struct attach_point *point;
	struct transport *transport;
	bool is_attached; /* it has sent a line: the others only read the greeting, for a list */
	bool has_ended;   /* it is destroyed when the loop runs next */
};

struct attach_point {
	struct loop *loop;
	const struct attach_owner *owner;
	void *self;
	char *home;
	const char *program;
	struct transport_listener *listener;
	struct error failure;
	struct list watchers;
	size_t count, attached;
	struct loop_deferred sweep;
	struct event *configured, *started; /* started: NULL while no turn runs */
	VEC(struct pending) pending;        /* requests */
	uint64_t seq;                       /* of the last one */
	bool is_reporting;                  /* an answer, whose request the owner withdraws in turn */
	struct event *answered;             /* the last one that the owner has answered, whose id its Op may have */
	struct buf line;
	struct buf agents; /* the list of the greeting, without its end; the first ones, of many */
};

/* ---- sending ---- */

static void send_line(struct attach_point *point, struct watcher *only, const struct watcher *except)
{
	struct watcher *it;
	list_for_each(it, &point->watchers, link) {
		if (!it->has_ended && it != except && (!only || it == only))
			transport_send(it->transport, buf_str(&point->line));
	}
	buf_reuse(&point->line);
}

/* request: NULL if the event requests nothing. */
static void send_event(struct attach_point *point, const struct event *event, const struct pending *request,
                       struct watcher *only)
{
	struct json_writer w = json_writer(&point->line);
	event_encode(event, &w);
	if (request) { /* as the last members */
		buf_truncate(&point->line, point->line.len - 1);
		buf_printf(&point->line, ",\"seq\":%llu", (unsigned long long)request->seq);
		if (request->from) {
			buf_append_c(&point->line, ",\"from\":");
			json_quote(&point->line, str_of(request->from));
		}
		buf_append_char(&point->line, '}');
	}
	buf_append_char(&point->line, '\n');
	send_line(point, only, NULL);
}

static void greet(struct watcher *watcher)
{
	struct attach_point *point = watcher->point;
	const struct ev_session_configured *session = point->configured->msg.session_configured;
	struct attach_greeting greeting = {.session_id = session->session_id,
	                                   .name = session->thread_name,
	                                   .cwd = session->cwd,
	                                   .program = str_of(point->program),
	                                   .rollout = session->rollout_path};
	auto_free char *path = session->rollout_path.ptr ? str_dup(session->rollout_path) : NULL;
	auto_buf struct buf agents;
	struct stat info;
	buf_init(&agents, AGENTS_BYTES + 8);
	buf_printf(&agents, "[%.*s]", STR_ARG(buf_str(&point->agents)));
	greeting.agents = buf_str(&agents);
	if (path && stat(path, &info) == 0)
		greeting.recorded = (uint64_t)info.st_size;
	attach_greeting_write(&greeting, &point->line);
	send_line(point, watcher, NULL);
	send_event(point, point->configured, NULL, watcher);
	if (point->started)
		send_event(point, point->started, NULL, watcher);
	vec_for_each(it, &point->pending)
		send_event(point, it->event, it, watcher);
}

/* ---- requests ---- */

static void drop_pending(struct attach_point *point, size_t at)
{
	event_destroy(point->pending.items[at].event);
	free(point->pending.items[at].from);
	point->pending.count--;
	memmove(&point->pending.items[at], &point->pending.items[at + 1],
	        (point->pending.count - at) * sizeof(*point->pending.items));
}

static struct attach_match match_of(const struct attach_point *point, const struct op *op)
{
	struct attach_match match = {.op = op};
	vec_for_each(it, &point->pending)
		attach_match_add(&match, it->event);
	return match;
}

static bool is_match(struct attach_match match, const struct event *wanted)
{
	return match.found == wanted && !match.is_ambiguous;
}

/* Returns the request with this number if the engine would take the Op for its answer, else NULL. Of several requests
 * with the id of one call it is named by its Task, and of several of a Task by its call. */
static const struct event *find_wanted(const struct attach_point *point, const struct op *op, uint64_t seq)
{
	const struct event *wanted = NULL;
	vec_for_each(it, &point->pending)
		wanted = it->seq == seq ? it->event : wanted;
	if (!wanted || is_match(match_of(point, op), wanted))
		return wanted;
	attach_answer_rename(op, wanted->id);
	if (is_match(match_of(point, op), wanted))
		return wanted;
	attach_answer_rename(op, attach_request_id(wanted));
	return is_match(match_of(point, op), wanted) ? wanted : NULL;
}

/* Takes the answer of `by` (NULL: the owner) to the request with this number, or if it is 0 to the one that it names.
 * False: it is too late. *ret: the request, whose event the caller owns then, or zeroes. */
static bool take_answer(struct attach_point *point, const struct op *op, uint64_t seq, const struct watcher *by,
                        struct pending *ret)
{
	struct attach_match match = match_of(point, op);
	size_t at = 0;
	*ret = (struct pending){0};
	if (!attach_is_answer(op) || (match.is_ambiguous && !seq))
		return true; /* of an ambiguous one the engine warns */
	const struct event *found = seq ? find_wanted(point, op, seq) : match.found;
	if (!found)
		return false;
	while (point->pending.items[at].event != found)
		at++;
	*ret = point->pending.items[at];
	attach_answered_write(found, ret->seq, &point->line);
	point->pending.items[at].event = NULL;
	drop_pending(point, at);
	send_line(point, NULL, by);
	point->is_reporting = true;
	if (by && point->owner->on_answered)
		point->owner->on_answered(found, ret->seq, ret->asker, point->self);
	point->is_reporting = false;
	return true;
}

void attach_point_withdraw(struct attach_point *point, struct str request, const void *asker)
{
	for (size_t i = 0; i < point->pending.count && !point->is_reporting; i++) {
		const struct pending *it = &point->pending.items[i];
		if (!str_eq(attach_request_id(it->event), request) || it->asker != asker)
			continue;
		attach_answered_write(it->event, it->seq, &point->line);
		send_line(point, NULL, NULL);
		drop_pending(point, i);
		return;
	}
}

bool attach_point_answer(struct attach_point *point, const struct op *op, uint64_t seq)
{
	struct pending request = {0};
	bool is_taken = !point || take_answer(point, op, seq, NULL, &request);
	/* the Op may borrow its id from the request, which therefore goes with the next one */
	if (request.event) {
		event_destroy(point->answered);
		point->answered = request.event;
	}
	return is_taken;
}

/* ---- those who are attached ---- */

/* Only the owner ends the session, or replaces it. */
static bool is_allowed(const struct op *op)
{
	return op->tag != OP_shutdown && op->tag != OP_configure_session;
}

static void report(struct watcher *watcher, struct str id, const char *text)
{
	struct ev_error body = {.message = str_of(text)};
	struct event *event = event_create(id, EV_error, &body);
	send_event(watcher->point, event, NULL, watcher);
	event_destroy(event);
}

static void admit(struct watcher *watcher)
{
	struct attach_point *point = watcher->point;
	if (watcher->is_attached)
		return;
	watcher->is_attached = true;
	point->owner->on_count(++point->attached, point->self);
}

static void on_frame(struct str frame, void *self)
{
	struct watcher *watcher = self;
	struct attach_point *point = watcher->point;
	struct error err;
	admit(watcher);
	struct submission *submission = submission_decode(frame, &err);
	if (!submission) {
		report(watcher, STR(""), err.text);
		return;
	}
	const struct op *op = &submission->op;
	struct pending request = {0};
	uint64_t seq = attach_is_answer(op) ? attach_seq(frame) : 0;
	if (!is_allowed(op))
		report(watcher, submission->id, "the terminal in which the session runs must do this");
	else if (take_answer(point, op, seq, watcher, &request) &&
	         point->owner->submit(submission->id, op, request.asker, point->self, &err) != 0)
		report(watcher, submission->id, err.text);
	event_destroy(request.event);
	submission_destroy(submission);
}

static void on_long_frame(struct str head, void *self)
{
	(void)head;
	report(self, STR(""), "a line was too long and was skipped");
}

static void watcher_destroy(struct watcher *watcher, bool flush)
{
	list_remove(&watcher->link);
	transport_destroy(watcher->transport, flush);
	free(watcher);
}

static void on_sweep(void *self)
{
	struct attach_point *point = self;
	size_t before = point->attached;
	struct watcher *it;
	list_for_each(it, &point->watchers, link) {
		if (!it->has_ended)
			continue;
		point->attached -= it->is_attached;
		point->count--;
		watcher_destroy(it, false);
	}
	if (point->attached != before)
		point->owner->on_count(point->attached, point->self);
}

static void on_end(const struct error *err, void *self)
{
	struct watcher *watcher = self;
	(void)err; /* the terminal was closed, or did not read: in both cases it is attached no more */
	watcher->has_ended = true;
	loop_defer(&watcher->point->sweep);
}

static const struct transport_events watcher_events = {on_frame, on_long_frame, on_end, NULL};

static void on_connect(int fd, void *self)
{
	struct attach_point *point = self;
	int twin = point->count < ATTACHED_MAX && host_peer_is_own(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	struct watcher *watcher;
	if (twin < 0) {
		close(fd);
		return;
	}
	watcher = xnew(struct watcher);
	watcher->point = point;
	list_init(&watcher->link);
	watcher->transport = transport_stdio_create(point->loop, fd, twin, &watcher_events, watcher, NULL);
	if (!watcher->transport) {
		free(watcher);
		return;
	}
	list_append(&point->watchers, &watcher->link);
	point->count++;
	greet(watcher);
}

/* ---- events ---- */

static void keep(struct event **at, struct event *event)
{
	event_destroy(*at);
	*at = event;
}

/* The earlier messages are in the rollout. */
static struct event *copy_configured(const struct event *event)
{
	struct ev_session_configured body = *event->msg.session_configured;
	body.initial_messages = STR_NONE;
	return event_create(event->id, EV_session_configured, &body);
}

static void open_socket(struct attach_point *point)
{
	struct error *err = &point->failure;
	if (!point->home) {
		error_set(err, ERR_unsupported, "an ephemeral session writes no files");
		return;
	}
	auto_free char *folder = path_join(point->home, ATTACH_FOLDER);
	auto_free char *path = attach_path(point->home, point->configured->msg.session_configured->session_id);
	auto_free char *address = xasprintf("unix://%s", path);
	if (dir_make(folder, 0700, err) == 0)
		point->listener = transport_listener_create(point->loop, address, on_connect, point, err);
}

static void rename_session(struct attach_point *point, const struct event *event)
{
	struct ev_session_configured body = *point->configured->msg.session_configured;
	body.thread_name = event->msg.thread_name_updated->thread_name;
	keep(&point->configured, event_create(point->configured->id, EV_session_configured, &body));
}

static void forget_requests(struct attach_point *point)
{
	while (point->pending.count)
		drop_pending(point, point->pending.count - 1);
}

/* Requests of subagents, which have other turns, stay. */
static void end_turn(struct attach_point *point, struct str turn)
{
	keep(&point->started, NULL);
	for (size_t i = point->pending.count; i-- > 0;) {
		struct str id = point->pending.items[i].event->id;
		if (!id.len || str_eq(id, turn))
			drop_pending(point, i);
	}
}

static void expire(struct attach_point *point, struct str call_id, struct str task)
{
	for (size_t i = point->pending.count; i-- > 0;) {
		const struct event *event = point->pending.items[i].event;
		if (str_eq(attach_request_id(event), call_id) && str_eq(event->id, task))
			drop_pending(point, i);
	}
}

static void add_request(struct attach_point *point, const struct event *event, const struct attach_asker *asker)
{
	const struct union_head *head = (const struct union_head *)&event->msg;
	if (point->pending.count == PENDING_MAX)
		drop_pending(point, 0);
	struct event *copy = event_create(event->id, event->msg.tag, head->body);
	char *from = asker->name.len ? str_dup(asker->name) : NULL;
	vec_push(&point->pending, (struct pending){copy, ++point->seq, asker->self, from});
}

static void add_agent(struct attach_point *point, const struct ev_collab_spawn_end *spawn)
{
	size_t before = point->agents.len;
	struct json_writer w = json_writer(&point->agents);
	if (!spawn->new_thread_id.len || point->agents.over)
		return;
	buf_append_c(&point->agents, before ? "," : "");
	jw_object(&w);
	jw_member_str(&w, "id", spawn->new_thread_id);
	jw_member_str(&w, "name", spawn->new_agent_nickname.ptr ? spawn->new_agent_nickname : STR(""));
	jw_object_end(&w);
	if (point->agents.over)
		buf_truncate(&point->agents, before);
}

static void remember(struct attach_point *point, const struct event *event, const struct attach_asker *asker)
{
	switch (event->msg.tag) {
	case EV_session_configured:
		keep(&point->configured, copy_configured(event));
		if (!point->listener)
			open_socket(point);
		break;
	case EV_thread_name_updated:
		if (point->configured)
			rename_session(point, event);
		break;
	case EV_task_started:
		keep(&point->started, event_create(event->id, EV_task_started, event->msg.task_started));
		break;
	case EV_collab_agent_spawn_end:
		add_agent(point, event->msg.collab_agent_spawn_end);
		break;
	case EV_task_complete:
	case EV_turn_aborted:
		end_turn(point, event->id);
		break;
	case EV_request_user_input_expired:
		expire(point, event->msg.request_user_input_expired->call_id, event->id);
		break;
	default:
		if (attach_request_id(event).ptr)
			add_request(point, event, asker);
	}
}

uint64_t attach_point_event(struct attach_point *point, const struct event *event, const struct attach_asker *asker)
{
	remember(point, event, asker);
	bool is_request = attach_request_id(event).ptr;
	const struct pending *request = is_request ? &point->pending.items[point->pending.count - 1] : NULL;
	if (point->count)
		send_event(point, event, request, NULL);
	return request ? request->seq : 0;
}

/* ---- the whole ---- */

size_t attach_point_count(const struct attach_point *point)
{
	return point->attached;
}

size_t attach_point_pending(const struct attach_point *point, const struct event **ret, uint64_t *ret_seq)
{
	*ret = point->pending.count ? point->pending.items[0].event : NULL;
	*ret_seq = point->pending.count ? point->pending.items[0].seq : 0;
	return point->pending.count;
}

const struct error *attach_point_failure(const struct attach_point *point)
{
	return point->listener ? NULL : &point->failure;
}

struct attach_point *attach_point_create(struct loop *loop, const char *home, const char *program,
                                         const struct attach_owner *owner, void *self)
{
	struct attach_point *point = xnew(struct attach_point);
	point->loop = loop;
	point->home = home ? xstrdup(home) : NULL;
	point->program = program;
	point->owner = owner;
	point->self = self;
	list_init(&point->watchers);
	loop_deferred_init(&point->sweep, loop, on_sweep, point);
	buf_init(&point->line, LIMIT_STREAM_QUEUE_HARD);
	buf_init(&point->agents, AGENTS_BYTES);
	return point;
}

void attach_point_destroy(struct attach_point *point)
{
	struct watcher *it;
	if (!point)
		return;
	transport_listener_destroy(point->listener);
	list_for_each(it, &point->watchers, link)
		watcher_destroy(it, true);
	loop_deferred_finish(&point->sweep);
	forget_requests(point);
	vec_finish(&point->pending);
	event_destroy(point->answered);
	event_destroy(point->configured);
	event_destroy(point->started);
	buf_finish(&point->line);
	buf_finish(&point->agents);
	free(point->home);
	free(point);
}
