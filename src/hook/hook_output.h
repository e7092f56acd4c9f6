/* hook_output.h — the effect of a hook that has ended: its exit status and its output, read as its event permits.
 *
 * The forms are closed: an unknown member makes the hook fail, and a failed hook has no effect. */
#ifndef HOOK_HOOK_OUTPUT_H
#define HOOK_HOOK_OUTPUT_H

#include "base/arena.h"
#include "config/hook_config.h"

enum hook_permission { HOOK_PERMISSION_none, HOOK_PERMISSION_allow, HOOK_PERMISSION_deny };

/* The end of a hook's process. */
struct hook_end {
	int exit_code;             /* -1 if a signal ended it */
	int signal;                /* 0 if it exited */
	const char *failure;       /* why it did not run or was ended, or NULL */
	struct str out, complaint; /* stdout and stderr */
};

/* Texts are STR_NONE if the hook has not given them. */
struct hook_effect {
	enum hook_status status;  /* completed, failed, blocked or stopped */
	struct str error;         /* why it failed */
	struct str reason;        /* of blocked and stopped */
	struct str context;       /* for the model */
	struct str message;       /* for the user */
	struct str updated_input; /* JSON: the arguments that replace those of the tool */
	enum hook_permission permission;
	struct str permission_message;
};

/* Fills *ret. Its texts are allocated in the arena. */
void hook_output_read(enum hook_event event, const struct hook_end *end, struct arena *arena, struct hook_effect *ret);

#endif
