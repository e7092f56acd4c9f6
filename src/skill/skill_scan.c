/* The folders belong to repositories and may contain anything, so everything is limited: an excess is an error of its
 * root, and the skills found so far are kept. */
#include "skill/skill_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "skill/skill_file.h"

struct folder {
	char *path; /* owned */
	unsigned depth;
};

struct place {
	dev_t dev;
	ino_t ino;
};

struct scan {
	const struct skill_places *places;
	struct arena *arena;
	VEC(struct skill_metadata) skills;
	VEC(struct skill_error) errors;
	/* State of the current root: */
	const struct skill_root *root;
	VEC(struct folder) queue;
	VEC(struct place) seen;
	size_t entries;
	bool is_cut;
};

static void add_error(struct scan *scan, const char *path, const char *text)
{
	if (scan->errors.count < LIMIT_SKILLS)
		vec_push(&scan->errors, (struct skill_error){arena_str(scan->arena, str_of(path)),
		                                             arena_str(scan->arena, str_of(text))});
}

static bool is_known(const struct scan *scan, const char *path)
{
	vec_for_each(it, &scan->skills) {
		if (str_is(it->path, path))
			return true;
	}
	return false;
}

static void take_file(struct scan *scan, const char *path)
{
	struct error err;
	struct skill_metadata skill;
	auto_free char *real = realpath(path, NULL);
	if (!real || is_known(scan, real))
		return;
	if (scan->skills.count >= LIMIT_SKILLS) {
		scan->is_cut = true;
	} else if (skill_file_read(real, scan->root->scope, scan->arena, &skill, &err) == 0) {
		skill.enabled = skill_places_allow(scan->places, skill.path, skill.name);
		vec_push(&scan->skills, skill);
	} else if (scan->root->scope != skill_scope_system) {
		add_error(scan, real, err.text);
	}
}

/* ---- folders ---- */

static bool is_new(struct scan *scan, const struct stat *st)
{
	vec_for_each(it, &scan->seen) {
		if (it->dev == st->st_dev && it->ino == st->st_ino)
			return false;
	}
	vec_push(&scan->seen, (struct place){st->st_dev, st->st_ino});
	return true;
}

static void take_folder(struct scan *scan, const char *path, unsigned depth)
{
	if (depth > LIMIT_SKILL_DEPTH)
		return;
	if (scan->queue.count >= LIMIT_SKILL_FOLDERS)
		scan->is_cut = true;
	else
		vec_push(&scan->queue, (struct folder){xstrdup(path), depth});
}

static void take_entry(struct scan *scan, const char *folder, unsigned depth, const struct dirent *entry)
{
	struct stat st;
	bool is_link = entry->d_type == DT_LNK, is_skill = strcmp(entry->d_name, "SKILL.md") == 0;
	if (entry->d_name[0] == '.' || (entry->d_type == DT_REG && !is_skill))
		return;
	auto_free char *path = path_join(folder, entry->d_name);
	if (entry->d_type == DT_DIR) {
		take_folder(scan, path, depth + 1);
		return;
	}
	if (lstat(path, &st) != 0)
		return;
	is_link |= S_ISLNK(st.st_mode);
	if (is_skill && S_ISREG(st.st_mode))
		take_file(scan, path);
	else if (is_link && scan->root->scope != skill_scope_system && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		take_folder(scan, path, depth + 1);
	else if (!is_link && S_ISDIR(st.st_mode))
		take_folder(scan, path, depth + 1);
}

static void look_into(struct scan *scan, const char *path, unsigned depth)
{
	struct stat st;
	DIR *dir = opendir(path);
	if (!dir)
		return;
	if (fstat(dirfd(dir), &st) == 0 && is_new(scan, &st)) {
		for (struct dirent *entry; (entry = readdir(dir));) {
			if (++scan->entries > LIMIT_SKILL_ENTRIES) {
				scan->is_cut = true;
				break;
			}
			take_entry(scan, path, depth, entry);
		}
	}
	closedir(dir);
}

static void scan_root(struct scan *scan, const struct skill_root *root)
{
	scan->root = root;
	scan->entries = 0;
	scan->is_cut = false;
	take_folder(scan, root->path, 0);
	for (size_t i = 0; i < scan->queue.count; i++) {
		const struct folder here = scan->queue.items[i]; /* a copy, because the vec may be reallocated */
		look_into(scan, here.path, here.depth);
	}
	vec_for_each(it, &scan->queue)
		free(it->path);
	scan->queue.count = scan->seen.count = 0;
	if (scan->is_cut)
		add_error(scan, root->path, "too many folders or skills: some were not read");
}

/* ---- the list ---- */

static int rank(enum skill_scope scope)
{
	static const int ranks[] = {
		[skill_scope_repo] = 0,
		[skill_scope_user] = 1,
		[skill_scope_system] = 2,
		[skill_scope_admin] = 3,
	};
	return ranks[scope];
}

static int compare(const void *left, const void *right)
{
	const struct skill_metadata *a = left, *b = right;
	if (a->scope != b->scope)
		return rank(a->scope) - rank(b->scope);
	int order = str_compare(a->name, b->name);
	return order ? order : str_compare(a->path, b->path);
}

static int compare_errors(const void *left, const void *right)
{
	const struct skill_error *a = left, *b = right;
	return str_compare(a->path, b->path);
}

static struct skills_list_entry finish(struct scan *scan, struct str cwd)
{
	struct skills_list_entry entry = {
		.cwd = arena_str(scan->arena, cwd),
		.skills = arena_array(scan->arena, struct skill_metadata, scan->skills.count + 1),
		.errors = arena_array(scan->arena, struct skill_error, scan->errors.count + 1),
	};
	vec_for_each(it, &scan->skills)
		entry.skills[entry.skills_count++] = *it;
	vec_for_each(it, &scan->errors)
		entry.errors[entry.errors_count++] = *it;
	qsort(entry.skills, entry.skills_count, sizeof(entry.skills[0]), compare);
	qsort(entry.errors, entry.errors_count, sizeof(entry.errors[0]), compare_errors);
	vec_finish(&scan->skills);
	vec_finish(&scan->errors);
	vec_finish(&scan->queue);
	vec_finish(&scan->seen);
	return entry;
}

struct skills_list_entry skill_scan(const struct skill_places *places, struct str cwd, struct arena *arena)
{
	struct scan scan = {.places = places, .arena = arena};
	struct skill_root *roots;
	size_t count = skill_places_roots(places, cwd, arena, &roots);
	for (size_t i = 0; i < count; i++)
		scan_root(&scan, &roots[i]);
	return finish(&scan, cwd);
}

const struct skill_metadata *skill_find(const struct skills_list_entry *entry, struct str path)
{
	auto_free char *name = str_dup(path);
	auto_free char *real = realpath(name, NULL);
	for (size_t i = 0; real && i < entry->skills_count; i++) {
		if (str_is(entry->skills[i].path, real))
			return entry->skills[i].enabled ? &entry->skills[i] : NULL;
	}
	return NULL;
}

/* ---- scans on a worker ---- */

/* A cancelled scan runs to its end, which is bounded, and its result is discarded. */
struct skill_scan_job {
	struct arena arena;
	struct skill_places *places;
	const struct str *cwds;
	struct skills_list_entry *entries;
	size_t count;
	skill_scan_done_fn on_done; /* NULL: cancelled */
	void *self;
};

static void run(void *self)
{
	struct skill_scan_job *job = self;
	for (size_t i = 0; i < job->count; i++)
		job->entries[i] = skill_scan(job->places, job->cwds[i], &job->arena);
}

static void on_ran(void *self)
{
	struct skill_scan_job *job = self;
	if (job->on_done)
		job->on_done(job->entries, job->count, job->self);
	skill_places_destroy(job->places);
	arena_finish(&job->arena);
	free(job);
}

struct skill_scan_job *skill_scan_start(struct loop *loop, const struct skill_places *places, const struct str *cwds,
                                        size_t count, skill_scan_done_fn on_done, void *self)
{
	struct skill_scan_job *job = xnew(struct skill_scan_job);
	struct str *copy = arena_array(&job->arena, struct str, count + 1);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_str(&job->arena, cwds[i]);
	job->places = skill_places_copy(places);
	job->cwds = copy;
	job->entries = arena_array(&job->arena, struct skills_list_entry, count + 1);
	job->count = count;
	job->on_done = on_done;
	job->self = self;
	worker_run(loop, run, on_ran, job);
	return job;
}

void skill_scan_cancel(struct skill_scan_job *job)
{
	if (job)
		job->on_done = NULL;
}

/* ---- mentions ---- */

/* A link is resolved by its target only: [$docs](mcp://docs) names a server, even if a skill is called docs. */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
	       c == ':';
}

static bool is_shells(struct str name)
{
	static const char *const words[] = {"PATH", "HOME", "USER", "SHELL",          "PWD", "TMPDIR", "TEMP",
	                                    "TMP",  "LANG", "TERM", "XDG_CONFIG_HOME"};
	for (size_t i = 0; i < countof(words); i++) {
		if (str_equal_fold(name, str_of(words[i])))
			return true;
	}
	return false;
}

static const struct skill_metadata *find_name(const struct skills_list_entry *entry, struct str name)
{
	const struct skill_metadata *found = NULL;
	for (size_t i = 0; i < entry->skills_count; i++) {
		const struct skill_metadata *skill = &entry->skills[i];
		if (!skill->enabled || !str_eq(skill->name, name))
			continue;
		if (found)
			return NULL;
		found = skill;
	}
	return found;
}

/* True if "](target)" follows; it is then cut off *rest. */
static bool cut_target(struct str *rest, struct str *ret_target)
{
	struct str at = *rest;
	if (!str_cut_prefix(&at, "]("))
		return false;
	ptrdiff_t end = str_find_char(at, ')');
	if (end < 0)
		return false;
	*ret_target = str_n(at.ptr, (size_t)end);
	*rest = str_skip(at, (size_t)end + 1);
	return true;
}

void skill_mention_each(const struct skills_list_entry *entry, struct str text, skill_mention_fn on_mention, void *self)
{
	ptrdiff_t dollar;
	struct str rest = text;
	while (entry->skills_count && (dollar = str_find_char(rest, '$')) >= 0) {
		const char *at = rest.ptr + dollar;
		struct str name = {at + 1, 0}, target;
		rest = str_skip(rest, (size_t)dollar + 1);
		while (rest.len && is_name_char(rest.ptr[0])) {
			name.len++;
			rest = str_skip(rest, 1);
		}
		if (!name.len)
			continue;
		const struct skill_metadata *skill = NULL;
		if (at > text.ptr && at[-1] == '[' && cut_target(&rest, &target)) {
			str_cut_prefix(&target, "skill://");
			skill = target.len && target.ptr[0] == '/' ? skill_find(entry, target) : NULL;
		} else if (!is_shells(name)) {
			skill = find_name(entry, name);
		}
		if (skill)
			on_mention(skill, self);
	}
}
