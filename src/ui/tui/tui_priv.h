/* tui_priv.h — the state of the terminal client, shared by tui.c (events), tui_view.c (live rows) and tui_main.c. */
#ifndef UI_TUI_PRIV_H
#define UI_TUI_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "term/term_keys.h"
#include "term/term_row.h"
#include "ui/tui/tui_composer.h"
#include "ui/tui/tui_keymap.h"
#include "ui/tui/tui_parts.h"
#include "ui/tui/tui_popup.h"

struct attach_link;
struct attach_point;
struct json_writer;
struct codex_sample;
struct tui_child;
struct tui_child_call;
struct tui_page;
struct toml;
struct tui_panel;

struct tui {
	struct tui_options options;
	struct config *config;
	char *cwd;
	struct exec_images images;
	bool has_color;
	struct loop *loop;
	struct services *services;
	struct codex *codex;        /* NULL for a guest, and before the first questions are answered */
	struct attach_point *point; /* where others attach to the session of this terminal */
	size_t guests;              /* of it */
	bool has_guest_settings;    /* a guest has changed settings of the session, which are not known here */
	struct attach_link *link;   /* of a guest: to the session */
	char *guest_address;        /* of the session; NULL: this terminal has an engine of its own */
	char *guest_end;            /* why the guest was disconnected, or NULL */
	struct str asker;           /* the subagent that makes the request which is handled; empty: none */
	struct term_tty *tty;
	struct term_keys keys;
	struct tui_keymap keymap;
	struct loop_timer *escape; /* decides about a lone ESC */
	struct loop_timer *tick;   /* the seconds of the working line */
	struct tui_frame *frame;
	struct tui_cells *cells;
	struct tui_ask *ask;
	struct composer composer;
	struct tui_pager *pager; /* on the alternate screen; NULL: none */
	struct buf shown;        /* a text in it */
	struct buf warnings;     /* lines */
	struct tui_popup popup;
	struct file_finder *finder; /* NULL before the first search for files */
	struct file_query *files;   /* the search of the open list; NULL: none */
	VEC(struct tui_skill) skills;
	struct tui_history *loading; /* earlier prompts; NULL once they are read */
	struct tui_editor *editor;   /* NULL: none runs */
	bool keeps_bursts;           /* disable_paste_burst */
	bool is_raw;                 /* text is shown as it came */
	bool is_light;               /* the terminal has said that its background is light */
	bool is_calm;                /* tui.animations = false: nothing changes by itself */
	struct term_row row;
	size_t rows, columns; /* the window, without its last column */

	/* the session */
	char *resume_path; /* the rollout that is resumed; NULL: a new session */
	char *session_id, *model, *effort, *thread_name, *rollout_path, *workspace; /* of the sandbox; or NULL */
	const char *permissions;                   /* static; NULL: none of those that the user can choose */
	const char *approval, *sandbox, *reviewer; /* names, static; NULL: not known yet, or a sandbox of others */
	VEC(struct tui_terminal) terminals;
	VEC(struct tui_agent *) agents; /* subagents of this session */
	VEC(struct tui_denied) denied;  /* the latest last */
	VEC(struct tui_content) begun;  /* calls that may be denied */
	struct tui_agent *watched;      /* the one that is shown; NULL: the main thread */
	uint64_t seen;                  /* bytes of the main thread's rollout when it was shown last */
	struct loop_deferred preload;   /* of what a request needs */
	struct loop_deferred restart;   /* another session replaces this one */
	char *next_path;                /* the rollout of that session; NULL: a new one */
	bool is_cleared;                /* the user has cleared the one before */
	char *next_prompt;              /* its first message, or NULL */
	bool replays_next;              /* its conversation is to be shown */
	enum tui_fate fate;             /* of the session whose id is `doomed`, once it is replaced */
	char *doomed;                   /* NULL: none */
	struct crediting *crediting;    /* the stored key or login is being read or changed */
	struct managing *managing;      /* a session is being exported, archived or deleted */
	struct tui_picking *picking;    /* sessions are being read, or one is being copied; NULL: none */
	struct tui_picker *picker;      /* the list of sessions on the alternate screen; NULL: none */
	bool picks_first;               /* it chooses the session to begin with */
	char *preview;                  /* the path of the session that is shown; NULL: the transcript's */

	char *title;     /* of the window, as it was sent; NULL: none yet */
	bool is_blurred; /* the window does not have the focus */

	/* commands in progress */
	enum tui_tools wants_tools; /* the list of tools was asked for */
	char *wished_model;         /* chosen, before its effort */
	char *plugin_list;          /* JSON, while the user chooses from it */
	char *plugin;               /* the one that was chosen */
	const char *plugin_state;   /* of it, for people; static */
	char *preset_text;          /* its text, before its place */
	bool sends_draft;           /* a preset stands in the composer, as if Enter were pressed */
	size_t preset_place;        /* the place of the one that is edited */
	struct saving *saving;      /* a choice is being written to config.toml */
	struct tui_git *git;        /* for a list or the changes; NULL: none runs */
	struct checkout *checkout;  /* of /worktree, being made; or NULL */
	struct tui_child *child;    /* a command of codex that runs in a child; or NULL */
	void (*on_ran)(struct tui *tui, struct str output, bool is_ok); /* its end */
	struct codex_sample *aside; /* a question of /side without an answer; NULL: none */

	struct token_usage usage, earlier_usage;
	int64_t context_window, context_used;
	int64_t filled, reported_total, reported_last; /* a window that totals contain; the last event's counts */
	bool has_limit[2];                             /* the account's limits: the short and the long one */
	struct rate_limit_window limits[2];
	size_t steps, steps_done; /* of the checklist */
	char *branch;             /* of the folder's repository, if it is shown; or NULL */
	VEC(struct tui_waiting) waiting;
	VEC(struct event *) early; /* messages that the model reads after the text that arrives */
	uint64_t started_ms;       /* of the running turn */
	unsigned unread;           /* messages that joined the turn after its last whole response */
	unsigned half_read;        /* messages in its last request, whose response is not complete */
	bool has_error;            /* the running turn failed */
	bool is_exclusive;         /* the running task takes no messages: they wait */
	bool is_preloaded;         /* a key was pressed in this session: its connection is open */
	bool is_configured, is_running, is_interrupted, is_plan_mode;
	bool sends_unread;   /* after the interruption another turn reads what joined this one */
	bool has_no_session; /* it could not be opened */
	bool has_turn;       /* there was a turn, here or before, so that the session can be resumed */
	char *plan;          /* the one that this turn proposed, or NULL */
	bool is_armed;       /* Esc was pressed: the next one opens the earlier messages */
	bool is_held;        /* the engine waits until the terminal has its output */
	bool is_over;        /* shutdown was submitted */
	bool is_moving;      /* then the background server takes the session over */
	int signal;          /* the one that ended the program */
	bool has_failed;
};

/* ---- tui_options.c ---- */
/* Reads the command line of one of the commands of tui.h. Returns -1 to continue, else the exit status. */
must_check int tui_options_read(const struct cli_command *command, struct tui_options *options,
                                struct cli_result *words, int argc, char **argv);
/* Fails if options are given that a session of the background server does not get. */
must_check int tui_options_check_daemon(const struct tui_options *options, struct error *err);
void tui_options_finish(const struct cli_command *command, struct tui_options *options, struct cli_result *words);

/* ---- tui.c, tui_input.c ---- */
void tui_on_event(const struct event *event, void *self);
void tui_on_key(const struct term_key *key, void *self);
void tui_keys_init(struct tui *tui);

/* ---- tui_submit.c ---- */
void tui_submit(struct tui *tui, enum op_tag tag, void *body);
/* Sends text as the user's message. */
void tui_say(struct tui *tui, struct str text);
/* As tui_say, with images, which it takes over. */
void tui_send(struct tui *tui, struct str text, struct exec_images images);
/* Keeps a message for the next turn. */
void tui_queue(struct tui *tui, struct str text, struct exec_images images);
/* Sends the first message that waits for the end of a turn. */
void tui_send_queued(struct tui *tui);
void tui_remove_waiting(struct tui *tui, size_t at);
void tui_set_plan_mode(struct tui *tui, bool is_on); /* off: default mode */
/* Interrupts the running turn. sends: another one reads the messages that joined it after its last request. */
void tui_interrupt(struct tui *tui, bool sends);
void tui_handle_early(struct tui *tui); /* shows the messages that wait for the end of a text */
void tui_ask_skills(struct tui *tui, bool is_forced);
void tui_quit(struct tui *tui); /* ends the session and the program */

/* ---- tui_complete.c: the list above the composer ---- */
/* To be called after each change of the composer. */
void tui_complete_update(struct tui *tui);
/* True: the key was the list's. */
bool tui_complete_key(struct tui *tui, const struct term_key *key);
void tui_complete_finish(struct tui *tui);

/* ---- tui_history.c ---- */
void tui_history_load(struct tui *tui);  /* starts to read the prompts of earlier sessions */
void tui_history_leave(struct tui *tui); /* drops what is still being read */
/* Adds a text to history.jsonl. */
void tui_history_add(struct tui *tui, struct str text);
/* Empties the composer; Up brings its text back. */
void tui_history_clear_draft(struct tui *tui);

/* ---- tui_editor.c ---- */
void tui_editor_open(struct tui *tui); /* the draft in $VISUAL or $EDITOR */
void tui_editor_finish(struct tui *tui);

/* ---- requests of the engine: each becomes a panel, and its answer an Op ---- */
/* Names the subagent that asks. False: the main thread does. */
bool tui_add_asker(const struct tui *tui, struct buf *title);
void tui_request_command(struct tui *tui, const struct event *event);
void tui_request_patch(struct tui *tui, const struct event *event);
/* Asks whether the proposed plan is to be carried out. */
void tui_request_plan(struct tui *tui);
void tui_request_questions(struct tui *tui, const struct event *event);   /* tui_questions.c */
void tui_request_elicitation(struct tui *tui, const struct event *event); /* tui_elicit.c */

/* ---- tui_restart.c ---- */
/* Finds the session that the command line names, and sets resume_path. */
must_check int tui_session_find(struct tui *tui, struct error *err);
void tui_session_replay(struct tui *tui);           /* writes the end of the resumed session to the conversation */
void tui_session_note_crash(const struct tui *tui); /* prepares what a crash says: how the session is resumed */
void tui_restart_init(struct tui *tui);
/* Opens a Codex: for the session to resume, or for a new one. */
void tui_restart_open(struct tui *tui);
/* Soon replaces the session by the one recorded at path (NULL: by a new one). replays: its conversation is shown. */
void tui_restart_with(struct tui *tui, const char *path, bool replays);

/* ---- tui_pick.c ---- */
void tui_pick_first(struct tui *tui);                           /* lets the user choose the session to begin with */
bool tui_pick_key(struct tui *tui, const struct term_key *key); /* false: the list is not shown */
/* Shows the list, if it is open, after a text on the alternate screen was closed. */
void tui_pick_show(struct tui *tui);
void tui_pick_leave(struct tui *tui);

/* ---- tui_skills.c, tui_goal.c ---- */
void tui_set_skills(struct tui *tui, const struct ev_list_skills *list); /* NULL: none */
bool tui_aside_cancel(struct tui *tui); /* withdraws the question of /side; false: no question */

/* ---- tui_shortcuts.c, tui_backtrack.c ---- */
void tui_shortcuts_open(struct tui *tui); /* shows the keys */
void tui_backtrack_open(struct tui *tui); /* lists the earlier messages of the user, of which one can be edited */

/* ---- tui_main.c, tui_first.c ---- */
void tui_tick_start(struct tui *tui); /* counts the seconds of the working line */
/* Asks what has to be known first, then opens the session. */
void tui_first_run(struct tui *tui);
void tui_begin(struct tui *tui); /* opens the session, or first lets the user choose it */
void tui_open_session(struct tui *tui);
void tui_send_first(struct tui *tui); /* the prompt of the command line */

/* ---- tui_denied.c ---- */
void tui_denied_event(struct tui *tui, const struct event *event); /* keeps what was denied, for /approve */
void tui_denied_forget(struct tui *tui);

/* ---- tui_notice.c ---- */
void tui_title_update(struct tui *tui); /* shows the state in the window's title */
void tui_title_clear(struct tui *tui);
/* Notifies a user who looks elsewhere. kind: as in tui.notifications. */
void tui_notify(struct tui *tui, const char *kind, struct str text);

/* ---- tui_settings.c, tui_report.c ---- */
/* Changes the reasoning effort to the model's next one, less or more. */
void tui_settings_step_effort(struct tui *tui, int by);
/* Append the commands that choose the current model and the current permissions; nothing if no command can. */
void tui_settings_append_model(const struct tui *tui, struct buf *out);
void tui_settings_append_permissions(const struct tui *tui, struct buf *out);
void tui_settings_write(const struct tui *tui, struct json_writer *w); /* as members of thread/resume */
/* Takes over which permissions a session has. */
void tui_settings_show(struct tui *tui, const struct ev_session_configured *session);
void tui_show_tools(struct tui *tui, const struct ev_mcp_list_tools *list);
void tui_terminals_leave(struct tui *tui);                                  /* no turn waits for those that run now */
size_t tui_terminals_write(const struct tui *tui, char *text, size_t size); /* returns how many that are */
void tui_terminal_begun(struct tui *tui, const struct ev_exec_begin *begun);
void tui_terminal_ended(struct tui *tui, const struct ev_exec_end *ended); /* NULL: all */

/* ---- tui_command.c ---- */
/* Runs "/name arguments". False: the text is no command but a message. */
bool tui_command(struct tui *tui, struct str text);
/* Returns a row of the table; *ret_about is NULL for a hidden one. False: past the end. */
bool tui_command_at(size_t index, const char **ret_name, const char **ret_about);
/* Returns why this program lacks a command of codex 0.169; NULL: it has it, or
 * there is no such command. */
const char *tui_command_absence(struct str name);
/* Copies the last answer to the clipboard. */
void tui_copy(struct tui *tui);

#define SLASH(name, while_busy, doc) void on_slash_##name(struct tui *tui, struct str text);
#define ABSENT(name, reason)
#include "ui/tui/tui_command.def"
#undef SLASH
#undef ABSENT

/* ---- tui_text.c: long texts on the alternate screen ---- */
/* finds: asks at once for a text to find. */
void tui_transcript_open(struct tui *tui, bool finds);
void tui_preview_open(struct tui *tui, const char *path); /* a recorded session */
/* title: constant. */
void tui_text_open(struct tui *tui, const char *title, struct str text);    /* copied */
void tui_diff_open(struct tui *tui, struct str diff);                       /* the output of git diff; copied */
bool tui_read_open(struct str text, const struct event *about, void *self); /* a request; false: it is cut */
/* Adds a line to the warnings, which /warnings shows. */
void tui_warning_add(struct tui *tui, struct str text);
/* Handles a key while a text is shown. False: none is. */
bool tui_text_key(struct tui *tui, const struct term_key *key);

/* ---- tui_save.c ---- */
/* Writes values to config.toml and reads the configuration again, soon. words: keys, as in "tui.theme", and values in
 * TOML, in turn; copied. An empty value removes the key. on_saved: called afterwards, also after a failure, which is
 * shown; may be NULL. */
void tui_save(struct tui *tui, const char *const *words, size_t count,
              void (*on_saved)(struct tui *tui, bool is_saved));
/* Returns the user's own config.toml, or NULL. */
const struct toml *tui_user_settings(const struct tui *tui);
/* Reads the configuration again, for new sessions. */
void tui_reload(struct tui *tui);
void tui_save_leave(struct tui *tui);
/* Returns the path with the home folder in place of a leading ~; owned by the caller. */
char *tui_expand_home(struct str path);
void tui_folder_leave(struct tui *tui); /* ends git, if it is making a checkout */
/* Has a worker ask the keyring, or store the key; on_done gets NULL or a borrowed error. */
void tui_credentials_fetch(struct tui *tui, void (*on_done)(struct tui *tui, const struct error *err));
void tui_credentials_store(struct tui *tui, struct str key, void (*on_done)(struct tui *tui, const struct error *err));

/* ---- tui_attach.c: the engine of this terminal or, for a guest (codex attach, codex --remote), of another ---- */

/* True once there is something to submit to. */
bool tui_has_session(const struct tui *tui);
must_check int tui_engine_submit(struct tui *tui, const struct op *op, struct error *err);
void tui_engine_hold(struct tui *tui, bool is_held);
/* Returns the path of the session's rollout, or NULL. Borrowed. */
const char *tui_engine_path(const struct tui *tui);
void tui_attach_leave(struct tui *tui);

/* Lets others attach to the session that is opened next. */
void tui_attach_offer(struct tui *tui);
/* Appends a line for /status: how many are attached, or why none can be. */
void tui_attach_describe(const struct tui *tui, struct buf *out);
/* Receives the events of the engine, for itself and for those who are attached. */
void tui_on_engine_event(const struct event *event, void *self);

/* Finds the running session that the command line names. */
must_check int tui_attach_find(struct tui *tui, struct error *err);
/* Begins a session in the background server, which is started if necessary, or resumes one there. */
must_check int tui_attach_daemon(struct tui *tui, struct error *err);
void tui_attach_move(struct tui *tui); /* ends the session here, and resumes it in the background server */
char *tui_attach_moved(const struct tui *tui, struct tui_options *options); /* for that; returns what they borrow */
void tui_attach_begin(struct tui *tui);
/* Takes over the folder of a session on another machine. */
void tui_attach_configured(struct tui *tui, const struct ev_session_configured *session);
/* True, with a message, for a guest: another session would need an engine. */
bool tui_attach_refuses(struct tui *tui);
int tui_attach_print(const char *home); /* the running sessions */

/* ---- tui_manage.c: archives or deletes the session that was replaced, if the user has chosen so ---- */
void tui_manage_old(struct tui *tui);
void tui_manage_leave(struct tui *tui);

/* ---- tui_look.c ---- */
void tui_raw_set(struct tui *tui, bool is_raw);
/* Apply tui.theme and tui.keymap. */
void tui_theme_apply(struct tui *tui);
/* Asks the terminal for its background. */
void tui_theme_ask(struct tui *tui);
void tui_keys_apply(struct tui *tui);

/* ---- tui_machine.c: one command of codex in a child ---- */

/* is_ok: it ended with 0. output: its standard output, or after a failure its standard error, too; borrowed. */
typedef void (*tui_ran_fn)(struct tui *tui, struct str output, bool is_ok);

/* Starts it; the live rows name it until it ends. While another one runs that is an error on the screen. */
void tui_run(struct tui *tui, const struct tui_child_call *call, tui_ran_fn on_ran);
bool tui_run_cancel(struct tui *tui); /* kills it, with a note; false: none runs */
/* Asks something after the end of the child: the user may be typing. Takes over the panel. */
void tui_run_ask(struct tui *tui, struct tui_panel *panel);
void tui_run_show(struct tui *tui, struct str output, bool is_ok); /* a tui_ran_fn: shows the output */

/* ---- tui_agents.c: subagents, of which one can be shown in place of the main thread ---- */

void tui_agent_spawned(struct tui *tui, const struct ev_collab_spawn_end *spawn);
/* A codex_child_fn. */
void tui_agents_on_child(struct codex *child, const struct codex_child *about, void *self);
/* Forgets all; they are not heard any more. */
void tui_agents_forget(struct tui *tui);
bool tui_agents_step(struct tui *tui, int by); /* shows the next or previous thread; false: there is only one */
void tui_agents_show_main(struct tui *tui);
/* Return whether the thread that is shown runs a turn, and since when. */
bool tui_shows_running(const struct tui *tui);
uint64_t tui_shows_since(const struct tui *tui);
/* Returns the path of its rollout, or NULL. Owned by the caller. */
char *tui_shown_path(const struct tui *tui);
/* Appends its name for the footer, if it is a subagent. */
void tui_agents_append(const struct tui *tui, struct buf *out);
/* Send input to the subagent that is shown, or interrupt it. */
void tui_agents_send(struct tui *tui, struct op_user_input *input);
void tui_agents_interrupt(struct tui *tui);

/* ---- tui_status.c ---- */

const char *tui_status_word(size_t index); /* of an item; NULL after the last */
void tui_status_check(struct tui *tui);    /* warns of unknown items in the configuration */
void tui_status_look(struct tui *tui);     /* reads what others change: the branch */
/* Appends the items that the configuration lists at this key. Without a list it appends the usual ones, which are
 * separated by blanks, and returns false. */
bool tui_status_append(const struct tui *tui, const char *key, const char *usual, struct buf *out);
/* Appends the lines of /status about tokens and limits. */
void tui_status_append_usage(const struct tui *tui, struct buf *out);

/* ---- tui_view.c ---- */
void tui_view_draw(struct term_paint *paint, void *self);
/* Takes over the size of the window. */
void tui_view_measure(struct tui *tui);

#endif
