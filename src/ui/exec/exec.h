/* exec.h — `codex exec`: one prompt, one task, an exit status. It submits Ops and prints Events like other front
 * ends. */
#ifndef UI_EXEC_H
#define UI_EXEC_H

/* argv[0] is the command's name. Returns the exit status: 0, 1 after an error event, 2 for a command line
 * that cannot be understood, 130 after Ctrl-C, 143 after SIGTERM. */
int exec_main(int argc, char **argv);
/* `codex review`: the same for a review. */
int review_main(int argc, char **argv);
/* `codex resume`, `codex fork`: the same in a recorded session, or in a copy of one. */
int resume_main(int argc, char **argv);
int fork_main(int argc, char **argv);

#endif
