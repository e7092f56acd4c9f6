/* settings.h — what a Task runs under: model, folder, sandboxes. A snapshot that never changes.
 *
 * Changing settings makes a new snapshot; a running Task keeps the one it began with.
 * Refcounted; loop thread only. */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include "base/arena.h"
#include "model/model_catalog.h"
#include "sandbox/sandbox.h"
#include "protocol/record/types.h"

struct config;
struct error;

struct settings {
	/* read-only */
	const char *model;
	const char *cwd;                                /* absolute and normalised */
	const struct ask_for_approval *approval_policy; /* never `reject` */
	const struct sandbox *sandbox;                  /* as the wire words it */
	struct sandbox_policy sandbox_policy;           /* as process/ wants it */
	enum reasoning_effort effort;                   /* unset: the model's own */
	bool has_summary;                               /* somebody chose it; else it is the model's own */
	enum reasoning_summary summary;
	enum verbosity verbosity;
	enum personality personality;
	enum mode_kind mode;
	const char *mode_instructions; /* the client's own; NULL: ours, if tells_mode */
	bool tells_mode;
	struct model_info info;
	int64_t compact_limit; /* tokens in use from which the history is compacted */
	/* private */
	int refs;
	struct arena arena;
};

/* Fields absent here stay as they are in the base. */
struct settings_change {
	struct str model;
	struct str cwd;
	const struct ask_for_approval *approval_policy;
	const struct sandbox *sandbox;
	bool has_effort;
	enum reasoning_effort effort;
	bool has_summary;
	enum reasoning_summary summary;
	bool has_personality;
	enum personality personality;
	const struct collaboration_mode *mode;
};

/* The configuration's values. cwd must be absolute. */
/* fallback_model: where none is configured; NULL: the catalog's default. */
struct settings *settings_create(const struct config *config, const char *cwd, const char *fallback_model);
/* A new snapshot; NULL and err if a value cannot be used (ERR_invalid: cwd relative or no folder). */
struct settings *settings_with(const struct settings *base, const struct config *config,
                               const struct settings_change *change, struct error *err);
/* The built-in instructions of a mode. */
struct str settings_default_mode_text(enum mode_kind mode);
/* The instructions for the settings' mode, the client's or the built-in ones; STR_NONE: the model gets none. */
struct str settings_mode_text(const struct settings *settings);
/* The effort that requests ask for or, where they name none, the model's default; medium where that is not known. */
enum reasoning_effort settings_shown_effort(const struct settings *settings);
struct settings *settings_ref(struct settings *settings);
void settings_unref(struct settings *settings); /* NULL is fine */

#endif
