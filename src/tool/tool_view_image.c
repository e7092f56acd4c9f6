/* The file is read on a worker thread: it may be large and its disk slow. The model gets a line of
 * text as the call's output and the image itself as a user message behind all outputs (core 1.6). */
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/worker.h"
#include "tool/tool_image.h"
#include "tool/tool_impl.h"

struct view_job {
	struct tool_call *call; /* NULL once the call was cancelled */
	char *path;
	struct buf file;
	struct error err;
	bool failed;
};

static void read_file_job(void *self)
{
	struct view_job *job = self;
	job->failed = file_read_regular(job->path, &job->file, &job->err) != 0;
}

static void view_job_destroy(struct view_job *job)
{
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
		write_image_message(call, mime, buf_str(&job->file));
		tool_call_finish(call, true, STR("attached local image path"));
	}
	view_job_destroy(job);
}

static void stop(struct tool_call *call)
{
	struct view_job *job = call->state;
	if (job)
		job->call = NULL;
}

void tool_view_image_start(struct tool_call *call)
{
	const struct args_view_image *args = call->args;
	auto_free char *name = str_dup(args->path);
	char *path = path_join(call->host->cwd, name);
	struct stat st;
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
	struct view_job *job = xnew(struct view_job);
	job->call = call;
	job->path = path;
	buf_init(&job->file, LIMIT_IMAGE_FILE);
	call->state = job;
	call->stop = stop;
	worker_run(call->host->loop, read_file_job, on_file_read, job);
}
