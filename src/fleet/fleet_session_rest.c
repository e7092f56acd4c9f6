/* A session that rests is let go: its log is packed, then the store releases it, unless submissions are waiting. */
#include "fleet/fleet_limits.h"
#include "fleet/fleet_pack.h"
#include "fleet/fleet_session_priv.h"
#include "fleet/resp.h"

static bool has_all_stored(const struct session_data *session)
{
	return !session->is_emitting && fleet_rows_is_stored(&session->rows, fleet_rows_position(&session->rows));
}

static void on_released(const struct resp *reply, void *self)
{
	struct session_data *session = self;
	struct str state = resp_text(reply);
	session->is_releasing = false;
	if (!reply)
		return;
	if (str_is(state, "busy") && session->codex) {
		fleet_session_look(&session->base);
		return;
	}
	if (reply->type == RESP_error) {
		fleet_session_on_error(session, reply);
		return;
	}
	if (str_is(state, "gone")) { /* released again when it is stored again */
		fleet_session_restore(&session->base);
		if (!has_all_stored(session))
			return;
	}
	if (str_is(state, "fenced"))
		session->env->counts.fenced++;
	fleet_session_finish(session);
}

void fleet_session_release(struct session_data *session)
{
	if (session->is_releasing || session->base.is_done || !has_all_stored(session))
		return;
	bool requeues = session->must_requeue || session->env->is_draining;
	requeues = requeues && (session->must_requeue || session->waiting.count);
	session->is_releasing =
		fleet_store_release(session->env->store, &session->base.lease, session->has_ended ? "ended" : "idle",
	                            requeues, on_released, session);
}

/* ---- packing ----
 *
 * Each step reads some lines and replaces them in one call, so a step that is cut off has no effect, and the lines are
 * in one of the two places at any moment. Submissions that arrive meanwhile are applied: new lines come after those
 * that are packed. */

static void pack(struct session_data *session);

static void end_packing(struct session_data *session)
{
	session->is_packing = false;
	session->unpacked = 0; /* after a failure or in a drain, too: the next owner tries again */
	fleet_session_on_idle(session);
}

static void on_packed(const struct resp *reply, void *self)
{
	struct session_data *session = self;
	if (!reply)
		session->is_packing = false; /* begins again when the connection is up */
	else if (str_is(resp_text(reply), "ok") && !session->env->is_draining)
		pack(session);
	else
		end_packing(session);
}

static void on_lines(const struct resp *reply, void *self)
{
	struct session_data *session = self;
	auto_buf struct buf lines, packed;
	struct fleet_chunk chunk = {0};
	struct error err;
	buf_init(&lines, (size_t)LIMIT_FLEET_CHUNK + LIMIT_FLEET_PACK_LINE + 1);
	buf_init(&packed, 2 * ((size_t)LIMIT_FLEET_CHUNK + LIMIT_FLEET_PACK_LINE));
	if (!reply) {
		session->is_packing = false;
		return;
	}
	chunk.last = reply->type == RESP_list ? fleet_pack_join(resp_at(reply, 1), &lines, &chunk.first) : 0;
	if (!chunk.last || session->env->is_draining || fleet_pack(&packed, buf_str(&lines), &err) != 0) {
		end_packing(session);
		return;
	}
	chunk.packed = buf_str(&packed);
	session->is_packing = fleet_store_pack(session->env->store, &session->base.lease, &chunk, on_packed, session);
}

static void pack(struct session_data *session)
{
	session->is_packing = fleet_store_read(session->env->store, session->base.lease.sid, ":log", STR("0-0"),
	                                       LIMIT_FLEET_READ, on_lines, session);
}

/* ---- resting ---- */

/* Nothing is left to do: the session is let go when its log is packed. A worker that drains does not wait for that. */
static void let_go(struct session_data *session)
{
	if (session->unpacked >= LIMIT_FLEET_PACK_FROM && !session->env->is_draining)
		pack(session);
	if (!session->is_packing)
		fleet_session_release(session);
}

void fleet_session_on_idle(void *self)
{
	struct session_data *session = self;
	if (session->base.is_done || session->phase != FLEET_OPEN || session->is_reading || session->is_applying ||
	    session->is_packing || codex_is_working(session->codex))
		return;
	if (!session->waiting.count || session->env->is_draining || session->has_ended)
		let_go(session);
}

/* The clock runs from the moment at which nothing is left to do. */
void fleet_session_rest(struct session_data *session)
{
	if (session->base.is_done || session->phase != FLEET_OPEN)
		return;
	bool is_resting = !session->is_reading && !session->is_applying && has_all_stored(session) &&
	                  !codex_is_working(session->codex);
	if (!is_resting)
		loop_timer_stop(session->idle);
	else if (session->env->is_draining || session->has_ended)
		fleet_session_on_idle(session);
	else if (!loop_timer_is_active(session->idle))
		loop_timer_start(session->idle, session->env->idle_ms);
}
