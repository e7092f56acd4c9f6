/* Names are lines of a separate file, so that renaming a session does not touch its rollout. */
#include "rollout/rollout_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"

int rollout_name_set(const char *home, struct str thread_id, struct str name, struct error *err)
{
	auto_free char *path = path_join(home, "session_index.jsonl");
	char now[CLOCK_RFC3339_SIZE];
	auto_buf struct buf line;
	buf_init(&line, LIMIT_SESSION_INDEX);
	buf_append_char(&line, '\n'); /* the previous line was truncated by a full disk */
	struct json_writer w = json_writer(&line);
	clock_rfc3339(clock_unix_ms(), now);
	jw_object(&w);
	jw_member_str(&w, "id", thread_id);
	jw_member_str(&w, "thread_name", name);
	jw_member_cstr(&w, "updated_at", now);
	jw_object_end(&w);
	buf_append_char(&line, '\n');
	if (line.over)
		return error_set(err, ERR_limit, "the name is too long");
	auto_close int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	struct str text = str_skip(buf_str(&line), fd_breaks_off(fd) ? 0 : 1);
	return fd_write_all(fd, text.ptr, text.len, err);
}

static int by_id(const void *a, const void *b)
{
	const struct rollout_name_entry *left = a, *right = b;
	int order = str_compare(left->id, right->id);
	return order ? order : (left->at > right->at) - (left->at < right->at);
}

static void read_entry(struct rollout_names *names, struct arena *scratch, struct str line)
{
	arena_reset(scratch);
	const struct json *root = json_parse(scratch, line, NULL);
	struct str id = json_get_str(root, "id"), name = str_trim(json_get_str(root, "thread_name"));
	if (id.len && name.ptr)
		vec_push(&names->entries,
		         (struct rollout_name_entry){arena_str(&names->arena, id), arena_str(&names->arena, name),
		                                     names->entries.count});
}

void rollout_names_read(const char *home, struct rollout_names *ret)
{
	auto_free char *path = path_join(home, "session_index.jsonl");
	auto_arena struct arena scratch = {0};
	auto_buf struct buf index;
	buf_init(&index, LIMIT_SESSION_INDEX);
	*ret = (struct rollout_names){0};
	if (file_read_regular(path, &index, NULL) != 0)
		return;
	struct str rest = buf_str(&index), line;
	while (str_next_line(&rest, &line))
		read_entry(ret, &scratch, line);
	if (ret->entries.count)
		qsort(ret->entries.items, ret->entries.count, sizeof(*ret->entries.items), by_id);
}

struct str rollout_names_find(const struct rollout_names *names, struct str thread_id)
{
	size_t low = 0, high = names->entries.count; /* search for the first entry after all those of this thread */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (str_compare(names->entries.items[middle].id, thread_id) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct rollout_name_entry *last = low ? &names->entries.items[low - 1] : NULL;
	return last && str_eq(last->id, thread_id) && last->name.len ? last->name : STR_NONE;
}

void rollout_names_finish(struct rollout_names *names)
{
	vec_finish(&names->entries);
	arena_finish(&names->arena);
}
