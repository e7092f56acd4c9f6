/* The three levels of folders are read from the newest day backwards, and a search by id stops at its first match: the
 * cost depends on the number of days examined, not on the number of sessions. Within a folder, names sort by time; a
 * file that 0.169 wrote on revert sorts after the one that it replaces. */
#include "rollout/rollout_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_source.h"

struct walk {
	rollout_list_visit_fn visit;
	rollout_list_folder_fn on_folder; /* may be NULL */
	void *self;
	size_t files_left;
	bool is_done;
};

struct names {
	VEC(char *) all;
};

static int compare_descending(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Reads the entries of a folder, newest name first. A folder that does not exist has none. */
static int read_names(const char *folder, struct names *names, struct error *err)
{
	DIR *dir = opendir(folder);
	if (!dir)
		return errno == ENOENT || errno == ENOTDIR ? 0 : error_sys(err, errno, "cannot open %s", folder);
	struct dirent *entry;
	while ((entry = readdir(dir)) && names->all.count < LIMIT_ROLLOUT_FILES) {
		if (entry->d_name[0] != '.')
			vec_push(&names->all, xstrdup(entry->d_name));
	}
	closedir(dir);
	if (names->all.count)
		qsort(names->all.items, names->all.count, sizeof(*names->all.items), compare_descending);
	return 0;
}

static void names_finish(struct names *names)
{
	vec_for_each(it, &names->all)
		free(*it);
	vec_finish(&names->all);
}

static void visit_file(struct walk *walk, const char *folder, const char *file_name)
{
	struct rollout_file_name name;
	auto_free char *path = path_join(folder, file_name);
	if (!rollout_path_parse(path_name(path), &name))
		return;
	auto_free char *plain = name.is_compressed ? str_dup(str_n(path, strlen(path) - 4)) : NULL;
	if (plain && file_exists(plain))
		return; /* the packed file is a leftover of an interrupted unpacking */
	walk->is_done = walk->visit(path, &name, walk->self) || --walk->files_left == 0;
}

/* Walks a folder: the upper `depth` levels contain folders, the last level files. */
static int walk_folder(struct walk *walk, const char *folder, int depth, struct error *err)
{
	struct names names = {0};
	if (walk->on_folder)
		walk->on_folder(folder, walk->self);
	int status = depth > 0 || walk->visit ? read_names(folder, &names, err) : 0;
	for (size_t i = 0; i < names.all.count && !walk->is_done && status == 0; i++) {
		auto_free char *below = depth > 0 ? path_join(folder, names.all.items[i]) : NULL;
		if (depth > 0)
			status = walk_folder(walk, below, depth - 1, err);
		else
			visit_file(walk, folder, names.all.items[i]);
	}
	names_finish(&names);
	return status;
}

int rollout_list_walk(const char *home, bool is_archive, rollout_list_visit_fn visit, void *self, struct error *err)
{
	return rollout_list_walk_folders(home, is_archive, NULL, visit, self, err);
}

int rollout_list_walk_folders(const char *home, bool is_archive, rollout_list_folder_fn on_folder,
                              rollout_list_visit_fn visit, void *self, struct error *err)
{
	struct walk walk = {.visit = visit, .on_folder = on_folder, .self = self, .files_left = LIMIT_ROLLOUT_FILES};
	auto_free char *folder = path_join(home, is_archive ? "archived_sessions" : "sessions");
	return walk_folder(&walk, folder, is_archive ? 0 : 3, err);
}

/* ---- by id ---- */

struct search {
	struct str id;
	bool is_segment; /* compare rollout ids instead of thread ids */
	char *found;
	char *compressed;
};

static bool on_visit_id(const char *path, const struct rollout_file_name *name, void *self)
{
	struct search *search = self;
	if (!str_equal_fold(search->is_segment ? name->rollout_id : name->thread_id, search->id))
		return false;
	if (!name->is_compressed)
		search->found = xstrdup(path);
	else if (!search->compressed)
		search->compressed = xstrdup(path);
	return search->found != NULL;
}

static char *find_id(const char *home, struct str id, bool is_segment, struct error *err)
{
	struct search search = {.id = id, .is_segment = is_segment};
	int status = rollout_list_walk(home, false, on_visit_id, &search, err);
	if (status == 0 && !search.found)
		status = rollout_list_walk(home, true, on_visit_id, &search, err);
	if (search.found || status < 0) {
		free(search.compressed);
		return search.found;
	}
	if (!search.compressed)
		error_set(err, ERR_not_found, "no session with id %.*s in %s/sessions", STR_ARG(id), home);
	return search.compressed;
}

char *rollout_list_find_id(const char *home, struct str thread_id, struct error *err)
{
	return find_id(home, thread_id, false, err);
}

char *rollout_list_find_segment(const char *home, struct str rollout_id, struct error *err)
{
	return find_id(home, rollout_id, true, err);
}

/* ---- by name ---- */

struct index_entry {
	struct str id;
	struct str name;
};

static bool parse_entry(struct arena *arena, struct str line, struct index_entry *ret)
{
	const struct json *root = json_parse(arena, line, NULL);
	*ret = (struct index_entry){json_get_str(root, "id"), str_trim(json_get_str(root, "thread_name"))};
	return ret->id.ptr && ret->name.ptr;
}

/* True if a later entry gives the thread another name. */
static bool is_renamed(struct arena *arena, struct str later, const struct index_entry *entry)
{
	struct str line;
	struct index_entry other;
	while (str_next_line(&later, &line)) {
		if (parse_entry(arena, line, &other) && str_eq(other.id, entry->id))
			return true;
	}
	return false;
}

/* Reads the entries from the last to the first until one names a file that exists. */
static char *find_named(const char *home, struct str index, struct str name, struct arena *arena)
{
	struct str rest = index;
	while (rest.len) {
		struct str body = str_n(rest.ptr, rest.len - (rest.ptr[rest.len - 1] == '\n'));
		ptrdiff_t newline = str_rfind_char(body, '\n');
		size_t start = newline < 0 ? 0 : (size_t)newline + 1;
		struct index_entry entry;
		char *path = NULL;
		if (parse_entry(arena, str_skip(body, start), &entry) && str_eq(entry.name, name) &&
		    !is_renamed(arena, str_skip(index, rest.len), &entry))
			path = rollout_list_find_id(home, entry.id, NULL);
		if (path)
			return path;
		rest.len = start;
	}
	return NULL;
}

char *rollout_list_find_name(const char *home, struct str name, struct error *err)
{
	auto_free char *index_path = path_join(home, "session_index.jsonl");
	auto_arena struct arena arena = {0};
	auto_buf struct buf index;
	buf_init(&index, LIMIT_SESSION_INDEX);
	struct error read_err = {0};
	char *path = NULL;
	name = str_trim(name);
	if (file_read(index_path, &index, &read_err) == 0 && name.len)
		path = find_named(home, buf_str(&index), name, &arena);
	if (read_err.code && read_err.code != ERR_not_found)
		error_set(err, read_err.code, "%s", read_err.text);
	else if (!path)
		error_set(err, ERR_not_found, "no session is named %.*s", STR_ARG(name));
	return path;
}

/* ---- the latest file ---- */

/* Reads up to the first newline; ERR_limit if the line is too long. */
static int read_first_line(const char *path, struct buf *line, struct error *err)
{
	struct rollout_source *source = rollout_source_create(path, err);
	const char *newline = NULL;
	ssize_t got = source ? 1 : -1;
	while (got > 0 && !newline) {
		char *room = buf_reserve(line, 16 * KIB);
		got = room ? rollout_source_read(source, room, 16 * KIB, err)
		           : error_set(err, ERR_limit, "the first line of %s is too long", path);
		line->len += got > 0 ? (size_t)got : 0;
		newline = got > 0 ? memchr(room, '\n', (size_t)got) : NULL;
	}
	if (newline)
		buf_truncate(line, (size_t)(newline - line->data));
	rollout_source_destroy(source);
	return got < 0 ? -1 : 0;
}

int rollout_list_read_head(const char *path, struct arena *arena, struct rollout_meta *ret, struct error *err)
{
	auto_arena struct arena scratch = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_ROLLOUT_HEAD);
	struct rollout_line line;
	int status = read_first_line(path, &text, err);
	if (status == 0)
		status = rollout_line_parse(&scratch, buf_str(&text), &line, err);
	if (status < 0)
		return error_wrap(err, "%s", path);
	if (line.type != LINE_session_meta)
		return error_set(err, ERR_invalid, "%s does not begin with session_meta", path);
	return rollout_meta_decode(line.payload, arena, ret, err);
}

struct candidate {
	char *path;
	int64_t changed_ns;
};

struct candidates {
	VEC(struct candidate) all;
};

static bool on_visit_any(const char *path, const struct rollout_file_name *name, void *self)
{
	struct candidates *candidates = self;
	struct stat st;
	(void)name;
	if (stat(path, &st) == 0)
		vec_push(&candidates->all, (struct candidate){xstrdup(path), (int64_t)st.st_mtim.tv_sec * 1000000000 +
		                                                                     st.st_mtim.tv_nsec});
	return false;
}

static int compare_changed(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->changed_ns != y->changed_ns)
		return x->changed_ns < y->changed_ns ? 1 : -1;
	return strcmp(y->path, x->path);
}

/* Compares folders: they are the same if their names are equal or resolve to the same path. */
static bool is_same_folder(struct str a, struct str b)
{
	if (str_eq(a, b))
		return true;
	auto_free char *a_path = str_dup(a), *b_path = str_dup(b);
	auto_free char *a_real = realpath(a_path, NULL), *b_real = realpath(b_path, NULL);
	return a_real && b_real && strcmp(a_real, b_real) == 0;
}

static bool passes(const struct rollout_filter *filter, const char *path)
{
	auto_arena struct arena arena = {0};
	struct rollout_meta meta;
	if (rollout_list_read_head(path, &arena, &meta, NULL) < 0 || meta.is_subagent)
		return false;
	if (filter->model_provider.ptr && !str_eq(meta.model_provider, filter->model_provider))
		return false;
	return !filter->cwd.ptr || is_same_folder(meta.cwd, filter->cwd);
}

char *rollout_list_find_latest(const char *home, const struct rollout_filter *filter, struct error *err)
{
	struct candidates candidates = {0};
	char *found = NULL;
	int status = rollout_list_walk(home, false, on_visit_any, &candidates, err);
	if (candidates.all.count)
		qsort(candidates.all.items, candidates.all.count, sizeof(*candidates.all.items), compare_changed);
	vec_for_each(it, &candidates.all) {
		if (!found && status == 0 && passes(filter, it->path))
			found = steal(it->path);
		free(it->path);
	}
	vec_finish(&candidates.all);
	if (!found && status == 0)
		error_set(err, ERR_not_found, "no earlier session in %s/sessions%s", home,
		          filter->cwd.ptr ? " began in this folder" : "");
	return found;
}
