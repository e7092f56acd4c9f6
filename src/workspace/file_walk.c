/* A stack of open folders, so that a walk can be paused or abandoned between any two entries. Each level has the
 * rules of its own folder; rules are consulted from the deepest level upwards until one decides. */
#include "workspace/file_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "workspace/git_info.h"
#include "workspace/ignore_rules.h"

enum rules_file { RULES_ignore, RULES_gitignore, RULES_exclude, RULES_FILES };

struct level {
	/* NULL for a folder above the root, of which only the rules are used */
	DIR *folder;
	size_t at;                               /* where paths relative to this folder start in path */
	struct ignore_rules *rules[RULES_FILES]; /* the first takes precedence; NULL: the file does not exist */
};

struct file_walk {
	VEC(struct level) levels;
	struct buf path; /* from the repository's root on, or else from the walk's root */
	size_t root_at;  /* where the part that the caller sees starts */
	size_t depth;
	size_t steps; /* steps left for patterns */
	bool is_repo;
	bool is_entered; /* the last entry was a folder, which is now open, so its name stays in path */
	size_t kept;     /* length of the path of the folder being read */
};

static struct ignore_rules *read_rules(int at, const char *name)
{
	auto_buf struct buf text = {0};
	struct stat st;
	auto_close int fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	buf_init(&text, LIMIT_IGNORE_FILE);
	return fd_read_all(fd, &text, name, NULL) == 0 ? ignore_rules_create(buf_str(&text)) : NULL;
}

static void push_level(struct file_walk *walk, DIR *folder, int fd, size_t at)
{
	struct level level = {.folder = folder, .at = at};
	level.rules[RULES_ignore] = read_rules(fd, ".ignore");
	if (walk->is_repo)
		level.rules[RULES_gitignore] = read_rules(fd, ".gitignore");
	if (walk->is_repo && walk->levels.count == 0)
		level.rules[RULES_exclude] = read_rules(fd, ".git/info/exclude");
	vec_push(&walk->levels, level);
}

static void pop_level(struct file_walk *walk)
{
	struct level *level = &walk->levels.items[--walk->levels.count];
	for (int i = 0; i < RULES_FILES; i++)
		ignore_rules_destroy(level->rules[i]);
	if (level->folder)
		closedir(level->folder);
}

static bool open_level(struct file_walk *walk, int at, const char *name, int flags, size_t begin)
{
	auto_close int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder)
		return false;
	push_level(walk, folder, steal_fd(&fd), begin);
	walk->depth++;
	return true;
}

/* Reads the rules of the folders from the repository's top down to the root. */
static void read_above(struct file_walk *walk, const char *top, struct str below)
{
	auto_free char *at = xstrdup(top);
	struct str part;
	size_t begin = 0;
	while (str_next_part(&below, '/', &part) && part.len) {
		auto_close int fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			push_level(walk, NULL, fd, begin);
		auto_free char *name = str_dup(part);
		char *next = path_join(at, name);
		free(at);
		at = next;
		begin += part.len + 1;
	}
}

struct file_walk *file_walk_create(const char *root)
{
	struct file_walk *walk = xnew(struct file_walk);
	auto_free char *real = realpath(root, NULL);
	auto_free char *top = real ? git_info_find_root(real) : NULL;
	buf_init(&walk->path, LIMIT_WALK_PATH);
	walk->is_repo = top != NULL;
	walk->steps = LIMIT_WALK_STEPS;
	if (!real)
		return walk;
	if (top && strcmp(top, real) != 0) {
		struct str below = str_skip(str_of(real), strlen(top) + (strcmp(top, "/") != 0));
		read_above(walk, top, below);
		buf_append_str(&walk->path, below);
		buf_append_char(&walk->path, '/');
	}
	walk->root_at = walk->kept = walk->path.len;
	open_level(walk, AT_FDCWD, real, 0, walk->root_at);
	return walk;
}

void file_walk_destroy(struct file_walk *walk)
{
	if (!walk)
		return;
	while (walk->levels.count)
		pop_level(walk);
	vec_finish(&walk->levels);
	buf_finish(&walk->path);
	free(walk);
}

static bool is_ignored(struct file_walk *walk, bool is_folder)
{
	walk->steps += LIMIT_WALK_ENTRY_STEPS;
	for (size_t i = walk->levels.count; i-- > 0;) {
		const struct level *level = &walk->levels.items[i];
		struct str path = str_skip(buf_str(&walk->path), level->at);
		for (int kind = 0; kind < RULES_FILES; kind++) {
			enum ignore_verdict verdict = level->rules[kind] ? ignore_rules_match(level->rules[kind], path,
			                                                                      is_folder, &walk->steps)
			                                                 : IGNORE_SILENT;
			if (verdict != IGNORE_SILENT)
				return verdict == IGNORE_SKIP;
		}
	}
	return false;
}

/* Returns whether the entry is a folder, a link to one, or neither. */
static unsigned char type_of(DIR *folder, const struct dirent *found)
{
	struct stat st;
	if (found->d_type != DT_UNKNOWN)
		return found->d_type;
	if (fstatat(dirfd(folder), found->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_UNKNOWN;
	return S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : S_ISREG(st.st_mode) ? DT_REG : DT_FIFO;
}

static bool leads_to_folder(DIR *folder, const char *name)
{
	struct stat st;
	return fstatat(dirfd(folder), name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static bool is_wanted(const struct dirent *found, unsigned char type)
{
	const char *name = found->d_name;
	bool is_kind = type == DT_DIR || type == DT_REG || type == DT_LNK;
	return is_kind && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ".git") != 0;
}

/* Builds the entry's path; false if it must be omitted. */
static bool take(struct file_walk *walk, const struct dirent *found, struct file_walk_entry *ret)
{
	DIR *folder = walk->levels.items[walk->levels.count - 1].folder;
	unsigned char type = type_of(folder, found);
	if (!is_wanted(found, type))
		return false;
	buf_truncate(&walk->path, walk->kept);
	buf_append_c(&walk->path, found->d_name);
	if (walk->path.over || walk->path.len + 1 >= LIMIT_WALK_PATH)
		return false;
	ret->is_folder = type == DT_DIR || (type == DT_LNK && leads_to_folder(folder, found->d_name));
	if (is_ignored(walk, ret->is_folder))
		return false;
	ret->path = str_skip(buf_str(&walk->path), walk->root_at);
	if (type != DT_DIR || walk->depth >= LIMIT_WALK_DEPTH)
		return true;
	walk->is_entered = open_level(walk, dirfd(folder), found->d_name, O_NOFOLLOW, walk->path.len + 1);
	return true;
}

static void enter(struct file_walk *walk)
{
	walk->is_entered = false;
	buf_append_char(&walk->path, '/');
	walk->kept = walk->path.len;
}

static void leave(struct file_walk *walk)
{
	pop_level(walk);
	walk->depth--;
	if (walk->depth)
		walk->kept = walk->levels.items[walk->levels.count - 1].at;
}

enum file_walk_step file_walk_next(struct file_walk *walk, struct file_walk_entry *ret)
{
	if (walk->is_entered)
		enter(walk);
	if (!walk->depth)
		return FILE_WALK_end;
	struct dirent *found = readdir(walk->levels.items[walk->levels.count - 1].folder);
	if (found)
		return take(walk, found, ret) ? FILE_WALK_entry : FILE_WALK_passed;
	leave(walk);
	return walk->depth ? FILE_WALK_passed : FILE_WALK_end;
}
