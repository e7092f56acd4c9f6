/* Options of the configuration are those of `codex exec`, so that the answer is about the run that one means. */
#include "ui/doctor/doctor_command.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/doctor/doctor.h"
#include "ui/exec/exec_options.h"
#include "ui/cli/terminal_style.h"

struct doctor_options {
	struct exec_options exec;
	bool is_json, asks_network, has_no_color, rebuilds_index;
};

#define COMMON(field) (offsetof(struct doctor_options, exec) + offsetof(struct exec_options, field))

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, COMMON(overrides), "key=value", NULL, "Set a configuration value; repeatable"},
	{"enable", 0, CLI_LIST, COMMON(enable), "FEATURE", NULL, "Same as -c features.FEATURE=true; repeatable"},
	{"disable", 0, CLI_LIST, COMMON(disable), "FEATURE", NULL, "Same as -c features.FEATURE=false; repeatable"},
	{"profile", 'p', CLI_TEXT, COMMON(profile), "NAME", NULL, "Use the configuration profile NAME"},
	{"cd", 'C', CLI_TEXT, COMMON(cwd), "DIR", NULL, "Folder whose settings count"},
	{"json", 0, CLI_FLAG, offsetof(struct doctor_options, is_json), NULL, NULL, "Print JSON"},
	{"network", 0, CLI_FLAG, offsetof(struct doctor_options, asks_network), NULL, NULL,
         "Also ask whether the provider can be reached"},
	{"rebuild-index", 0, CLI_FLAG, offsetof(struct doctor_options, rebuilds_index), NULL, NULL,
         "Make the index of sessions anew, from their files"},
	{"no-color", 0, CLI_FLAG, offsetof(struct doctor_options, has_no_color), NULL, NULL, "Print without colour"},
};

const struct cli_command doctor_command = {
	.name = "codex doctor",
	.about = "Say what works here, what does not, and what to do about it.",
	.usage = "Usage: codex doctor [OPTIONS]",
	.details = "It changes nothing without --rebuild-index and, without --network, asks nobody.\n",
	.options = rows,
	.option_count = countof(rows),
};

static int examine(const struct doctor_options *options)
{
	struct doctor doctor = {.options = &options->exec,
	                        .asks_network = options->asks_network,
	                        .rebuilds_index = options->rebuilds_index};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	doctor_run(&doctor);
	if (options->is_json)
		doctor_print_json(&doctor, &text);
	else
		doctor_print(&doctor, terminal_has_color(options->has_no_color ? "never" : NULL, STDOUT_FILENO), &text);
	int status = doctor_status(&doctor) == DOCTOR_fail;
	doctor_finish(&doctor);
	return fd_write_all(STDOUT_FILENO, buf_str(&text).ptr, text.len, NULL) == 0 ? status : 1;
}

int doctor_main(int argc, char **argv)
{
	struct doctor_options options = {0};
	struct cli_result words;
	int status = cli_read(&doctor_command, argc, argv, &options, &words);
	if (status < 0)
		status = examine(&options);
	cli_finish(&doctor_command, &options, &words);
	return status;
}
