/* Operations on single files and folders; host_tree.c has those on trees. No function opens a device or a pipe to
 * read it: the read could block forever and occupy a worker. */
#include "workspace/host_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "workspace/workspace_limits.h"

/* Opens without blocking; -1 and err for anything but a regular file. */
static int open_regular(const char *path, int flags, struct stat *ret, struct error *err)
{
	auto_close int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
	bool is_folder = fd < 0 && errno == EISDIR;
	if (fd < 0 && !is_folder && errno != ENXIO)
		return error_sys(err, errno, "cannot open %s", path), -1;
	if (fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode))
		return steal_fd(&fd);
	error_set(err, ERR_invalid, "path `%s` is not a file", path);
	return -1;
}

int host_file_read(const char *path, struct buf *out, struct error *err)
{
	struct stat st;
	auto_close int fd = open_regular(path, O_RDONLY, &st, err);
	if (fd < 0)
		return -(int)err->code;
	if (st.st_size > (off_t)(out->max - out->len))
		return error_set(err, ERR_limit, "file `%s` has %lld bytes; at most %zu can be read in one piece", path,
		                 (long long)st.st_size, out->max - out->len);
	return fd_read_all(fd, out, path, err);
}

int host_file_write(const char *path, struct str bytes, struct error *err)
{
	struct stat st;
	auto_close int fd = open_regular(path, O_WRONLY | O_CREAT, &st, err);
	if (fd < 0)
		return -(int)err->code;
	if (ftruncate(fd, 0) != 0)
		return error_sys(err, errno, "cannot write %s", path);
	return fd_write_all(fd, bytes.ptr, bytes.len, err);
}

int host_folder_make(const char *path, bool recursive, struct error *err)
{
	if (recursive && dir_exists(path))
		return 0;
	if (mkdir(path, 0777) == 0)
		return 0;
	if (recursive && errno == ENOENT)
		return dir_make(path, 0777, err);
	return error_sys(err, errno, "cannot create folder %s", path);
}

int host_info_read(const char *path, struct host_info *ret, struct error *err)
{
	struct host_status own, led;
	*ret = (struct host_info){0};
	if (host_status_read(path, false, &own) != 0)
		return error_sys(err, errno, "cannot read the status of %s", path);
	ret->is_link = S_ISLNK(own.mode);
	if (!ret->is_link || host_status_read(path, true, &led) != 0)
		led = own;
	ret->is_folder = S_ISDIR(led.mode);
	ret->is_file = S_ISREG(led.mode);
	ret->created_ms = led.created_ms;
	ret->changed_ms = led.changed_ms;
	return 0;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static struct host_entry make_entry(DIR *folder, const struct dirent *found, struct arena *arena)
{
	auto_buf struct buf name;
	struct stat st;
	struct host_entry entry = {.is_folder = found->d_type == DT_DIR, .is_file = found->d_type == DT_REG};
	if ((found->d_type == DT_LNK || found->d_type == DT_UNKNOWN) &&
	    fstatat(dirfd(folder), found->d_name, &st, 0) == 0) {
		entry.is_folder = S_ISDIR(st.st_mode);
		entry.is_file = S_ISREG(st.st_mode);
	}
	buf_init(&name, 4 * KIB);
	text_append_utf8_lossy(&name, str_of(found->d_name));
	entry.name = arena_str(arena, buf_str(&name));
	return entry;
}

static int compare_entries(const void *a, const void *b)
{
	return str_compare(((const struct host_entry *)a)->name, ((const struct host_entry *)b)->name);
}

int host_folder_list(const char *path, struct arena *arena, struct host_entry **ret, size_t *ret_count,
                     struct error *err)
{
	VEC(struct host_entry) entries = {0};
	struct dirent *found;
	__attribute__((cleanup(close_folder))) DIR *folder = opendir(path);
	if (!folder)
		return error_sys(err, errno, "cannot list %s", path);
	while ((found = readdir(folder)) && entries.count <= LIMIT_CLIENT_ENTRIES) {
		if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
			vec_push(&entries, make_entry(folder, found, arena));
	}
	bool is_too_long = entries.count > LIMIT_CLIENT_ENTRIES;
	if (entries.count)
		qsort(entries.items, entries.count, sizeof(*entries.items), compare_entries);
	*ret = arena_array(arena, struct host_entry, entries.count + 1);
	*ret_count = entries.count;
	if (entries.count)
		memcpy(*ret, entries.items, entries.count * sizeof(*entries.items));
	vec_finish(&entries);
	if (is_too_long)
		return error_set(err, ERR_limit, "folder `%s` holds more than %d names, too many for one response",
		                 path, LIMIT_CLIENT_ENTRIES);
	return 0;
}
