/* rollout_stall.h — no event leaves a Codex before the lines it stands for are in the rollout. Private to engine/.
 *
 * A full disk shuts the gate: the model's stream and the commands stand still, the client is told so at once, and when
 * there is room everything goes on where it stopped. Whoever interrupts or shuts down does not want to wait: the gate
 * opens, and what is missing is written if that becomes possible. Where nothing can be written for another reason (a
 * home that is read only, a broken disk), waiting would help nobody: the gate stays open and the client is told once.
 *
 * Owns: the timer that looks for room while the gate is shut. Loop thread. Source: docs/rollouts.md. */
#ifndef ENGINE_ROLLOUT_STALL_H
#define ENGINE_ROLLOUT_STALL_H

#include <stdbool.h>

struct codex;
struct loop_timer;

struct rollout_stall {
	struct loop_timer *retry; /* NULL until the disk was full once */
	bool is_shut;
	bool is_forced;  /* until the next success: nobody waits */
	bool is_failing; /* the client was told so */
};

/* Writes what is pending. True: events may leave now. False: on_events runs again when they may. */
bool rollout_stall_pass(struct codex *codex);
/* Nobody wants to wait for the disk any more. */
void rollout_stall_force(struct codex *codex);
void rollout_stall_finish(struct rollout_stall *gate);

#endif
