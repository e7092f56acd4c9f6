/* The place of the program shows how it was installed. Only files are read: the package manager itself may need root or
 * the network. The most specific trace is looked for first, because a package also has the files of an installation. */
#include "ui/tools/update_command.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/shell.h"
#include "config/config_env.h"

#define NPM_PACKAGE "codex-c"

const struct cli_command update_command = {
	.name = "codex update",
	.about = "Print the command that updates codex.",
	.usage = "Usage: codex update",
	.details = "It finds out how codex was installed: as a Debian package, with npm, pnpm, yarn\n"
		   "or bun, from a tarball, or from source. It connects to no server, so it cannot\n"
		   "know whether a newer version exists, and it changes nothing.\n",
};

/* Appends the way of installation and a command to out and returns true, or returns false. */
typedef bool (*recognize_fn)(const char *program, struct buf *out);

static void append_quoted(struct buf *out, const char *before, struct str path)
{
	buf_append_c(out, before);
	shell_quote(out, path);
}

static bool has_file(struct str folder, const char *name)
{
	auto_free char *path = xasprintf("%.*s/%s", STR_ARG(folder), name);
	return file_exists(path);
}

/* ---- npm and its relatives ---- */

struct manager {
	const char *variable; /* set by the launcher of the npm package */
	const char *mark;     /* part of the paths of its installations; NULL: none */
	const char *name, *global, *local;
};

static const struct manager managers[] = {
	{"CODEX_MANAGED_BY_PNPM", "pnpm/", "pnpm", "pnpm add --global ", "pnpm add --dir "},
	{"CODEX_MANAGED_BY_BUN", "/.bun/", "bun", "bun add --global ", "bun add --cwd "},
	{"CODEX_MANAGED_BY_YARN", NULL, "yarn", "yarn global add ", "yarn --cwd "},
	{"CODEX_MANAGED_BY_NPM", NULL, "npm", "npm install --global ", "npm install --prefix "},
};

/* The variable alone proves nothing: commands that an npm installation runs inherit it. */
static const struct manager *find_manager(const char *program)
{
	for (size_t i = 0; i < countof(managers); i++) {
		if (managers[i].mark && strstr(program, managers[i].mark))
			return &managers[i];
	}
	for (size_t i = 0; i + 1 < countof(managers); i++) {
		if (config_env(managers[i].variable))
			return &managers[i];
	}
	return &managers[countof(managers) - 1];
}

/* folder has node_modules: a project, or the folder that holds what is installed for all projects. */
static void append_npm_command(struct buf *out, const struct manager *manager, struct str folder)
{
	bool is_shared = str_find(folder, STR("/global/")) >= 0 || str_has_suffix(folder, "/global");
	if (str_find(folder, STR("/_npx/")) >= 0) {
		buf_append_c(out, "npx ");
	} else if (is_shared || !has_file(folder, "package.json")) {
		buf_append_c(out, manager->global);
	} else {
		append_quoted(out, manager->local, folder);
		buf_append_c(out, strcmp(manager->name, "yarn") == 0 ? " add " : " ");
	}
	buf_append_c(out, NPM_PACKAGE "@latest\n");
}

static bool recognize_npm(const char *program, struct buf *out)
{
	const char *modules = strstr(program, "/node_modules/");
	if (!modules)
		return false;
	const struct manager *manager = find_manager(program);
	buf_printf(out, "was installed with %s. To update it, run:\n  ", manager->name);
	append_npm_command(out, manager, str_n(program, (size_t)(modules - program)));
	return true;
}

/* ---- Debian packages ---- */

/* The lists name one file per line. */
static bool list_has(const char *list, const char *program)
{
	auto_buf struct buf text;
	struct str rest, line;
	buf_init(&text, 16 * MIB);
	if (file_read(list, &text, NULL) != 0)
		return false;
	rest = buf_str(&text);
	while (str_next_part(&rest, '\n', &line)) {
		if (str_is(line, program))
			return true;
	}
	return false;
}

/* Searches as `dpkg -S` does, and honours its variable DPKG_ADMINDIR. */
static bool recognize_dpkg(const char *program, struct buf *out)
{
	const char *admin = config_env("DPKG_ADMINDIR");
	auto_free char *folder = path_join(admin ? admin : "/var/lib/dpkg", "info");
	DIR *dir = opendir(folder);
	bool is_found = false;
	for (struct dirent *it; dir && !is_found && (it = readdir(dir));) {
		struct str name = str_of(it->d_name), package = name;
		if (!str_has_suffix(name, ".list"))
			continue;
		auto_free char *list = path_join(folder, it->d_name);
		package.len -= strlen(".list");
		ptrdiff_t colon = str_find_char(package, ':'); /* before the architecture */
		package.len = colon >= 0 ? (size_t)colon : package.len;
		is_found = list_has(list, program);
		if (is_found)
			buf_printf(out,
			           "was installed as the Debian package %.*s. To update it, run:\n"
			           "  sudo apt-get update && sudo apt-get install --only-upgrade %.*s\n",
			           STR_ARG(package), STR_ARG(package));
	}
	if (dir)
		closedir(dir);
	return is_found;
}

/* ---- without a package manager ---- */

static bool recognize_build(const char *program, struct buf *out)
{
	struct str build = path_dir(program);
	auto_free char *folder = str_dup(build);
	struct str source = path_dir(folder);
	if (!has_file(build, "build.ninja") || !has_file(source, "dev"))
		return false;
	append_quoted(out, "was built from source. To update it, run:\n  cd ", source);
	buf_append_c(out, " && git pull && ./dev build\n");
	return true;
}

/* PREFIX of PREFIX/bin/codex. */
static struct str find_prefix(const char *program)
{
	struct str folder = path_dir(program);
	if (!str_has_suffix(folder, "/bin"))
		return STR_NONE;
	folder.len -= strlen("/bin");
	return folder;
}

static bool recognize_tarball(const char *program, struct buf *out)
{
	struct str prefix = find_prefix(program);
	if (!prefix.len || !has_file(prefix, "THIRD-PARTY") || !has_file(prefix, "LICENSE"))
		return false;
	/* The folder of a tarball has the version in its name; its files replace those of this one. */
	append_quoted(out, "was unpacked from a tarball. To update it, download the newer tarball and run:\n  tar -C ",
	              prefix);
	buf_append_c(out, " --strip-components=1 -xJf codex-VERSION-linux-ARCHITECTURE.tar.xz\n");
	if (has_file(prefix, "libexec/codex/codex-fleet"))
		buf_append_c(out, "and the same with codex-fleet-VERSION-linux-ARCHITECTURE.tar.xz.\n");
	return true;
}

static bool recognize_install(const char *program, struct buf *out)
{
	struct str prefix = find_prefix(program);
	if (!prefix.len || !has_file(prefix, "include/codex/codex.h"))
		return false;
	append_quoted(out,
	              "was installed from source. To update it, run in the source folder:\n"
	              "  git pull && ./dev install ",
	              prefix);
	buf_append_char(out, '\n');
	return true;
}

/* ---- the command ---- */

static const recognize_fn recognizers[] = {
	recognize_npm, recognize_dpkg, recognize_build, recognize_tarball, recognize_install,
};

static int update(void)
{
	char program[PATH_MAX];
	auto_buf struct buf text;
	buf_init(&text, 64 * KIB);
	if (!host_program_path(program, sizeof(program))) {
		fprintf(stderr, "codex update: cannot find the program's own path; is /proc mounted?\n");
		return 1;
	}
	buf_printf(&text, "codex " CODEX_VERSION " (%s) ", program);
	for (size_t i = 0; i < countof(recognizers); i++) {
		if (recognizers[i](program, &text))
			return fd_write_all(STDOUT_FILENO, text.data, text.len, NULL) == 0 ? 0 : 1;
	}
	fprintf(stderr, "codex update: it is unknown how %s was installed; update it in the same way\n", program);
	return 1;
}

int update_main(int argc, char **argv)
{
	struct cli_result result;
	int status = cli_read(&update_command, argc, argv, NULL, &result);
	if (status < 0)
		status = update();
	cli_finish(&update_command, NULL, &result);
	return status;
}
