/* A folder is opened by its path below the root, one system call where the kernel has openat2, and never through a
 * link, not even one that has replaced a folder above it. Its names are read in large pieces; if the first piece is
 * all, the ignore files are known from it, and folders without any cost no attempt to open them. */
#include "workspace/file_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "workspace/folder_rules.h"
#include "workspace/git_info.h"
#include "workspace/workspace_limits.h"

enum { LISTING = 64 * KIB, LISTING_LEAST = 1 * KIB /* room for a name of any length */ };

struct rules_node {
	struct rules_node *next;
	struct folder_rules *rules;
};

struct file_walk {
	char *root, *real, *top; /* real: NULL if the root is missing; top: of the repository, NULL outside of one */
	struct str below;        /* the part of real below top */
	dev_t dev;
	ino_t ino;
	uint64_t outside;               /* stands for the state of the ignore files that are not below the root */
	const struct folder_rules *own; /* the rules that the root inherits */
	_Atomic(struct rules_node *) all;
	size_t steps[FILE_WALK_READERS]; /* left for the patterns of each reader */
};

struct file_walk_reader {
	struct file_walk *walk;
	int root, error; /* root: -1 if it could not be opened, because of error */
	size_t *steps;
	struct buf path; /* from the repository's top on, or else from the walk's root */
	size_t root_at;  /* where the part below the root starts */
	/* the folder that is being read */
	struct file_walk_folder *folder;
	const struct file_walk_events *events;
	void *self;
	size_t kept; /* length of its path */
	int fd;
	_Alignas(struct dirent) char listing[LISTING];
};

/* ---- above the root ---- */

static const struct folder_rules *add_rules(struct file_walk *walk, struct folder_rules *rules)
{
	struct rules_node *node = xnew(struct rules_node);
	node->rules = rules;
	node->next = atomic_load(&walk->all);
	while (!atomic_compare_exchange_weak(&walk->all, &node->next, node))
		;
	return rules;
}

static void add_state(uint64_t *state, int folder, enum rules_file file)
{
	struct stat st;
	uint64_t facts[6] = {*state};
	if (fstatat(folder, folder_rules_name(file), &st, 0) == 0) {
		facts[1] = st.st_ino;
		facts[2] = (uint64_t)st.st_size;
		facts[3] = (uint64_t)st.st_mtim.tv_sec << 30 ^ (uint64_t)st.st_mtim.tv_nsec;
		facts[4] = (uint64_t)st.st_ctim.tv_sec << 30 ^ (uint64_t)st.st_ctim.tv_nsec;
		facts[5] = st.st_dev;
	}
	*state = str_hash(str_n((const char *)facts, sizeof(facts)));
}

/* Returns the state of the ignore files outside of the root, and has `reading` read them, from the top down. */
static uint64_t look_outside(const struct file_walk *walk, struct file_walk *reading)
{
	uint64_t state = 1;
	if (!walk->top)
		return state;
	auto_free char *at = xstrdup(walk->top);
	struct str below = walk->below, part;
	size_t begin = 0;
	do {
		auto_close int fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool is_more = str_next_part(&below, '/', &part) && part.len;
		unsigned files = (is_more ? 1u << RULES_ignore | 1u << RULES_gitignore : 0) |
		                 (begin == 0 ? 1u << RULES_exclude : 0);
		for (int i = 0; i < RULES_FILES; i++) {
			if (files & 1u << i)
				add_state(&state, fd, (enum rules_file)i);
		}
		struct folder_rules *rules =
			reading ? folder_rules_read(fd, files, reading->own, begin, NULL, NULL) : NULL;
		if (rules)
			reading->own = add_rules(reading, rules);
		if (!is_more)
			break;
		auto_free char *name = str_dup(part);
		char *next = path_join(at, name);
		free(at);
		at = next;
		begin += part.len + 1;
	} while (true);
	return state;
}

struct file_walk *file_walk_create(const char *root)
{
	struct file_walk *walk = xnew(struct file_walk);
	struct stat st;
	walk->root = xstrdup(root);
	for (int i = 0; i < FILE_WALK_READERS; i++)
		walk->steps[i] = LIMIT_WALK_STEPS;
	walk->real = realpath(root, NULL);
	if (!walk->real || stat(walk->real, &st) != 0)
		return walk;
	walk->dev = st.st_dev;
	walk->ino = st.st_ino;
	walk->top = git_info_find_root(walk->real);
	if (walk->top && strcmp(walk->top, walk->real) != 0)
		walk->below = str_skip(str_of(walk->real), strlen(walk->top) + (strcmp(walk->top, "/") != 0));
	walk->outside = look_outside(walk, walk);
	return walk;
}

void file_walk_destroy(struct file_walk *walk)
{
	if (!walk)
		return;
	struct rules_node *node = atomic_load(&walk->all);
	while (node) {
		struct rules_node *next = node->next;
		folder_rules_destroy(node->rules);
		free(node);
		node = next;
	}
	free(walk->root);
	free(walk->real);
	free(walk->top);
	free(walk);
}

bool file_walk_is_current(const struct file_walk *walk)
{
	struct stat st;
	auto_free char *real = realpath(walk->root, NULL);
	if (!real || !walk->real || strcmp(real, walk->real) != 0)
		return !real && !walk->real;
	if (stat(real, &st) != 0 || st.st_dev != walk->dev || st.st_ino != walk->ino)
		return false;
	auto_free char *top = git_info_find_root(real);
	if (!top || !walk->top)
		return top == walk->top;
	return strcmp(top, walk->top) == 0 && look_outside(walk, NULL) == walk->outside;
}

const struct folder_rules *file_walk_rules(const struct file_walk *walk)
{
	return walk->own;
}

/* ---- a reader ---- */

struct file_walk_reader *file_walk_reader_create(struct file_walk *walk, int place)
{
	struct file_walk_reader *reader =
		xmalloc(sizeof(*reader)); /* the listing is large, and not read before it is written */
	reader->walk = walk;
	reader->steps = &walk->steps[place];
	reader->root = walk->real ? open(walk->real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	reader->error = walk->real ? errno : ENOENT;
	buf_init(&reader->path, LIMIT_WALK_PATH);
	buf_append_str(&reader->path, walk->below);
	if (walk->below.len)
		buf_append_char(&reader->path, '/');
	reader->root_at = reader->path.len;
	return reader;
}

void file_walk_reader_destroy(struct file_walk_reader *reader)
{
	if (!reader)
		return;
	if (reader->root >= 0)
		close(reader->root);
	buf_finish(&reader->path);
	free(reader);
}

bool file_walk_is_open(const struct file_walk_reader *reader)
{
	return reader->root >= 0;
}

/* As openat2 without links, one name at a time. */
static int open_by_names(int root, struct str path)
{
	auto_close int at = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct str part;
	while (at >= 0 && str_next_part(&path, '/', &part) && part.len) {
		auto_free char *name = str_dup(part);
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
	}
	return steal_fd(&at);
}

static int open_folder(struct file_walk_reader *reader)
{
	if (reader->root < 0) {
		errno = reader->error;
		return -1;
	}
	const char *path = reader->kept > reader->root_at ? reader->path.data + reader->root_at : ".";
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, reader->root, path, &how, sizeof(how));
	bool is_refused = fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN);
	return is_refused ? open_by_names(reader->root, str_skip(buf_str(&reader->path), reader->root_at)) : fd;
}

static void on_rules(int fd, void *self)
{
	struct file_walk_reader *reader = self;
	reader->events->on_open(fd, true, reader->self);
}

static void read_own_rules(struct file_walk_reader *reader, unsigned files)
{
	if (reader->folder->is_again)
		return;
	if (!reader->walk->top)
		files &= 1u << RULES_ignore;
	struct folder_rules *rules =
		files ? folder_rules_read(reader->fd, files, reader->folder->rules, reader->kept, on_rules, reader)
		      : NULL;
	if (rules)
		reader->folder->rules = add_rules(reader->walk, rules);
}

/* Returns whether the entry is a folder, a link to one, or neither. */
static unsigned char type_of(int folder, const struct dirent *found)
{
	struct stat st;
	if (found->d_type != DT_UNKNOWN)
		return found->d_type;
	if (fstatat(folder, found->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_UNKNOWN;
	return S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : S_ISREG(st.st_mode) ? DT_REG : DT_FIFO;
}

static bool leads_to_folder(int folder, const char *name)
{
	struct stat st;
	return fstatat(folder, name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static bool is_wanted(const char *name, unsigned char type)
{
	if (type != DT_DIR && type != DT_REG && type != DT_LNK)
		return false;
	return name[0] != '.' || (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ".git") != 0);
}

static void take(struct file_walk_reader *reader, const struct dirent *found)
{
	unsigned char type = type_of(reader->fd, found);
	struct str name = str_of(found->d_name);
	if (!is_wanted(name.ptr, type) || reader->kept + name.len + 1 >= LIMIT_WALK_PATH)
		return;
	bool is_folder = type == DT_DIR || (type == DT_LNK && leads_to_folder(reader->fd, name.ptr));
	*reader->steps += LIMIT_WALK_ENTRY_STEPS;
	if (reader->folder->rules) {
		buf_truncate(&reader->path, reader->kept);
		buf_append_str(&reader->path, name);
		if (folder_rules_ignore(reader->folder->rules, buf_str(&reader->path), is_folder, reader->steps))
			return;
	}
	bool is_entered = type == DT_DIR && reader->folder->depth + 1 < LIMIT_WALK_DEPTH;
	reader->events->on_entry(name, is_folder, is_entered, reader->self);
}

/* ---- the names of a folder ---- */

static struct dirent *name_at(struct file_walk_reader *reader, size_t at)
{
	return (struct dirent *)(void *)(reader->listing + at);
}

/* Fills the listing; *ret_is_all: no more names follow. */
static size_t list_names(struct file_walk_reader *reader, bool *ret_is_all)
{
	size_t len = 0;
	*ret_is_all = false;
	while (LISTING - len >= LISTING_LEAST) {
		long got = syscall(SYS_getdents64, reader->fd, reader->listing + len, LISTING - len);
		if (got <= 0) {
			*ret_is_all = got == 0 || len == 0 || errno != EINVAL; /* EINVAL: no room for the next name */
			break;
		}
		len += (size_t)got;
	}
	return len;
}

static unsigned find_rules(struct file_walk_reader *reader, size_t len)
{
	unsigned files = 0;
	for (size_t at = 0; at < len; at += name_at(reader, at)->d_reclen) {
		const char *name = name_at(reader, at)->d_name;
		if (name[0] == '.')
			files |= 1u << folder_rules_find(name);
	}
	return files & ~(1u << RULES_FILES);
}

bool file_walk_read(struct file_walk_reader *reader, struct file_walk_folder *folder,
                    const struct file_walk_events *events, const atomic_bool *stop, void *self)
{
	bool is_all = false;
	reader->folder = folder;
	reader->events = events;
	reader->self = self;
	buf_truncate(&reader->path, reader->root_at);
	buf_append_str(&reader->path, folder->path);
	reader->kept = reader->path.len;
	auto_close int fd = open_folder(reader);
	if (fd < 0)
		return false;
	reader->fd = fd;
	events->on_open(fd, false, self);
	size_t len = list_names(reader, &is_all);
	read_own_rules(reader, is_all ? find_rules(reader, len) : 1u << RULES_ignore | 1u << RULES_gitignore);
	while (len) {
		for (size_t at = 0; at < len; at += name_at(reader, at)->d_reclen) {
			if (atomic_load_explicit(stop, memory_order_relaxed)) {
				errno = ECANCELED;
				return false;
			}
			take(reader, name_at(reader, at));
		}
		len = is_all ? 0 : list_names(reader, &is_all);
	}
	return true;
}
