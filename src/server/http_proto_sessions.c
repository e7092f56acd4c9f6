/* The sessions of the server: new ones, resumed ones, and those of other processes. A session reports its end from its
 * own callback, so it is destroyed in the next round of the loop. */
#include <errno.h>

#include "base/error.h"
#include "base/mem.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"
#include "server/server_limits.h"

struct http_session *http_session_find(struct http_proto *proto, struct str id)
{
	struct http_session *it;
	list_for_each(it, &proto->sessions, link) {
		if (!it->is_own && !kept_session_has_ended(it->kept) && str_is(id, kept_session_id(it->kept)))
			return it;
	}
	return NULL;
}

void http_session_destroy(struct http_session *session)
{
	list_remove(&session->link);
	session->proto->session_count--;
	loop_defer(&session->proto->sweep); /* it may be the last one */
	http_page_changed(session->proto->page);
	kept_session_destroy(session->kept);
	free(session->address);
	free(session);
}

void http_sessions_sweep(void *self)
{
	struct http_proto *proto = self;
	struct http_session *it;
	bool has_open = false;
	list_for_each(it, &proto->sessions, link) {
		bool has_ended = it->is_abandoned || kept_session_has_ended(it->kept);
		if (!has_ended)
			has_open = true;
		else if (!kept_session_is_watched(it->kept))
			http_session_destroy(it);
	}
	if (!proto->is_draining || has_open || proto->is_end_reported)
		return;
	proto->is_end_reported = true;
	proto->options.on_end(proto->options.self);
}

void http_session_abandon(struct http_session *session)
{
	session->is_abandoned = true;
	loop_defer(&session->proto->sweep);
}

static void on_session_change(void *self)
{
	struct http_session *session = self;
	http_page_changed(session->proto->page);
}

static void on_session_end(void *self)
{
	struct http_session *session = self;
	http_page_changed(session->proto->page);
	loop_defer(&session->proto->sweep);
}

/* Makes a session, of a rollout or at the socket of another process; both NULL: a new one. */
static struct http_session *session_create(struct http_proto *proto, const char *rollout, char *address,
                                           bool no_auto_configure, bool is_own)
{
	const struct http_proto_options *own = &proto->options;
	struct http_session *session = xnew(struct http_session);
	struct kept_session_options options = {
		.loop = own->loop,
		.engine = own->engine,
		.resume_path = rollout,
		.no_auto_configure = own->no_auto_configure || no_auto_configure,
		.keep_events = is_own ? LIMIT_KEPT_EVENTS : own->keep_events,
		.is_own = is_own,
		.is_elsewhere = address,
		.has_facts = proto->page && !is_own,
		.on_change = on_session_change,
		.on_end = on_session_end,
		.self = session,
	};
	session->proto = proto;
	session->is_own = is_own;
	session->address = address;
	session->kept = kept_session_create(&options);
	list_append(&proto->sessions, &session->link);
	proto->session_count++;
	http_page_changed(proto->page);
	return session;
}

static bool is_attached(const struct http_proto *proto, const char *address)
{
	const struct http_session *it;
	list_for_each(it, &proto->sessions, link) {
		if (it->address && strcmp(it->address, address) == 0 && !kept_session_has_ended(it->kept))
			return true;
	}
	return false;
}

/* Sets *ret_session to a session that another process runs; to NULL if no process listens at its socket any more. */
static int attach(struct http_proto *proto, struct str resume, struct http_session **ret_session, struct error *err)
{
	const struct http_proto_options *own = &proto->options;
	auto_free char *address = own->find_attachable ? own->find_attachable(resume, own->self) : NULL;
	*ret_session = NULL;
	if (!address)
		return 0;
	if (is_attached(proto, address))
		return error_set(err, ERR_busy, "the session is open already");
	struct http_session *session = session_create(proto, NULL, steal(address), false, false);
	if (kept_session_attach(session->kept, session->address, err) == 0) {
		*ret_session = session;
		return 0;
	}
	http_session_destroy(session);
	return err->sys == ECONNREFUSED || err->sys == ENOENT ? 0 : -(int)err->code;
}

struct http_session *http_session_open(struct http_proto *proto, struct str resume, bool no_auto_configure, bool is_own,
                                       struct error *err)
{
	const struct http_proto_options *own = &proto->options;
	struct http_session *attached = NULL;
	auto_free char *rollout = NULL;
	if (proto->session_count >= LIMIT_KEPT_SESSIONS) {
		error_set(err, ERR_limit, "%d sessions are open; close one first", LIMIT_KEPT_SESSIONS);
		return NULL;
	}
	if (resume.len && attach(proto, resume, &attached, err) != 0)
		return NULL;
	if (attached)
		return attached;
	if (resume.len && !(rollout = own->find_rollout(resume, own->self, err)))
		return NULL;
	return session_create(proto, rollout, NULL, no_auto_configure, is_own);
}
