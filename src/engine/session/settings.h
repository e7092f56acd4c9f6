/* settings.h — the settings of a Task: model, folder, policies, mode. An immutable snapshot, but for the context
 * window, which the model's server may report later.
 *
 * A change creates a new snapshot; a running Task keeps the one that it began with. Reference-counted; loop thread
 * only. */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "model/model_catalog.h"
#include "remote/environment.h"
#include "sandbox/sandbox.h"
#include "protocol/record/types.h"

struct config;

struct settings {
	/* read-only */
	const char *model;
	const char *cwd;                   /* absolute and normalised */
	struct environment *environment;   /* where commands run; NULL: this machine */
	const char *environment_cwd;       /* their folder there */
	struct environment_place *further; /* places that a call can name instead */
	size_t further_count;
	const struct ask_for_approval *approval_policy; /* never `reject` */
	enum approvals_reviewer reviewer;
	const struct sandbox *sandbox;        /* as on the wire */
	struct sandbox_policy sandbox_policy; /* the same policy for sandbox/ */
	enum reasoning_effort effort;         /* unset: the model's default, or effort_word */
	const char *effort_word;              /* a word of the configuration that the enum lacks; NULL: unset */
	/* the summary was chosen; otherwise it is the model's default */
	bool has_summary;
	enum reasoning_summary summary;
	enum verbosity verbosity;
	enum personality personality;
	enum mode_kind mode;
	const char *mode_instructions; /* the client's instructions; NULL: the built-in ones, if describes_mode */
	bool describes_mode;
	struct model_info info;
	int64_t compact_limit; /* number of tokens from which on the history is compacted */
	int64_t served_window; /* the model's context window as its server has reported it; 0: unknown */
	/* private */
	int refs;
	struct arena arena;
};

/* The fields to change; an absent field keeps its value. */
struct settings_change {
	struct str model;
	struct str cwd;
	bool has_environment;
	struct environment *environment; /* borrowed; NULL: this machine */
	struct str environment_cwd;
	struct environment_place further[LIMIT_ENVIRONMENT_PLACES - 1]; /* borrowed */
	size_t further_count;
	const struct ask_for_approval *approval_policy;
	bool has_reviewer;
	enum approvals_reviewer reviewer;
	const struct sandbox *sandbox;
	bool has_effort;
	enum reasoning_effort effort;
	bool has_summary;
	enum reasoning_summary summary;
	bool has_personality;
	enum personality personality;
	const struct collaboration_mode *mode;
};

/* Returns the changes that a configure_session asks for, except for its environments. Borrowed from op. */
struct settings_change settings_change_of(const struct op_configure_session *op);
/* Creates the settings of the configuration. cwd must be absolute. fallback_model is used if no model is configured;
 * NULL: the catalog's default. */
must_check struct settings *settings_create(const struct config *config, const char *cwd, const char *fallback_model);
/* Returns a changed snapshot, owned by the caller. NULL and err if a value is unusable (ERR_invalid: cwd is relative
 * or is not a folder; ERR_denied: the administrator's requirements exclude it). */
must_check struct settings *settings_with(const struct settings *base, const struct config *config,
                                          const struct settings_change *change, struct error *err);
/* Takes over the context window that the server of the model has reported. */
void settings_serve_window(struct settings *settings, const struct config *config, int64_t window);
/* Returns the working folder of commands, on the machine where they run. */
const char *settings_folder(const struct settings *settings);
/* Returns the folder of one of the further places. */
const char *settings_folder_of(const struct settings *settings, const struct environment_place *place);
/* True if there is another machine. */
bool settings_have_remote(const struct settings *settings);
/* True if there is another machine, or several. */
bool settings_name_places(const struct settings *settings);
/* True if calls act on the same machines, in the same folders. */
bool settings_have_same_places(const struct settings *a, const struct settings *b);
/* Returns the name of the shell there. */
const char *settings_shell(const struct settings *settings);
/* Returns the built-in instructions of a mode. */
struct str settings_default_mode_text(enum mode_kind mode);
/* Returns the instructions of the settings' mode: the client's or the built-in ones; STR_NONE without any. */
struct str settings_mode_text(const struct settings *settings);
/* Returns the chosen effort, else the model's default, else medium. */
enum reasoning_effort settings_shown_effort(const struct settings *settings);
struct settings *settings_ref(struct settings *settings);
void settings_unref(struct settings *settings); /* NULL is a no-op */

#endif
