/* Submissions: read, applied one at a time, each with its effects in one group of rows. */
#include "fleet/fleet_session.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_session_priv.h"
#include "fleet/resp.h"
#include "server/proto_server.h"

enum { SETTLE_MS = 2 }; /* between two looks whether an op without events was carried out */

/* ---- lifetime ---- */

struct fleet_session *fleet_session_create(struct fleet_worker_env *env, struct str sid, const struct resp *taken,
                                           uint64_t number)
{
	struct session_data *session = xnew(struct session_data);
	session->base.lease = (struct fleet_lease){str_copy(sid), resp_u64(resp_at(taken, 1))};
	session->env = env;
	session->number = number;
	session->style = proto_style(env->config);
	session->lost = str_dup(resp_text(resp_at(taken, 5)));
	session->applied_id = str_copy(resp_text(resp_at(taken, 4)));
	session->read_id = str_copy(session->applied_id);
	list_init(&session->base.link);
	fleet_rows_init(&session->rows, resp_u64(resp_at(taken, 2)), resp_u64(resp_at(taken, 3)));
	fleet_session_init_emit(session);
	fleet_session_load(session);
	return &session->base;
}

void fleet_session_destroy(struct fleet_session *base)
{
	if (!base)
		return;
	struct session_data *session = session_data(base);
	fleet_store_forget(session->env->store, session);
	codex_close(session->codex);
	loop_deferred_finish(&session->flush);
	loop_timer_destroy(session->delta);
	loop_timer_destroy(session->idle);
	loop_timer_destroy(session->settle);
	vec_for_each(waiting, &session->waiting) {
		str_free(&waiting->entry);
		str_free(&waiting->text);
	}
	vec_for_each(note, &session->begun)
		str_free(note);
	vec_finish(&session->waiting);
	vec_finish(&session->begun);
	vec_finish(&session->barriers);
	fleet_rows_finish(&session->rows);
	fleet_log_destroy(session->log);
	buf_finish(&session->text);
	if (session->folder)
		fleet_folder_remove(session->folder);
	free(session->folder);
	free(session->lost);
	str_free(&session->log_id);
	str_free(&session->applied_id);
	str_free(&session->read_id);
	str_free(&base->lease.sid);
	free(session);
}

void fleet_session_finish(struct session_data *session)
{
	if (session->base.is_done)
		return;
	session->base.is_done = true;
	session->env->on_done(&session->base, session->env->self);
}

void fleet_session_lose(struct fleet_session *base)
{
	struct session_data *session = session_data(base);
	if (base->is_done)
		return;
	session->env->counts.fenced++;
	fleet_session_finish(session);
}

/* ---- reading ---- */

static void on_submissions(const struct resp *reply, void *self)
{
	struct session_data *session = self;
	session->is_reading = false;
	session->must_read |= !reply || reply->type != RESP_list;
	if (reply && reply->type != RESP_list)
		fleet_session_on_error(session, reply);
	if (!reply || reply->type != RESP_list)
		return;
	const struct resp *entries = resp_at(reply, 1);
	for (size_t i = 0; i < entries->count; i++) {
		const struct resp *entry = resp_at(entries, i);
		struct str id = resp_text(resp_at(entry, 0)), text = fleet_field(entry, "sub");
		if (!id.ptr)
			continue;
		vec_push(&session->waiting, (struct fleet_waiting){str_copy(id), str_copy(text.ptr ? text : STR(""))});
		str_free(&session->read_id);
		session->read_id = str_copy(id);
	}
	session->must_read |= resp_u64(resp_at(reply, 0)) != 0;
	fleet_session_apply(session);
}

/* Reads more only when the last ones were applied, so a flood of submissions stays in the store. */
void fleet_session_look(struct fleet_session *base)
{
	struct session_data *session = session_data(base);
	session->must_read = true;
	if (session->is_reading || session->waiting.count || base->is_done || session->phase != FLEET_OPEN)
		return;
	session->must_read = false;
	session->is_reading = fleet_store_read(session->env->store, base->lease.sid, ":sq", session->read_id,
	                                       LIMIT_FLEET_READ, on_submissions, session);
	session->must_read |= !session->is_reading;
}

/* ---- applying ---- */

static void drop_first(struct session_data *session)
{
	struct fleet_waiting *first = session->waiting.items;
	str_free(&session->applied_id);
	session->applied_id = first->entry;
	str_free(&first->text);
	session->waiting.count--;
	for (size_t i = 0; i < session->waiting.count; i++)
		first[i] = first[i + 1];
}

static void note(struct session_data *session, struct str id, struct str text)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_REDIS_REPLY);
	fleet_note_submission(&line, id, text);
	fleet_rows_add(&session->rows, FLEET_LINE, buf_str(&line));
	fleet_log_add_id(session->log, id);
}

/* Returns the id of a text that is no submission, as far as it has one; allocated in the arena. */
static struct str read_id(struct str text, struct arena *arena)
{
	struct str id;
	const struct json *json = json_peek_member(text, "id", &id) ? json_parse(arena, id, NULL) : NULL;
	return json_is(json, JSON_string) ? json->text : STR("");
}

static void refuse(struct session_data *session, struct str text, const char *reason)
{
	auto_arena struct arena arena = {0};
	fleet_session_add_error(session, read_id(text, &arena), reason);
}

/* While the worker drains, only what a running task may wait for is applied; the next worker applies the rest. */
static bool may_apply(const struct session_data *session)
{
	return session->phase == FLEET_OPEN && !session->is_applying && !session->base.is_done &&
	       session->waiting.count && !session->has_ended && codex_is_drained(session->codex) &&
	       (!session->env->is_draining || codex_is_working(session->codex));
}

static void submit(struct session_data *session, struct str text)
{
	struct error err;
	struct submission *submission = text.len <= LIMIT_LINE ? submission_decode(text, &err)
	                                                       : (error_set(&err, ERR_limit, "it is too long"), NULL);
	if (!submission) {
		refuse(session, text, err.text);
	} else if (!fleet_log_has_id(session->log, submission->id)) {
		note(session, submission->id, text);
		wire_profile_observe(&session->style, submission);
		best_effort(codex_submit_op(session->codex, submission->id, &submission->op, NULL));
	}
	submission_destroy(submission);
}

void fleet_session_apply(struct session_data *session)
{
	if (!may_apply(session)) {
		if (!session->waiting.count && session->must_read)
			fleet_session_look(&session->base);
		fleet_session_rest(session);
		return;
	}
	struct str text = str_copy(session->waiting.items[0].text);
	drop_first(session);
	session->is_applying = true;
	submit(session, text);
	str_free(&text);
	loop_timer_start(session->settle, SETTLE_MS);
	loop_defer(&session->flush);
}

/* ---- calls of the worker ---- */

void fleet_session_on_up(struct fleet_session *base)
{
	struct session_data *session = session_data(base);
	if (base->is_done)
		return;
	fleet_store_forget(session->env->store, session);
	session->is_emitting = session->is_reading = session->is_releasing = session->is_packing = false;
	if (session->phase == FLEET_LOADING) {
		fleet_session_load(session);
		return;
	}
	fleet_session_send(session);
	if (session->phase == FLEET_LETTING_GO)
		fleet_session_release(session);
	else
		fleet_session_look(base);
}

void fleet_session_drain(struct fleet_session *base)
{
	struct session_data *session = session_data(base);
	if (!base->is_done)
		fleet_session_rest(session);
}

void fleet_session_hand_over(struct fleet_session *base)
{
	struct session_data *session = session_data(base);
	if (base->is_done)
		return;
	codex_close(steal(session->codex));
	fleet_rows_drop_tail(&session->rows);
	session->phase = FLEET_LETTING_GO;
	session->must_requeue = true;
	session->is_applying = false; /* its effects were dropped, so the next owner applies it */
	loop_timer_stop(session->settle);
	fleet_session_send(session);
	fleet_session_release(session);
}
