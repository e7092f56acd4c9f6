/* view_image reads the file on a worker thread, because it may be large and its disk slow; that of an environment is
 * read by its server. The output of the call is a line of text; the image follows all outputs as a user message. The
 * type is determined by the first bytes, because a provider answers a wrong type with HTTP 400. */
#include "tool/tool_image.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "remote/remote_files.h"
#include "tool/tool.h"
#include "tool/tool_impl.h"

static const struct {
	const char *mime;
	struct str magic;
	size_t also_at; /* offset of a second mark; 0: not needed */
	struct str also;
} kinds[] = {
	{"image/png", {"\x89PNG\r\n\x1a\n", 8}, 0, {NULL, 0}},
	{"image/jpeg", {"\xff\xd8\xff", 3}, 0, {NULL, 0}},
	{"image/gif", {"GIF87a", 6}, 0, {NULL, 0}},
	{"image/gif", {"GIF89a", 6}, 0, {NULL, 0}},
	{"image/webp", {"RIFF", 4}, 8, {"WEBP", 4}},
};

static bool has_at(struct str bytes, size_t at, struct str mark)
{
	return bytes.len >= at + mark.len && memcmp(bytes.ptr + at, mark.ptr, mark.len) == 0;
}

const char *image_mime(struct str bytes)
{
	for (size_t i = 0; i < countof(kinds); i++) {
		if (has_at(bytes, 0, kinds[i].magic) &&
		    (!kinds[i].also_at || has_at(bytes, kinds[i].also_at, kinds[i].also)))
			return kinds[i].mime;
	}
	return NULL;
}

struct view_job {
	struct tool_call *call; /* NULL after the call was cancelled */
	char *path;
	struct buf file;
	struct error err;
	bool failed;
	struct remote_files *files; /* NULL: the file is on this machine */
};

static void read_file_job(void *self)
{
	struct view_job *job = self;
	job->failed = file_read_regular(job->path, &job->file, &job->err) != 0;
}

static void view_job_destroy(struct view_job *job)
{
	remote_files_close(job->files);
	buf_finish(&job->file);
	free(job->path);
	free(job);
}

static void write_image_message(struct tool_call *call, const char *mime, struct str bytes)
{
	struct json_writer w = json_writer(&call->follow_up);
	jw_object(&w);
	jw_member_cstr(&w, "type", "message");
	jw_member_cstr(&w, "role", "user");
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "input_image");
	jw_key(&w, "image_url");
	buf_printf(&call->follow_up, "\"data:%s;base64,", mime);
	text_base64(&call->follow_up, bytes.ptr, bytes.len);
	buf_append_char(&call->follow_up, '"');
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
}

static void write_value(struct tool_call *call, const char *mime, struct str bytes)
{
	buf_printf(&call->value, "{\"image_url\":\"data:%s;base64,", mime);
	text_base64(&call->value, bytes.ptr, bytes.len);
	buf_append_c(&call->value, "\"}");
}

static void on_file_read(void *self)
{
	struct view_job *job = self;
	struct tool_call *call = job->call;
	if (!call) {
		view_job_destroy(job);
		return;
	}
	call->state = NULL;
	const char *mime = job->failed ? NULL : image_mime(buf_str(&job->file));
	if (job->failed) {
		tool_call_finishf(call, false, "unable to read image at `%s`: %s", job->path, job->err.text);
	} else if (!mime) {
		tool_call_finishf(call, false, "`%s` is not an image this model can take: PNG, JPEG, GIF or WebP",
		                  job->path);
	} else {
		struct ev_view_image event = {.call_id = call->call_id, .path = str_of(job->path)};
		call->host->emit(call->host, call->turn_id, EV_view_image_tool_call, &event);
		if (call->is_nested)
			write_value(call, mime, buf_str(&job->file));
		else
			write_image_message(call, mime, buf_str(&job->file));
		tool_call_finish(call, true, STR("attached local image path"));
	}
	view_job_destroy(job);
}

static void on_remote_read(struct str content, const struct error *err, void *self)
{
	struct view_job *job = self;
	job->failed = err;
	if (err)
		job->err = *err;
	buf_append_str(&job->file, content);
	on_file_read(job);
}

static void stop(struct tool_call *call)
{
	struct view_job *job = call->state;
	if (job && job->files)
		view_job_destroy(job);
	else if (job)
		job->call = NULL;
	call->state = NULL;
}

static struct view_job *view_job_create(struct tool_call *call, char *path)
{
	struct view_job *job = xnew(struct view_job);
	job->call = call;
	job->path = path;
	buf_init(&job->file, LIMIT_IMAGE_FILE);
	call->state = job;
	call->stop = stop;
	return job;
}

/* Takes ownership of the path. */
static void start_remote(struct tool_call *call, char *path)
{
	struct view_job *job = view_job_create(call, path);
	job->files = remote_files_open(call->environment, NULL, on_remote_read, job, &job->err);
	if (job->files) {
		remote_files_read(job->files, job->path);
		return;
	}
	job->failed = true;
	on_file_read(job);
}

void tool_view_image_start(struct tool_call *call)
{
	const struct args_view_image *args = call->args;
	if (!tool_call_choose(call, args->environment_id))
		return;
	auto_free char *name = str_dup(args->path);
	char *path = path_join(call->cwd, name);
	struct stat st;
	if (call->environment) {
		start_remote(call, path);
		return;
	}
	if (stat(path, &st) != 0) {
		int sys = errno;
		tool_call_finishf(call, false, "unable to locate image at `%s`: %s (os error %d)", path, strerror(sys),
		                  sys);
		free(path);
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		tool_call_finishf(call, false, "image path `%s` is not a file", path);
		free(path);
		return;
	}
	worker_run(call->host->loop, read_file_job, on_file_read, view_job_create(call, path));
}
