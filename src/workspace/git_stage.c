/* Everything is created by descriptor in a folder that no command can write to, so a path swapped in the work tree
 * cannot redirect a write. git only reads the files that it reaches from there (`common`, links): it writes objects to
 * the stage's own `objects`. */
#define LOG_MODULE "git"
#include "workspace/git_stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "command/env_policy.h"
#include "workspace/git_config.h"
#include "workspace/git_info.h"
#include "workspace/host_files.h"
#include "workspace/workspace_limits.h"

#define STAGE_PREFIX "git-"

struct git_stage {
	char *folder;
	int fd; /* descriptor of folder, locked while the stage exists */
	char *root, *own, *common, *commit;
};

/* ---- files of the stage ---- */

static int create_file(const struct git_stage *stage, const char *name, struct str text, struct error *err)
{
	auto_close int fd = openat(stage->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s/%s", stage->folder, name);
	return fd_write_all(fd, text.ptr, text.len, err);
}

static int make_folders(const struct git_stage *stage, struct error *err)
{
	static const char *const names[] = {"info", "objects", "objects/info", "refs"};
	for (size_t i = 0; i < countof(names); i++) {
		if (mkdirat(stage->fd, names[i], 0700) != 0)
			return error_sys(err, errno, "cannot create %s/%s", stage->folder, names[i]);
	}
	return create_file(stage, "objects/info/alternates", STR("../common/objects\n"), err);
}

/* Creates the links. A dangling link stands for a file that the repository lacks. */
static int make_links(const struct git_stage *stage, struct error *err)
{
	static const char *const links[][2] = {
		{"common/refs/remotes", "refs/remotes"},
		{"common/packed-refs", "packed-refs"},
		{"common/shallow", "shallow"},
	};
	if (symlinkat(stage->common, stage->fd, "common") != 0)
		return error_sys(err, errno, "cannot create %s/common", stage->folder);
	for (size_t i = 0; i < countof(links); i++) {
		auto_free char *to = strchr(links[i][1], '/') ? path_join("..", links[i][0]) : xstrdup(links[i][0]);
		if (faccessat(stage->fd, links[i][0], F_OK, 0) == 0 && symlinkat(to, stage->fd, links[i][1]) != 0)
			return error_sys(err, errno, "cannot create %s/%s", stage->folder, links[i][1]);
	}
	return 0;
}

/* ---- the index ---- */

static int copy_bytes(int from, int to, const char *what, struct error *err)
{
	char chunk[64 * KIB];
	for (size_t total = 0;;) {
		ssize_t got = read(from, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0 ? 0 : error_sys(err, errno, "cannot read %s", what);
		total += (size_t)got;
		if (total > LIMIT_GIT_INDEX_COPY)
			return error_set(err, ERR_limit, "%s has more than %d MiB", what, LIMIT_GIT_INDEX_COPY / MIB);
		if (fd_write_all(to, chunk, (size_t)got, err) != 0)
			return -(int)err->code;
	}
}

/* Copies a file. If the repository lacks it, there is nothing to copy. */
static int copy_file(const struct git_stage *stage, const char *folder, const char *name, const char *as,
                     struct error *err)
{
	struct stat st;
	auto_free char *path = path_join(folder, name);
	auto_close int from = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (from < 0 || fstat(from, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	auto_close int to = openat(stage->fd, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return error_sys(err, errno, "cannot create %s/%s", stage->folder, as);
	return copy_bytes(from, to, path, err);
}

/* Copies the larger part of a split index, which is in a separate file. */
static int copy_shared_indexes(const struct git_stage *stage, struct error *err)
{
	DIR *folder = opendir(stage->own);
	int status = 0;
	for (struct dirent *found; folder && status == 0 && (found = readdir(folder));) {
		if (str_has_prefix(str_of(found->d_name), "sharedindex."))
			status = copy_file(stage, stage->own, found->d_name, found->d_name, err);
	}
	if (folder)
		closedir(folder);
	return status;
}

/* ---- its configuration ---- */

/* Settings for comparing contents and names. They run nothing, regardless of who wrote them. */
static const char *const harmless_keys[] = {"autocrlf",   "eol",      "excludesfile",     "filemode",
                                            "ignorecase", "symlinks", "precomposeunicode"};

static void write_key(const char *key, struct str value, struct buf *out)
{
	buf_printf(out, "\t%s = \"", key);
	if (str_has_prefix(value, "~/") && env_own("HOME")) { /* expand "~/", because git runs with another home */
		buf_append_c(out, env_own("HOME"));
		value = str_skip(value, 1);
	}
	for (size_t i = 0; i < value.len; i++) {
		char c = value.ptr[i];
		if (c == '\n' || c == '"' || c == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, c == '\n' ? 'n' : c);
	}
	buf_append_c(out, "\"\n");
}

static int append_keys(const struct git_stage *stage, const struct buf *keys, struct error *err)
{
	auto_close int fd = openat(stage->fd, "config", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (keys->over)
		return error_set(err, ERR_limit, "the configuration of git for %s is too long", stage->root);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s/config", stage->folder);
	return fd_write_all(fd, keys->data, keys->len, err);
}

static int write_config(const struct git_stage *stage, struct error *err)
{
	bool is_long = strlen(stage->commit) == 64; /* SHA-256 is in use */
	auto_buf struct buf text;
	buf_init(&text, KIB);
	buf_printf(&text, "[core]\n\tbare = false\n\tuntrackedCache = false\n\trepositoryformatversion = %d\n",
	           is_long);
	if (is_long)
		buf_append_c(&text, "[extensions]\n\tobjectFormat = sha256\n");
	return create_file(stage, "config", buf_str(&text), err);
}

/* Appends the repository's values last, so that they override the user's. */
static int take_own(const struct git_stage *stage, struct error *err)
{
	auto_free char *path = path_join(stage->common, "config");
	auto_buf struct buf text, keys;
	buf_init(&text, LIMIT_GIT_FILE);
	buf_init(&keys, LIMIT_GIT_FILE);
	if (file_read_regular(path, &text, NULL) != 0)
		return 0;
	buf_append_c(&keys, "[core]\n");
	for (size_t i = 0; i < countof(harmless_keys); i++) {
		auto_buf struct buf value;
		buf_init(&value, 64 * KIB);
		if (git_config_find(buf_str(&text), "core", "", harmless_keys[i], &value))
			write_key(harmless_keys[i], buf_str(&value), &keys);
	}
	return append_keys(stage, &keys, err);
}

/* Writes the default path of the user's ignore file. */
static void write_default_ignores(struct buf *out)
{
	const char *folder = env_own("XDG_CONFIG_HOME");
	auto_free char *path = path_join(folder && *folder == '/' ? folder : "~/.config", "git/ignore");
	write_key("excludesfile", str_of(path), out);
}

int git_stage_take_user(struct git_stage *stage, struct str entries, struct error *err)
{
	struct str entry, key;
	auto_buf struct buf keys;
	buf_init(&keys, LIMIT_GIT_FILE);
	buf_append_c(&keys, "[core]\n");
	write_default_ignores(&keys);
	while (str_next_part(&entries, '\0', &entry)) {
		struct str value = entry;
		if (!str_next_part(&value, '\n', &key) || !str_cut_prefix(&key, "core.") || !value.ptr)
			continue;
		for (size_t i = 0; i < countof(harmless_keys); i++) {
			if (str_is(key, harmless_keys[i]))
				write_key(harmless_keys[i], value, &keys);
		}
	}
	int status = append_keys(stage, &keys, err);
	return status == 0 ? take_own(stage, err) : status;
}

/* ---- its folder ---- */

static void remove_folder(const char *path)
{
	static const atomic_bool never = false;
	struct error err;
	if (host_remove(path, true, true, &never, &err) != 0) /* the next stage tries again to remove it */
		log_debug("cannot remove a stage: %s", err.text);
}

/* Removes the stages of killed engines, which are not locked. */
static void sweep(const char *above)
{
	DIR *folder = opendir(above);
	for (struct dirent *found; folder && (found = readdir(folder));) {
		auto_close int fd = -1;
		if (!str_has_prefix(str_of(found->d_name), STAGE_PREFIX))
			continue;
		fd = openat(dirfd(folder), found->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
			continue;
		auto_free char *path = path_join(above, found->d_name);
		remove_folder(path);
	}
	if (folder)
		closedir(folder);
}

/* Creates the folder while `above` is locked, so that no other engine removes a stage that is not locked yet. */
static int make_folder(struct git_stage *stage, const char *above, struct error *err)
{
	char *path = path_join(above, STAGE_PREFIX "XXXXXX");
	if (!mkdtemp(path)) {
		error_sys(err, errno, "cannot create a folder in %s", above);
		free(path);
		return -(int)err->code;
	}
	stage->folder = path;
	stage->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (stage->fd < 0 || flock(stage->fd, LOCK_EX | LOCK_NB) != 0)
		return error_sys(err, errno, "cannot lock %s", path);
	return 0;
}

static int open_folder(struct git_stage *stage, const char *home, struct error *err)
{
	auto_free char *above = path_join(home, "tmp");
	if (dir_make(above, 0700, err) != 0)
		return -(int)err->code;
	auto_close int lock = open(above, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX) != 0)
		return error_sys(err, errno, "cannot lock %s", above);
	sweep(above);
	return make_folder(stage, above, err);
}

/* ---- its life ---- */

static int find_repository(struct git_stage *stage, const char *cwd, struct error *err)
{
	struct git_info info;
	if (!dir_exists(cwd))
		return error_set(err, ERR_not_found, "cannot run git in %s: no such folder", cwd);
	if (git_info_read(cwd, &info)) {
		stage->root = steal(info.root);
		stage->commit = steal(info.commit);
		git_info_find_dirs(stage->root, &stage->own, &stage->common);
	}
	git_info_finish(&info);
	if (!stage->common)
		return error_set(err, ERR_not_found, "not a git repository: %s", cwd);
	return stage->commit ? 0 : error_set(err, ERR_not_found, "HEAD of %s is not a commit", stage->root);
}

static int fill(struct git_stage *stage, struct error *err)
{
	int status = make_folders(stage, err);
	if (status == 0)
		status = make_links(stage, err);
	if (status == 0)
		status = create_file(stage, "HEAD", str_of(stage->commit), err);
	if (status == 0)
		status = write_config(stage, err);
	if (status == 0)
		status = copy_file(stage, stage->common, "info/exclude", "info/exclude", err);
	if (status == 0)
		status = copy_file(stage, stage->common, "info/attributes", "info/attributes", err);
	if (status == 0)
		status = copy_file(stage, stage->own, "index", "index", err);
	return status == 0 ? copy_shared_indexes(stage, err) : status;
}

struct git_stage *git_stage_create(const char *home, const char *cwd, struct error *err)
{
	struct git_stage *stage = xnew(struct git_stage);
	stage->fd = -1;
	int status = find_repository(stage, cwd, err);
	if (status == 0)
		status = open_folder(stage, home, err);
	if (status == 0)
		status = fill(stage, err);
	if (status == 0)
		return stage;
	git_stage_destroy(stage);
	return NULL;
}

void git_stage_destroy(struct git_stage *stage)
{
	if (!stage)
		return;
	if (stage->folder)
		remove_folder(stage->folder);
	if (stage->fd >= 0)
		close(stage->fd);
	free(stage->folder);
	free(stage->root);
	free(stage->own);
	free(stage->common);
	free(stage->commit);
	free(stage);
}

const char *git_stage_root(const struct git_stage *stage)
{
	return stage->root;
}

const char *git_stage_commit(const struct git_stage *stage)
{
	return stage->commit;
}

/* ---- environment of git ---- */

static void drop_git_variables(struct env *env)
{
	for (size_t i = env->count; i-- > 0;) {
		struct str name = str_of(env->vars[i]);
		name.len = (size_t)str_find_char(name, '=');
		if (!str_has_prefix(name, "GIT_") || str_is(name, "GIT_EXEC_PATH"))
			continue;
		auto_free char *copy = str_dup(name);
		env_unset(env, str_of(copy));
	}
}

/* Hides the user's configuration. A git that is too old for one of these variables obeys the next one: without a
 * home it finds no user configuration. */
static void hide_user(const struct git_stage *stage, struct env *env)
{
	static const char *const homes[] = {"HOME", "XDG_CONFIG_HOME"};
	for (size_t i = 0; i < countof(homes); i++)
		env_set(env, str_of(homes[i]), str_of(stage->folder));
	env_set(env, STR("GIT_CONFIG_NOSYSTEM"), STR("1"));
	env_set(env, STR("GIT_CONFIG_GLOBAL"), STR("/dev/null"));
}

void git_stage_env(const struct git_stage *stage, enum git_reads reads, struct env *env)
{
	static const char *const always[][2] = {
		{"GIT_OPTIONAL_LOCKS", "0"}, {"GIT_NO_LAZY_FETCH", "1"},   {"GIT_NO_REPLACE_OBJECTS", "1"},
		{"GIT_ATTR_NOSYSTEM", "1"},  {"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"},
	};
	const struct env_policy everything = {.ignore_default_excludes = true};
	env_policy_apply(&everything, NULL, env);
	drop_git_variables(env);
	for (size_t i = 0; i < countof(always); i++)
		env_set(env, str_of(always[i][0]), str_of(always[i][1]));
	env_set(env, STR("GIT_DIR"), str_of(stage->folder));
	env_set(env, STR("GIT_WORK_TREE"), str_of(stage->root));
	if (reads == GIT_READ_STAGE)
		hide_user(stage, env);
}
