/* tui_priv.h — the state of the terminal client, shared by tui.c (events and keys), tui_view.c (the live rows) and
 * tui_main.c (start and end). */
#ifndef UI_TUI_PRIV_H
#define UI_TUI_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "engine/codex/codex.h"
#include "term/term_keys.h"
#include "term/term_row.h"
#include "ui/exec/exec_prompt.h"
#include "ui/tui/tui_composer.h"
#include "ui/exec/exec_options.h"

struct loop_timer;

/* Input that waits: for the running turn to read it, or for the turn to end. */
struct tui_waiting {
	char *text;
	bool is_queued; /* for the next turn; otherwise it was submitted to the running one */
};

/* The command line. Values are borrowed from argv. */
struct tui_options {
	struct exec_options run; /* first: the rows of exec_option.def count from its start */
	const char *approval;
	char *approval_line; /* as an override; owned */
	bool ignored;
};

struct tui {
	struct tui_options options;
	struct config *config;
	char *cwd;
	struct exec_images images;
	bool has_color;

	struct loop *loop;
	struct services *services;
	struct codex *codex;
	struct term_tty *tty;
	struct term_keys keys;
	struct loop_timer *escape; /* decides about a lone ESC */
	struct loop_timer *tick;   /* the seconds of the working line */
	struct tui_frame *frame;
	struct tui_cells *cells;
	struct tui_ask *ask;
	struct composer composer;
	struct tui_pager *pager; /* on the alternate screen; NULL: none */
	struct term_row row;
	size_t rows, columns; /* the window, without its last column */

	/* the session */
	char *resume_path; /* the rollout that is resumed; NULL: a new session */
	char *session_id, *model, *effort;
	struct token_usage usage;
	int64_t context_window, context_used;
	VEC(struct tui_waiting) waiting;
	uint64_t started_ms; /* of the running turn */
	unsigned unread;     /* messages that joined the running turn after its last request */
	unsigned half_read;  /* messages in its last request, whose response is not complete */
	bool has_error;      /* the running turn failed */
	bool is_exclusive;   /* the running task takes no messages: they wait */
	bool is_configured, is_running, is_interrupted, is_plan_mode;
	bool has_turn; /* there was a turn, so that the session can be resumed */
	bool has_plan; /* this turn proposed a plan */
	bool is_held;  /* the engine waits until the terminal has taken its output */
	bool is_over;  /* shutdown was submitted */
	int signal;    /* the one that ended the program */
	bool has_failed;
};

/* ---- tui_options.c ---- */
/* Reads the command line of one of the commands of tui.h. Returns -1 to continue, else the exit status. */
must_check int tui_options_read(const struct cli_command *command, struct tui_options *options,
                                struct cli_result *words, int argc, char **argv);
void tui_options_finish(const struct cli_command *command, struct tui_options *options, struct cli_result *words);

/* ---- tui.c ---- */
void tui_on_event(const struct event *event, void *self);
void tui_on_key(const struct term_key *key, void *self);
void tui_submit(struct tui *tui, enum op_tag tag, void *body);
/* Sends text as the user's message; the images of the command line go with the first one. */
void tui_say(struct tui *tui, struct str text);
/* Switches between plan and default mode. */
void tui_set_plan_mode(struct tui *tui, bool is_on);
/* Interrupts the running turn. */
void tui_interrupt(struct tui *tui);
/* Ends the session and the program. */
void tui_quit(struct tui *tui);

/* ---- requests of the engine: each becomes a panel, and its answer an Op ---- */
void tui_request_command(struct tui *tui, const struct event *event);
void tui_request_patch(struct tui *tui, const struct event *event);
/* Asks whether the proposed plan is to be carried out. */
void tui_request_plan(struct tui *tui);
void tui_request_questions(struct tui *tui, const struct event *event);   /* tui_questions.c */
void tui_request_elicitation(struct tui *tui, const struct event *event); /* tui_elicit.c */

/* ---- tui_command.c ---- */
/* Runs "/name arguments". False: the text is no command but a message. */
bool tui_command(struct tui *tui, struct str text);

/* ---- tui_session.c ---- */
/* Finds the session that the command line names, and sets resume_path. May ask the user, before the terminal is taken
 * over. */
must_check int tui_session_find(struct tui *tui, struct error *err);
/* Writes the end of the resumed session to the conversation. */
void tui_session_replay(struct tui *tui);
/* Prepares what a crash says: how the session is resumed. */
void tui_session_note_crash(const struct tui *tui);
void tui_transcript_open(struct tui *tui);
/* Handles a key while the transcript is shown. False: it is not. */
bool tui_transcript_key(struct tui *tui, const struct term_key *key);

/* ---- tui_view.c ---- */
void tui_view_draw(struct term_paint *paint, void *self);
/* Takes over the size of the window. */
void tui_view_measure(struct tui *tui);

#endif
