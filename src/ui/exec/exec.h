/* exec.h — `codex exec`: one prompt, one task, an exit status. It submits Ops and prints Events like other front
 * ends. */
#ifndef UI_EXEC_H
#define UI_EXEC_H

/* Runs `codex exec`; argv[0] is the command's name. Returns the exit status: 0, 1 after an error event, 2 for an
 * invalid command line, 130 after Ctrl-C, 143 after SIGTERM. */
int exec_main(int argc, char **argv);
/* As exec_main, for `codex review`. */
int review_main(int argc, char **argv);
/* As exec_main, for `codex resume` and `codex fork`: in a recorded session, or in a copy of one. */
int resume_main(int argc, char **argv);
int fork_main(int argc, char **argv);

#endif
