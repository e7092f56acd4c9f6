/* codex.h — the interface of the engine: submit Ops, receive Events.
 *
 * A Codex starts without a Session. Op configure_session creates one; any other Op before it is answered by an error
 * event. A Codex has one Session, which runs at most one Task.
 * Loop thread only. No function blocks. */
#ifndef ENGINE_CODEX_H
#define ENGINE_CODEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/codex/codex_options.h"
#include "engine/codex/sample.h"
#include "protocol/message/message.h"

struct accounts;
struct config;
struct environments;
struct http_client;
struct loop;
struct mcp_pool;

/* ---- shared by all Codexes of a process: connections to models, the originator, folders with skills ---- */

struct services *services_create(struct loop *loop, const char *originator);
/* All Codexes must have been closed. While the loop is destroyed, the ends of MCP sessions over HTTP are still sent,
 * and the refresh of a login is completed. NULL is fine. */
void services_destroy(struct services *services);
/* Return what all Codexes of the process share. */
struct http_client *services_http(struct services *services);
struct accounts *services_accounts(struct services *services);
const char *services_originator(const struct services *services);
/* Starts to load, in the background, the libraries that the first request to a model needs. Optional. */
void services_preload(struct services *services);
/* Sets the folders that hold skills, in addition to those that the configuration of each Codex names. All Codexes use
 * them from their next lookup of skills on, subagents included. Copied. */
void services_set_skill_roots(struct services *services, const struct str *roots, size_t count);
/* The result is borrowed until the next services_set_skill_roots. */
const struct str *services_skill_roots(const struct services *services, size_t *ret_count);

/* Returns the machines on which commands can run, borrowed. */
struct environments *services_environments(const struct services *services);
/* Returns the MCP servers of the process, borrowed. */
struct mcp_pool *services_mcp(const struct services *services);

/* ---- a Codex ---- */

struct codex *codex_open(const struct codex_options *options);
/* Sets the receiver of a subagent's events. NULL removes it. */
void codex_listen(struct codex *child, codex_event_fn on_event, void *self);
/* Submits an Op; copies id and op. ERR_limit: the submission queue is full; on_room follows, outside of other
 * callbacks, when a place is free. */
must_check int codex_submit_op(struct codex *codex, struct str id, const struct op *op, struct error *err);
/* Answers a pending request of this Codex; `asks` names the event that asked. Pending submissions are carried out
 * first, then the answer at once: it bypasses the submission queue, so it is never refused for lack of room. id: of the
 * call. body: a struct review_decision for the two approvals, user_input_answers for EV_request_user_input,
 * dynamic_tool_answer for EV_dynamic_tool_call_request.
 * False, without effect: no such request is pending; events in the queue give the reason. */
bool codex_answer(struct codex *codex, enum event_tag asks, struct str id, const void *body);

/* Appends the name of the subagent that runs this Task, which is the id of its events; appends nothing if the Session
 * itself runs it. */
void codex_write_asker(const struct codex *codex, struct str task, struct buf *out);

/* Returns the number and the paths of AGENTS.md files of an environment of the Session, borrowed until the next Op;
 * none for this machine. */
size_t codex_remote_instructions(const struct codex *codex, size_t place, const struct str **ret);

/* Returns the built-in instructions of a mode, for clients without their own. */
struct str codex_mode_text(enum mode_kind mode);

/* The Codex's activity; used to decide when to shut down after the client disconnects. */
enum codex_state {
	CODEX_QUEUED,  /* submissions or events are handled in the next iteration of the loop */
	CODEX_IDLE,    /* idle until the next submission */
	CODEX_RUNNING, /* a task runs, or a session that is being resumed is loaded */
	CODEX_BLOCKED, /* a task waits for an answer of the user, or of a tool that the client provides */
};
enum codex_state codex_get_state(const struct codex *codex);
/* True if all submissions were carried out and all their events were emitted, as far as they need no further input. */
bool codex_is_drained(const struct codex *codex);
/* True while a task, a subagent or a command of the session runs. */
bool codex_is_working(const struct codex *codex);
/* With a sink: reports that everything up to this number is stored. Calls that waited for it begin. */
void codex_settle(struct codex *codex, uint64_t number);
/* Adds items of the Responses API, each a JSON object on one line, to the history without starting a turn. Pending
 * submissions are carried out first. If a task runs, the items are added before its next turn, or at its end.
 * ERR_limit, and no item is added: too much is pending. There must be a Session. */
must_check int codex_add_items(struct codex *codex, const struct str *items, size_t count, struct error *err);

/* Appends the items of the request that this input would start, as a JSON array: preamble and input. They stay in the
 * history. There must be a Session without a Task. */
void codex_preview_input(struct codex *codex, const struct user_input *items, size_t count, struct buf *out);

/* Takes the hooks of this configuration, which is only read, from the next event on. No-op without a Session. */
void codex_renew_hooks(struct codex *codex, const struct config *config);

/* Creates the rollout file now, although it has no items yet, because metadata such as the thread's name refers to
 * it. No-op without a session, and for an unrecorded one. */
must_check int codex_record(struct codex *codex, struct error *err);

/* Announces that the rollout file is going to be deleted on purpose, so that the writer does not restore it as after
 * any other deletion; with false, withdraws the announcement. */
void codex_let_record_go(struct codex *codex, bool is_let_go);
/* The user is about to send something: loads the libraries that a request needs, and opens a connection to the provider
 * of the session, if there is one, with the warm-up over a WebSocket. Optional; for a Codex with is_unhurried. */
void codex_expect_request(struct codex *codex);
/* Returns the id of the session; STR_NONE without one. Borrowed. */
struct str codex_thread_id(const struct codex *codex);
/* Returns the path of the session's current rollout, or NULL if it is not recorded. Borrowed. The path changes if
 * another file replaces the rollout, which a warning reports. */
const char *codex_record_path(const struct codex *codex);

/* Fills the goal of the session, borrowed until the next call or event. False: the session has no goal. */
bool codex_goal(const struct codex *codex, struct thread_goal *ret);
/* Starts the automatic review of the call at the end of the history, which waits for its output (guardian.h): done runs
 * once, later, unless the review is cancelled. NULL and err: a turn is in progress, or the history ends otherwise. */
struct guardian_inquiry;
must_check struct guardian_inquiry *codex_inquire(struct codex *codex,
                                                  void (*done)(const struct ev_guardian_assessment *assessment,
                                                               struct str call_id, const struct error *err, void *self),
                                                  void *self, struct error *err);
void codex_inquiry_cancel(struct guardian_inquiry *inquiry);

/* Creates or changes the goal, and emits thread_goal_updated. An active goal starts a turn when no task runs, and
 * after each task that succeeds, if the front end lets turns start unasked; an interrupt pauses it. There must be a
 * Session. ERR_invalid: a value is unusable; ERR_not_found: there is no goal to change; ERR_unsupported: the feature
 * is off. */
must_check int codex_change_goal(struct codex *codex, const struct goal_change *change, struct error *err);
/* Removes the goal and emits thread_goal_updated. False: the session has no goal. */
bool codex_clear_goal(struct codex *codex);

/* Requests one answer of the model to the current history followed by a prompt, in parallel to turns. Nothing is
 * recorded, counted or emitted, and no tool runs. NULL and err: a Task runs (ERR_busy), or LIMIT_SAMPLES are in
 * progress (ERR_limit). When the Codex is closed, pending samples end with ERR_cancelled. */
must_check struct codex_sample *codex_sample_create(struct codex *codex, const struct codex_sample_options *options,
                                                    struct error *err);

/* Terminates a background command by process id (0: all) and emits exec_command_end for each. Returns false if there
 * is no such command. */
bool codex_end_command(struct codex *codex, int64_t process_id);

/* Backpressure, for a front end whose client reads slower than events are emitted. Between hold and release the model's
 * stream and the output of commands are paused, and no call is started. Submissions are still carried out (approvals,
 * interrupt, shutdown), and events in progress are still emitted: one burst of the stream, and the answers to
 * submissions. A front end must therefore also stop reading submissions of a client that never reads. Time limits do
 * not run out because of a hold. No event is lost.
 *
 * Holds nest, one for each subscriber: hold when transport_send returns false, release in on_drain and when that client
 * disconnects. With several subscribers, a front end holds for each at most LIMIT_WATCHER_HOLD_MS at a time, then
 * releases and lets its queue grow to LIMIT_STREAM_QUEUE_HARD, where its connection is closed; so a slow subscriber
 * delays the others little. A front end with several Codexes for one client holds all of them. Both functions may be
 * called in on_event. */
void codex_hold(struct codex *codex);
void codex_release(struct codex *codex);
/* For a Codex that is going to be closed: ends its work if it has SessionEnd hooks. False: it has none, and
 * its work continues. */
must_check bool codex_shut_down(struct codex *codex);
/* After codex_shut_down: starts these hooks. done runs once, later, when they have ended, unless the Codex is closed
 * before. False: no hook starts, and done does not run. */
must_check bool codex_bid_farewell(struct codex *codex, void (*done)(void *self), void *self);
/* Ends the running task without further events, terminates its processes and frees everything. NULL is fine. */
void codex_close(struct codex *codex);

#endif
