/* Loads a session: its log becomes files and notes, then a Codex resumes the rollout and continues the unfinished task.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_pack.h"
#include "fleet/fleet_session_priv.h"
#include "fleet/resp.h"

/* ---- the Codex ---- */

static void submit_text(struct session_data *session, struct str text)
{
	struct submission *submission = submission_decode(text, NULL);
	if (submission)
		best_effort(codex_submit_op(session->codex, submission->id, &submission->op, NULL));
	submission_destroy(submission);
}

static void submit_settings(struct session_data *session)
{
	auto_buf struct buf text;
	buf_init(&text, 2 * LIMIT_LINE);
	fleet_log_write_configure(session->log, &text);
	submit_text(session, buf_str(&text));
	buf_clear(&text);
	if (fleet_log_write_override(session->log, &text))
		submit_text(session, buf_str(&text));
}

static void open_codex(struct session_data *session)
{
	struct fleet_worker_env *env = session->env;
	session->sink.folder = session->folder;
	struct codex_options options = {
		.services = env->services,
		.config = env->config,
		.source = session_source_cli,
		.cwd = env->cwd,
		.sink = &session->sink,
		.unfinished = fleet_log_unfinished(session->log, *session->lost ? session->lost : "before this one"),
		.is_interactive = true,
		.serves_tools = true,
		.begins_once_allowed = true,
		.on_event = fleet_session_on_event,
		.self = session,
	};
	env->counts.takeovers += *session->lost != '\0';
	session->codex = codex_open(&options);
	session->phase = FLEET_OPENING;
	submit_settings(session);
	loop_timer_start(session->settle, 1);
}

/* ---- the log ---- */

/* No worker can open the session: the lease is left to run out until the session is put aside, which its clients see.
 * Letting it go would leave an unfinished task without an end. */
static void fail(struct session_data *session, const struct error *err)
{
	fprintf(stderr, "session %.*s: %s\n", STR_ARG(session->base.lease.sid), err->text);
	fleet_session_finish(session);
}

/* Only this worker cannot open it, for lack of a library or of space. */
static void refuse(struct session_data *session, const struct error *err)
{
	fprintf(stderr, "session %.*s is left to other workers: %s\n", STR_ARG(session->base.lease.sid), err->text);
	session->base.is_refused = true;
	fleet_store_untake(session->env->store, &session->base.lease, str_of(session->lost));
	fleet_session_finish(session);
}

/* A folder that cannot be written is replaced by the other one, and the log is read again. */
static void use_next_folder(struct session_data *session, const struct error *err)
{
	if (session->folder_at + 1 >= countof(session->env->folders)) {
		refuse(session, err);
		return;
	}
	session->folder_at++;
	fleet_session_load(session);
}

static int take_line(struct session_data *session, struct str line, struct error *err)
{
	fleet_rows_add_stored(&session->rows, line);
	return fleet_log_add(session->log, line, err);
}

static int take_chunk(struct session_data *session, struct str packed, struct error *err)
{
	auto_buf struct buf lines;
	struct str line, rest;
	buf_init(&lines, (size_t)LIMIT_FLEET_CHUNK + LIMIT_FLEET_PACK_LINE + 1);
	int status = fleet_unpack(&lines, packed, err);
	rest = buf_str(&lines);
	while (status == 0 && str_next_line(&rest, &line))
		status = take_line(session, line, err);
	return status;
}

static int take_entry(struct session_data *session, const struct resp *entry, struct error *err)
{
	struct str id = resp_text(resp_at(entry, 0)), text = fleet_field(entry, session->has_unpacked ? "l" : "z");
	if (!id.ptr || !text.ptr)
		return error_set(err, ERR_invalid, "an entry of the log of this session has no text");
	str_free(&session->log_id);
	session->log_id = str_copy(id);
	if (!session->has_unpacked)
		return take_chunk(session, text, err);
	session->unpacked += text.len;
	return take_line(session, text, err);
}

/* Reads the packed part of the log, then the rest. */
static void read_log(struct session_data *session);

static void on_log(const struct resp *reply, void *self)
{
	struct session_data *session = self;
	struct error err;
	int status = 0;
	session->is_reading = false;
	if (!reply || session->phase != FLEET_LOADING)
		return;
	if (reply->type != RESP_list) {
		fleet_session_on_error(session, reply);
		return;
	}
	const struct resp *entries = resp_at(reply, 1);
	for (size_t i = 0; i < entries->count && status == 0; i++)
		status = take_entry(session, resp_at(entries, i), &err);
	bool is_last = !resp_u64(resp_at(reply, 0));
	bool was_unpacked = session->has_unpacked;
	session->has_unpacked |= is_last;
	if (status == 0 && (!is_last || !was_unpacked))
		read_log(session);
	else if (status == -ERR_invalid)
		fail(session, &err);
	else if (status == -ERR_unsupported || status == -ERR_limit)
		refuse(session, &err);
	else if (status != 0 || fleet_log_end(session->log, &err) != 0)
		use_next_folder(session, &err);
	else
		open_codex(session);
}

static void read_log(struct session_data *session)
{
	bool is_packed = !session->has_unpacked;
	session->is_reading =
		fleet_store_read(session->env->store, session->base.lease.sid, is_packed ? ":pack" : ":log",
	                         session->log_id, is_packed ? LIMIT_FLEET_CHUNKS : LIMIT_FLEET_READ, on_log, session);
}

void fleet_session_load(struct session_data *session)
{
	uint64_t seq = session->rows.seq, lines = session->rows.lines;
	fleet_store_forget(session->env->store, session); /* an earlier attempt */
	if (session->folder)
		fleet_folder_remove(session->folder);
	free(session->folder);
	session->folder =
		xasprintf("%s/%llu", session->env->folders[session->folder_at], (unsigned long long)session->number);
	fleet_log_destroy(session->log);
	session->log = fleet_log_create(session->folder);
	str_free(&session->log_id);
	session->log_id = str_copy(STR("0-0"));
	session->has_unpacked = false;
	session->unpacked = 0;
	fleet_rows_finish(&session->rows);
	fleet_rows_init(&session->rows, seq, lines);
	read_log(session);
}
