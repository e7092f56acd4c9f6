/* The budget is used from the root downwards, as in codex 0.169, so that a file at the root has the same effect in
 * every folder below. A blank file uses no budget and hides no other file. */
#include "workspace/agents_md.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

static const struct str default_markers[] = {{".git", 4}};
static const struct str first_names[] = {{"AGENTS.override.md", 18}, {"AGENTS.md", 9}};

/* Returns -1 unless the path is a readable regular file. */
static int open_regular(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? steal_fd(&fd) : -1;
}

/* Fills out up to its maximum; *ret_is_cut is set if there is more. */
static bool read_bytes(int fd, struct buf *out, bool *ret_is_cut)
{
	char chunk[8 * KIB];
	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		size_t room = out->max - out->len, take = (size_t)got < room ? (size_t)got : room;
		buf_append(out, chunk, take);
		if (take < (size_t)got) {
			*ret_is_cut = true;
			return true;
		}
	}
}

/* Removes an incomplete character at the end. */
static struct str whole_characters(struct str text)
{
	for (size_t back = 1; back < 4 && back <= text.len; back++) {
		unsigned char c = (unsigned char)text.ptr[text.len - back];
		if (c < 0x80)
			break;
		if (c >= 0xc0)
			return text_utf8_len(str_skip(text, text.len - back)) ? text : str_n(text.ptr, text.len - back);
	}
	return text;
}

static bool exists(const char *folder, struct str name)
{
	auto_free char *file = str_dup(name);
	auto_free char *path = path_join(folder, file);
	return marker_exists(path);
}

/* ---- the global file ---- */

static void read_global(const char *home, struct buf *out, bool *ret_is_cut)
{
	for (size_t i = 0; i < countof(first_names); i++) {
		auto_free char *path = path_join(home, first_names[i].ptr);
		auto_buf struct buf text;
		buf_init(&text, LIMIT_AGENTS_MD);
		bool is_cut = false;
		auto_close int fd = open_regular(path);
		if (fd < 0 || !read_bytes(fd, &text, &is_cut))
			continue;
		struct str whole = is_cut ? whole_characters(buf_str(&text)) : buf_str(&text);
		*ret_is_cut |= is_cut;
		text_append_utf8_lossy(out, str_trim(whole));
		if (out->len)
			return;
	}
}

/* ---- the project's files ---- */

static bool is_root(const struct agents_md_options *options, const char *folder)
{
	const struct str *markers = options->root_markers ? options->root_markers : default_markers;
	size_t count = options->root_markers ? options->root_marker_count : countof(default_markers);
	for (size_t i = 0; i < count; i++) {
		if (exists(folder, markers[i]))
			return true;
	}
	return false;
}

/* Returns the length of the root's path within path; the whole length without a root. */
static size_t find_root(const struct agents_md_options *options, const char *path)
{
	auto_free char *folder = xstrdup(path);
	for (size_t len = strlen(folder); len > 0;) {
		if (is_root(options, folder))
			return len;
		while (len > 0 && folder[len] != '/')
			len--;
		folder[len] = '\0';
	}
	return is_root(options, "/") ? 0 : strlen(path);
}

static size_t root_length(const struct agents_md_options *options, const char *path)
{
	if (!options->root || !path_is_inside(path, options->root))
		return find_root(options, path);
	return options->root[1] ? strlen(options->root) : 0;
}

/* ---- where a file really lies ---- */

/* Returns the real path of the open file, owned by the caller; its name may refer to another file by now. */
static char *real_path(int fd, const char *path)
{
	char real[PATH_MAX];
	return host_fd_path(fd, real, sizeof(real)) ? xstrdup(real) : realpath(path, NULL);
}

/* Returns why the file must not be read, or NULL. A project below CODEX_HOME (a work tree) may have links within
 * itself. A fallback name in a project's configuration can be any path, and /proc shows the environment of the
 * engine with its keys. */
static const char *why_refused(const struct agents_md_options *options, const char *root, const char *path,
                               const char *real)
{
	auto_free char *home = options->home ? realpath(options->home, NULL) : NULL;
	bool is_in_project = path_is_inside(real, root);
	if (is_in_project && strcmp(real, path) == 0)
		return NULL;
	if (path_is_inside(real, "/proc"))
		return "it leads into /proc";
	if (home && path_is_inside(real, home) &&
	    !(is_in_project && strcmp(root, home) != 0 && path_is_inside(root, home)))
		return "it leads into CODEX_HOME";
	return options->is_trusted || is_in_project ? NULL : "it leads out of the project, which is not trusted";
}

static int open_allowed(const struct agents_md_options *options, const char *root, const char *path)
{
	auto_close int fd = open_regular(path);
	auto_free char *real = fd >= 0 ? real_path(fd, path) : NULL;
	const char *why = real ? why_refused(options, root, path, real) : NULL;
	if (why && options->on_refused)
		options->on_refused(path, why, options->self);
	return real && !why ? steal_fd(&fd) : -1;
}

/* Opens the first of the folder's candidate names that may be read and returns its path, owned by the caller; -1
 * without one. */
static int find_file(const struct agents_md_options *options, const char *root, const char *folder, char **ret_path)
{
	for (size_t i = 0; i < countof(first_names) + options->fallback_count; i++) {
		bool is_first = i < countof(first_names);
		auto_free char *name =
			str_dup(is_first ? first_names[i] : options->fallbacks[i - countof(first_names)]);
		auto_free char *path = path_join(folder, name);
		int fd = open_allowed(options, root, path);
		if (fd < 0)
			continue;
		*ret_path = steal(path);
		return fd;
	}
	return -1;
}

struct project {
	const struct agents_md_options *options;
	struct buf *out;
	size_t bytes_left;
	bool has_text; /* text of the project was appended */
	bool is_cut;
};

static void append_doc(struct project *project, struct str text)
{
	if (str_trim(text).len == 0)
		return;
	project->bytes_left -= text.len;
	if (project->has_text)
		buf_append_c(project->out, "\n\n");
	else if (project->out->len)
		buf_append_c(project->out, "\n\n--- project-doc ---\n\n");
	project->has_text = true;
	text_append_utf8_lossy(project->out, text);
}

static void read_folder(struct project *project, const char *root, const char *folder)
{
	auto_free char *path = NULL;
	auto_close int fd = find_file(project->options, root, folder, &path);
	auto_buf struct buf text;
	buf_init(&text, project->bytes_left);
	bool is_cut = false;
	if (fd < 0 || !read_bytes(fd, &text, &is_cut))
		return;
	project->is_cut |= is_cut;
	append_doc(project, is_cut ? whole_characters(buf_str(&text)) : buf_str(&text));
	if (is_cut)
		project->bytes_left = 0;
}

/* Calls visit for each folder from the project's root down to the cwd while it returns true. */
static void walk_project(const struct agents_md_options *options,
                         bool (*visit)(const char *root, const char *folder, void *self), void *self)
{
	auto_free char *real = options->root ? xstrdup(options->cwd) : realpath(options->cwd, NULL);
	bool should_continue = true;
	if (!real)
		return;
	if (strcmp(real, "/") == 0)
		real[0] = '\0';
	size_t len = strlen(real), root_len = root_length(options, real);
	auto_free char *root = root_len ? xstrndup(real, root_len) : xstrdup("/");
	for (size_t at = root_len; at <= len && should_continue; at++) {
		if (real[at] != '/' && real[at] != '\0')
			continue;
		auto_free char *folder = at ? xstrndup(real, at) : xstrdup("/");
		should_continue = visit(root, folder, self);
	}
}

static bool on_folder_read(const char *root, const char *folder, void *self)
{
	struct project *project = self;
	read_folder(project, root, folder);
	return project->bytes_left > 0;
}

bool agents_md_read(const struct agents_md_options *options, struct buf *out, bool *ret_is_cut)
{
	auto_buf struct buf text;
	buf_init(&text, (size_t)4 * LIMIT_AGENTS_MD);
	struct project project = {.options = options, .out = &text};
	project.bytes_left = options->max_bytes < LIMIT_AGENTS_MD ? options->max_bytes : LIMIT_AGENTS_MD;
	if (options->home && !options->is_project_only)
		read_global(options->home, &text, &project.is_cut);
	if (project.bytes_left)
		walk_project(options, on_folder_read, &project);
	*ret_is_cut = project.is_cut || text.over;
	buf_append_str(out, buf_str(&text));
	return text.len > 0;
}

/* ---- their paths ---- */

struct list_of_files {
	const struct agents_md_options *options;
	struct arena *arena;
	VEC(struct str) paths;
};

static void add_path(struct list_of_files *files, const char *path)
{
	vec_push(&files->paths, arena_str(files->arena, str_of(path)));
}

static bool on_folder_listed(const char *root, const char *folder, void *self)
{
	struct list_of_files *files = self;
	auto_free char *path = NULL;
	auto_close int fd = find_file(files->options, root, folder, &path);
	if (fd >= 0)
		add_path(files, path);
	return true;
}

static void list_global(struct list_of_files *files)
{
	for (size_t i = 0; i < countof(first_names); i++) {
		auto_free char *path = path_join(files->options->home, first_names[i].ptr);
		if (file_is_regular(path)) {
			add_path(files, path);
			return;
		}
	}
}

size_t agents_md_list(const struct agents_md_options *options, struct arena *arena, struct str **ret)
{
	struct list_of_files files = {.options = options, .arena = arena};
	if (options->home && !options->is_project_only)
		list_global(&files);
	if (options->max_bytes)
		walk_project(options, on_folder_listed, &files);
	size_t count = files.paths.count;
	*ret = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = files.paths.items[i];
	vec_finish(&files.paths);
	return count;
}
