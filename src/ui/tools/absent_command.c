/* The commands are known, so that a script that uses them learns why they fail instead of starting a session with their
 * name as the prompt. */
#include "ui/tools/absent_command.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { EXIT_FAILED = 1, ARGUMENTS_MAX = 64 };

static const struct cli_argument task_arguments[] = {{"[TASK]", "The id of a task"}};

static const struct cli_word cloud_words[] = {
	{.word = "exec", .doc = "Submit a task"},
	{.word = "status", .doc = "Show a task"},
	{.word = "list", .doc = "List tasks"},
	{.word = "apply", .doc = "Apply the changes of a task"},
	{.word = "diff", .doc = "Show the changes of a task"},
};

const struct cli_command apply_command = {
	.name = "codex apply",
	.about = "Not available: applies the changes of a task of the vendor's cloud service.",
	.usage = "Usage: codex apply [TASK]",
	.details = "This version does not use that service. A patch in a file is applied with\n"
		   "`git apply FILE`.\n",
	.arguments = task_arguments,
	.argument_count = countof(task_arguments),
	.most_positionals = ARGUMENTS_MAX,
};

const struct cli_command cloud_command = {
	.name = "codex cloud",
	.about = "Not available: submits tasks to the vendor's cloud service, and shows them.",
	.usage = "Usage: codex cloud [exec|status|list|apply|diff] [TASK]",
	.details = "This version does not use that service. `codex exec` runs a task here.\n",
	.words = cloud_words,
	.word_count = countof(cloud_words),
	.arguments = task_arguments,
	.argument_count = countof(task_arguments),
	.most_positionals = ARGUMENTS_MAX,
};

const struct cli_command plugin_command = {
	.name = "codex plugin",
	.about = "Not available: installs plugins.",
	.usage = "Usage: codex plugin [add|list|remove|marketplace] [NAME]",
	.details = "The parts of a plugin are used without it: skills in $CODEX_HOME/skills, MCP\n"
		   "servers with `codex mcp add`, hooks in $CODEX_HOME/hooks.json.\n",
	.most_positionals = ARGUMENTS_MAX,
};

const struct cli_command remote_control_command = {
	.name = "codex remote-control",
	.about = "Not available: connects to the vendor's remote control.",
	.usage = "Usage: codex remote-control",
	.details = "Without that service, `codex app-server --listen ws://HOST:PORT` and\n"
		   "`codex proto --listen http://127.0.0.1:PORT` serve clients.\n",
	.most_positionals = ARGUMENTS_MAX,
};

/* True for --help, also beside options that this program does not know. */
static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

static int refuse(const struct cli_command *command, int argc, char **argv, const char *reason)
{
	if (wants_help(argc, argv)) {
		cli_print_help(command, 1);
		return 0;
	}
	fprintf(stderr, "Error: %s\n", reason);
	return EXIT_FAILED;
}

int apply_main(int argc, char **argv)
{
	return refuse(&apply_command, argc, argv,
	              "`codex apply` needs a task of the vendor's cloud service, which this version does not use. "
	              "`git apply FILE` applies a patch.");
}

int cloud_main(int argc, char **argv)
{
	return refuse(
		&cloud_command, argc, argv,
		"`codex cloud` needs the vendor's cloud service, which this version does not use. `codex exec` runs "
		"a task on this machine.");
}

int plugin_main(int argc, char **argv)
{
	return refuse(&plugin_command, argc, argv,
	              "this version has no plugins. Skills in $CODEX_HOME/skills, `codex mcp add` and hooks in "
	              "$CODEX_HOME/hooks.json do the same.");
}

int remote_control_main(int argc, char **argv)
{
	return refuse(&remote_control_command, argc, argv,
	              "`codex remote-control` needs the vendor's service, which this version does not use. `codex "
	              "app-server --listen ws://HOST:PORT` serves clients.");
}
