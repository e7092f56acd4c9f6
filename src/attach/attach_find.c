/* A session that was killed leaves its file. Only a connection shows whether a process listens, and the greeting says
 * which session it is. */
#include "attach/attach_find.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "transport/unix_socket.h"

enum { GREETING_MAX = 64 * KIB };

char *attach_path(const char *home, struct str session_id)
{
	return xasprintf("%s/" ATTACH_FOLDER "/%.*s.sock", home, STR_ARG(session_id));
}

/* Reads the first line. */
static int read_greeting(int fd, struct buf *line, struct error *err)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	while (poll(&poll_fd, 1, ATTACH_PROBE_MS) > 0 && line->len < GREETING_MAX) {
		char bytes[4096];
		ssize_t got = read(fd, bytes, sizeof(bytes));
		if (got <= 0)
			break;
		const char *end = memchr(bytes, '\n', (size_t)got);
		buf_append(line, bytes, end ? (size_t)(end - bytes) : (size_t)got);
		if (end)
			return 0;
	}
	return error_set(err, ERR_timeout, "the session does not answer");
}

/* The file is removed only if no process listens, and it is still the one that was tried. */
static bool probe(const char *path, struct arena *arena, struct attach_greeting *ret)
{
	auto_buf struct buf line;
	struct error err = {0};
	struct stat info;
	bool is_there = lstat(path, &info) == 0 && S_ISSOCK(info.st_mode);
	auto_close int fd = is_there ? unix_socket_connect(path, 0, &err) : -1;
	buf_init(&line, GREETING_MAX + 1);
	if (fd < 0 && err.sys == ECONNREFUSED)
		unix_socket_remove(path, &info);
	return fd >= 0 && read_greeting(fd, &line, &err) == 0 &&
	       attach_greeting_read(buf_str(&line), arena, ret, &err) == 0;
}

static int by_age(const void *a, const void *b)
{
	const struct attach_found *one = a, *other = b;
	return str_compare(other->greeting.session_id,
	                   one->greeting.session_id); /* UUIDs of version 7 begin with the time */
}

void attach_list_read(const char *home, struct attach_list *ret)
{
	auto_free char *folder = path_join(home, ATTACH_FOLDER);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	*ret = (struct attach_list){0};
	while (dir && (entry = readdir(dir))) {
		auto_free char *path = path_join(folder, entry->d_name);
		struct attach_greeting greeting;
		if (str_has_suffix(str_of(entry->d_name), ".sock") && probe(path, &ret->arena, &greeting))
			vec_push(&ret->items, (struct attach_found){steal(path), greeting});
	}
	if (dir)
		closedir(dir);
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), by_age);
}

void attach_list_finish(struct attach_list *list)
{
	vec_for_each(found, &list->items)
		free(found->path);
	vec_finish(&list->items);
	arena_finish(&list->arena);
}

const struct attach_found *attach_list_find(const struct attach_list *list, const char *word, struct error *err)
{
	const struct attach_found *found = NULL;
	vec_for_each(it, &list->items) {
		if (!str_has_prefix(it->greeting.session_id, word) && !str_is(it->greeting.name, word))
			continue;
		if (found) {
			error_set(err, ERR_invalid, "several running sessions are named %s: give more of the id", word);
			return NULL;
		}
		found = it;
	}
	if (!found)
		error_set(err, ERR_not_found, "no running session is named %s; `codex attach --list` lists them", word);
	return found;
}
