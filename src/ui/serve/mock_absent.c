/* `codex mock-model` in a build with -Dmock=false: the command exists, so that scripts get an explanation. Other
 * builds use mock_command.c. */
#include "ui/serve/mock_command.h"

#include <stdio.h>

#include "base/error.h"

const struct cli_command mock_model_command = {
	.name = "codex mock-model",
	.about = "Not in this build: it was configured with -Dmock=false.",
	.usage = "Usage: codex mock-model",
};

int mock_model_main(int argc, char **argv)
{
	struct cli_result result;
	int status = cli_read(&mock_model_command, argc, argv, NULL, &result);
	if (status < 0) {
		fputs("codex mock-model: this build does not contain the scripted model; configure codex with "
		      "-Dmock=true\n",
		      stderr);
		status = error_exit_status(ERR_unsupported);
	}
	cli_finish(&mock_model_command, NULL, &result);
	return status;
}
