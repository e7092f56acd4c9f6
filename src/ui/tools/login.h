/* login.h — `codex login` and `codex logout`: the login or API key of $CODEX_HOME.
 *
 * Messages are printed on standard error, as programs that parse them expect. Keys are never printed in full. */
#ifndef UI_LOGIN_H
#define UI_LOGIN_H

#include "ui/cli/cli.h"

extern const struct cli_command login_command;
extern const struct cli_command logout_command;

/* Returns the exit status: 0; 1 if it failed or no key is stored; 2 for an invalid command line. */
int login_main(int argc, char **argv);
int logout_main(int argc, char **argv);

#endif
