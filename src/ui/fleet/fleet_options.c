/* Numbers are texts here: the program that uses them checks them. */
#include "ui/fleet/fleet_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "base/mem.h"
#include "config/config_env.h"

#define ROW(field, text, letter_, kind_, value_, doc_)                                                           \
	{                                                                                                        \
		.name = text, .letter = letter_, .kind = kind_, .offset = offsetof(struct fleet_options, field), \
		.value = value_, .doc = doc_                                                                     \
	}
#define COMMON                                                                               \
	ROW(redis, "redis", 0, CLI_TEXT, "URL", "The Redis server; or set CODEX_REDIS_URL"), \
		ROW(namespace, "namespace", 0, CLI_TEXT, "NS", "The tenant [default]")

static const struct cli_option worker_rows[] = {
	COMMON,
	ROW(name, "name", 0, CLI_TEXT, "NAME", "The worker's name [host-pid]"),
	ROW(max_sessions, "max-sessions", 0, CLI_TEXT, "N", "Sessions at the same time [64]"),
	ROW(lease_ms, "lease-ms", 0, CLI_TEXT, "MS", "Silence after which a worker counts as lost [15000]"),
	ROW(idle_ms, "idle-ms", 0, CLI_TEXT, "MS", "Let a session go after this time without a task [60000]"),
	ROW(drain_ms, "drain-ms", 0, CLI_TEXT, "MS", "Time for running tasks to end while draining [30000]"),
	ROW(max_crashes, "max-crashes", 0, CLI_TEXT, "N", "Put a session aside that loses N workers in a row [3]"),
	ROW(events_kept, "events-kept", 0, CLI_TEXT, "N", "Events to keep of each session [10000]"),
	ROW(admin, "admin", 0, CLI_TEXT, "IP:PORT", "Serve /healthz, /readyz and /metrics"),
	ROW(token_file, "token-file", 0, CLI_TEXT, "FILE", "With --admin: requests must show the token in FILE"),
	ROW(overrides, "config", 'c', CLI_LIST, "key=value", "Set a configuration value (TOML); repeatable"),
	{.name = "wire-profile",
         .kind = CLI_TEXT,
         .offset = offsetof(struct fleet_options, wire_profile),
         .value = "NAME",
         .choices = "v1-2026-01|v1-2025-10|legacy2025|doc",
         .doc = "Generation of the events"},
};

const struct cli_command worker_command = {
	.name = "codex worker",
	.about = "Run sessions of a fleet: submissions and events are in Redis.",
	.usage = "Usage: codex worker --redis URL [OPTIONS]",
	.details = "URL: redis://[user[:password]@]host[:port][/db], rediss://… (TLS), unix:///path.\n"
		   "SIGTERM drains: running tasks end, or another worker continues them.\n"
		   "docs/fleet.md describes keys, guarantees and operation.\n" FLEET_DETAILS,
	.options = worker_rows,
	.option_count = countof(worker_rows),
};

static const struct cli_option common_rows[] = {COMMON};
static const struct cli_option submit_rows[] = {
	COMMON,
	ROW(session, "session", 0, CLI_TEXT, "SID", "The session [a new one]"),
	ROW(id, "id", 0, CLI_TEXT, "ID", "The submission's id [a new one]"),
	ROW(op, "op", 0, CLI_TEXT, "JSON", "Submit this operation instead of TEXT"),
};
static const struct cli_option watch_rows[] = {
	COMMON,
	ROW(after, "after", 0, CLI_TEXT, "N", "Begin with event N+1 [0]"),
	ROW(task, "task", 0, CLI_TEXT, "ID", "Exit when this task ends: 0, or 1 if it was aborted"),
};

#define SUB(name_, args_, about_, rows_, positionals_)                    \
	static const struct cli_command name_##_command = {               \
		.name = "codex fleet " #name_,                            \
		.about = about_ ".",                                      \
		.usage = "Usage: codex fleet " #name_ " [OPTIONS]" args_, \
		.options = rows_,                                         \
		.option_count = countof(rows_),                           \
		.most_positionals = positionals_,                         \
	};
#include "ui/fleet/fleet_command.def"
#undef SUB

static const struct cli_word fleet_words[] = {
#define SUB(name_, args_, about_, rows_, positionals_) {.word = #name_, .doc = about_, .command = &name_##_command},
#include "ui/fleet/fleet_command.def"
#undef SUB
};

const struct cli_command fleet_command = {
	.name = "codex fleet",
	.about = "Use and watch the sessions of a fleet of workers.",
	.usage = "Usage: codex fleet <COMMAND> [OPTIONS]",
	.details = FLEET_DETAILS,
	.words = fleet_words,
	.word_count = countof(fleet_words),
	.options = common_rows,
	.option_count = countof(common_rows),
};

static const struct cli_option import_rows[] = {
	{"apply", 0, CLI_FLAG, offsetof(struct import_options, applies), NULL, NULL, "Import it"},
	{"cd", 'C', CLI_TEXT, offsetof(struct import_options, folder), "DIR", NULL, "The project [the current folder]"},
	{"config", 'c', CLI_LIST, offsetof(struct import_options, overrides), "key=value", NULL, NULL},
	{"rpc", 0, CLI_FLAG, offsetof(struct import_options, is_rpc), NULL, NULL, NULL},
};

const struct cli_command import_command = {
	.name = "codex import",
	.about = "Show or import the settings, skills, servers and sessions of Claude Code.",
	.usage = "Usage: codex import [--apply] [-C DIR]",
	.details = "Nothing that exists is overwritten; hooks need `codex hooks trust`.\n" FLEET_DETAILS,
	.options = import_rows,
	.option_count = countof(import_rows),
};

/* ---- execution ---- */

struct search {
	struct stat own;   /* codex itself */
	char **words;      /* of the command */
	char *path;        /* of the codex-fleet that was found, but did not start; owned */
	const char *cause; /* why */
};

/* True if the program belongs to root, to the user or to the owner of codex, and not every user can write it. In a user
 * name space root and others have one number, which is that of codex, too. */
static bool is_trusted(const struct search *search, const struct stat *st)
{
	bool is_known = st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == search->own.st_uid;
	return is_known && !(st->st_mode & S_IWOTH);
}

/* Does nothing after a program was found. */
static void try_exec(struct search *search, const char *folder, const char *below)
{
	struct stat st;
	if (search->path)
		return;
	auto_free char *path = xasprintf("%s/%scodex-fleet", folder, below);
	bool is_there = stat(path, &st) == 0, is_ours = is_there && is_trusted(search, &st);
	if (!is_there && (errno == ENOENT || errno == ENOTDIR))
		return;
	if (is_ours)
		execv(path, search->words);
	search->cause = is_there && !is_ours
	                        ? "it belongs to a user who is neither root nor you, or every user can write it"
	                        : strerror(errno);
	search->path = steal(path);
}

/* As a shell reports a command that it does not find. */
enum { EXIT_MISSING = 127 };

static int report(const struct search *search, bool has_own, const char *command)
{
	if (search->path)
		fprintf(stderr, "%s: cannot start %s: %s\n", command, search->path, search->cause);
	else if (!has_own)
		fprintf(stderr, "%s: cannot find codex-fleet, which is beside codex: is /proc mounted?\n", command);
	else
		fprintf(stderr,
		        "%s: cannot find codex-fleet: install the package codex-c-fleet, or unpack its tarball over "
		        "this installation\n",
		        command);
	return search->path || !has_own ? 1 : EXIT_MISSING;
}

/* argv[0] of codex-fleet has the version, which its main compares with its own. */
int fleet_exec(const struct cli_command *command, int argc, char **argv)
{
	char own[PATH_MAX];
	const char *chosen = config_env("CODEX_LIBEXEC");
	struct search search = {.words = xcalloc((size_t)argc + 2, sizeof(*search.words))};
	search.words[0] = (char *)(uintptr_t)FLEET_PROGRAM;
	memcpy(search.words + 1, argv, (size_t)argc * sizeof(*argv));
	bool has_own = host_program_path(own, sizeof(own)) && strrchr(own, '/') && stat(own, &search.own) == 0;
	if (!has_own)
		search.own.st_uid = geteuid();
	if (has_own) {
		*strrchr(own, '/') = '\0';
		try_exec(&search, own, "");
		try_exec(&search, own, "../libexec/codex/");
	}
	if (chosen)
		try_exec(&search, chosen, "");
	int status = report(&search, has_own, command->name);
	free(search.path);
	free(search.words);
	return status;
}

int fleet_run(const struct cli_command *command, int argc, char **argv)
{
	if (!cli_wants_help(argc, argv))
		return fleet_exec(command, argc, argv);
	cli_print_help(command, STDOUT_FILENO);
	return 0;
}
