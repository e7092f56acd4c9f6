/* login.h — `codex login` and `codex logout`: the API key in $CODEX_HOME/auth.json.
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
