/* Two commands that differ in the files that they write. Each file is written completely before the next; other files
 * in the folder are unchanged. No configuration is loaded, because the protocol does not depend on it. The program
 * codex has the tables alone, and executes codex-fleet. */
#include "ui/serve/app_server_generate_command.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "protocol/schema/schema.h"
#include "protocol/schema/typescript.h"
#include "ui/fleet/fleet_options.h"

struct generate_options {
	const char *out;
	const char *prettier; /* accepted without effect: the output is formatted for reading anyway */
	bool experimental;
};

struct generation {
	const char *folder;
	size_t files;
};

#define ROW_OUT                                                                                                   \
	{                                                                                                         \
		.name = "out", .letter = 'o', .kind = CLI_TEXT, .offset = offsetof(struct generate_options, out), \
		.value = "DIR", .doc = "Folder to write to; created if it does not exist"                         \
	}
#define ROW_EXPERIMENTAL                                                                                             \
	{                                                                                                            \
		.name = "experimental", .kind = CLI_FLAG, .offset = offsetof(struct generate_options, experimental), \
		.doc = "Include types that need the capability experimentalApi"                                      \
	}
static const struct cli_option schema_rows[] = {
	ROW_OUT,
	ROW_EXPERIMENTAL,
};

static const struct cli_option ts_rows[] = {
	ROW_OUT,
	ROW_EXPERIMENTAL,
	{.name = "prettier",
         .letter = 'p',
         .kind = CLI_TEXT,
         .offset = offsetof(struct generate_options, prettier),
         .value = "FILE"},
};

const struct cli_command app_server_generate_schema_command = {
	.name = "codex app-server generate-json-schema",
	.about = "Write the app-server's protocol as JSON Schema (draft 7).",
	.usage = "Usage: codex app-server generate-json-schema [OPTIONS] --out <DIR>",
	.details = "A file for each message: v2/ThreadStartParams.json, ClientRequest.json, …, each\n"
		   "self-contained. codex_app_server_protocol.schemas.json has everything.\n"
		   "Tools such as quicktype make types from it; for TypeScript, use\n"
		   "codex app-server generate-ts.\n" FLEET_DETAILS,
	.options = schema_rows,
	.option_count = countof(schema_rows),
};

const struct cli_command app_server_generate_ts_command = {
	.name = "codex app-server generate-ts",
	.about = "Write the app-server's protocol as TypeScript types.",
	.usage = "Usage: codex app-server generate-ts [OPTIONS] --out <DIR>",
	.details = "A file for each type. In a client:\n"
		   "  import type { ClientRequest, v2 } from \"./DIR\";\n"
		   "  const params: v2.TurnStartParams = { … };\n" FLEET_DETAILS,
	.options = ts_rows,
	.option_count = countof(ts_rows),
};

static int on_file(const char *path, struct str text, struct error *err, void *self)
{
	struct generation *generation = self;
	auto_free char *file = path_join(generation->folder, path);
	auto_free char *folder = str_dup(path_dir(file));
	int status = dir_make(folder, 0777, err);
	if (status == 0)
		status = file_write_atomic(file, text, 0666, false, err);
	generation->files++;
	return status;
}

static int run(const struct generate_options *options, struct error *err,
               int (*write_files)(bool is_experimental, app_message_file_fn write, struct error *err, void *self))
{
	auto_free char *cwd = getcwd(NULL, 0);
	if (!cwd)
		return error_sys(err, errno, "cannot determine the working folder");
	auto_free char *folder = path_join(cwd, options->out);
	struct generation generation = {.folder = folder};
	int status = write_files(options->experimental, on_file, err, &generation);
	if (status == 0)
		fprintf(stderr, "wrote %zu files to %s\n", generation.files, options->out);
	return status;
}

static int generate_main(const struct cli_command *command, int argc, char **argv,
                         int (*write_files)(bool is_experimental, app_message_file_fn write, struct error *err,
                                            void *self))
{
	struct generate_options options = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(command, argc, argv, &options, &words);
	if (status < 0 && (!options.out || !*options.out)) {
		error_set(&err, ERR_usage, "the following required arguments were not provided:\n  --out <DIR>");
		status = cli_print_error(command, &err);
	}
	if (status < 0) {
		status = run(&options, &err, write_files);
		if (status != 0)
			fprintf(stderr, "%s: %s\n", command->name, err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
	}
	cli_finish(command, &options, &words);
	return status;
}

int app_server_generate_schema_main(int argc, char **argv)
{
	return generate_main(&app_server_generate_schema_command, argc, argv, schema_write_files);
}

int app_server_generate_ts_main(int argc, char **argv)
{
	return generate_main(&app_server_generate_ts_command, argc, argv, typescript_write_files);
}
