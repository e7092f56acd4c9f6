/* A name is a line and not a file's property, so that giving one never touches the session's own file. */
#include "rollout/rollout_name.h"

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

int rollout_name_set(const char *home, struct str thread_id, struct str name, struct error *err)
{
	auto_free char *path = path_join(home, "session_index.jsonl");
	char now[CLOCK_RFC3339_SIZE];
	auto_buf struct buf line;
	buf_init(&line, LIMIT_SESSION_INDEX);
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
	auto_close int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	return fd_write_all(fd, line.data, line.len, err);
}
