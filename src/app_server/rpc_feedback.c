/* feedback/save: writes a report as an archive that the user can inspect before sending it. The entries have the
 * names that codex 0.169 uses: report.json, manifest.json, attachments/NNNN/NAME. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_server/app_server_priv.h"
#include "app_server/store/store_job.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/zip.h"
#include "rollout/rollout_list.h"

struct report {
	const struct app_feedback_save_params *params;
	struct str thread_id;
	struct zip zip;
	struct buf manifest;
	struct json_writer manifest_writer;
	unsigned attachments;
};

/* ---- report.json ---- */

static const char *label_of(struct str classification)
{
	static const char *const labels[][2] = {
		{"bug", "Bug"},
		{"bad_result", "Bad result"},
		{"good_result", "Good result"},
		{"safety_check", "Safety check"},
	};
	for (size_t i = 0; i < countof(labels); i++) {
		if (str_is(classification, labels[i][0]))
			return labels[i][1];
	}
	return "Other";
}

/* The client's tags come first; the report's own fields take precedence. */
static void write_tags(const struct report *report, struct json_writer *w, struct arena *arena)
{
	static const char *const own[] = {"classification", "cli_version", "reason", "thread_id"};
	const struct app_feedback_save_params *params = report->params;
	const struct str values[] = {params->classification, STR(CODEX_VERSION), params->reason, report->thread_id};
	const struct json *tags = params->tags.ptr ? json_parse(arena, params->tags, NULL) : NULL;
	jw_object(w);
	if (json_is(tags, JSON_object)) {
		json_for_each(tag, tags) {
			bool is_taken = false;
			for (size_t i = 0; i < countof(own); i++)
				is_taken |= str_is(tag->key, own[i]);
			if (!is_taken)
				jw_key_str(w, tag->key), jw_value(w, tag);
		}
	}
	for (size_t i = 0; i < countof(own); i++) {
		if (values[i].ptr)
			jw_member_str(w, own[i], values[i]);
	}
	jw_object_end(w);
}

static void write_report(const struct report *report, struct buf *out, struct arena *arena)
{
	struct json_writer w = json_writer(out);
	uint64_t halves[2];
	host_random(halves, sizeof(halves));
	jw_object(&w);
	jw_key(&w, "event_id");
	jw_strf(&w, "%016" PRIx64 "%016" PRIx64, halves[0], halves[1]);
	jw_key(&w, "message");
	jw_strf(&w, "[%s]: Codex session %.*s", label_of(report->params->classification), STR_ARG(report->thread_id));
	jw_key(&w, "timestamp");
	jw_double(&w, (double)clock_unix_ms() / 1000);
	jw_key(&w, "tags");
	write_tags(report, &w, arena);
	jw_object_end(&w);
}

/* ---- attachments ---- */

static int attach(struct report *report, const char *path, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct str name = path_name(path);
	auto_free char *entry = xasprintf("attachments/%04u/%.*s", report->attachments, STR_ARG(name));
	if (fd < 0)
		return error_sys(err, errno, "failed to read selected attachment %s", path);
	if (!file_is_regular(path))
		return error_set(err, ERR_invalid, "failed to read selected attachment %s: not a regular file", path);
	if (report->attachments == LIMIT_FEEDBACK_FILES)
		return error_set(err, ERR_limit, "no more than %d files can be attached", LIMIT_FEEDBACK_FILES);
	struct json_writer *w = &report->manifest_writer;
	jw_object(w);
	jw_member_cstr(w, "entry", entry);
	jw_member_str(w, "filename", name);
	jw_member_cstr(w, "contentType", "text/plain");
	jw_object_end(w);
	report->attachments++;
	return zip_add_fd(&report->zip, str_of(entry), fd, path, err);
}

/* Attaches all files. A thread without a file is not an error, because the user's description matters most. */
static int attach_all(struct report *report, const char *home, struct error *err)
{
	const struct app_feedback_save_params *params = report->params;
	auto_free char *rollout = params->include_logs && params->thread_id.ptr
	                                  ? rollout_list_find_id(home, params->thread_id, NULL)
	                                  : NULL;
	int status = rollout ? attach(report, rollout, err) : 0;
	for (size_t i = 0; i < params->extra_log_files_count && status == 0; i++) {
		auto_free char *path = str_dup(params->extra_log_files[i]);
		status = attach(report, path, err);
	}
	return status;
}

/* ---- the archive ---- */

static int fill(struct report *report, struct store_job *job, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	write_report(report, &text, &job->arena);
	int status = zip_add(&report->zip, STR("report.json"), buf_str(&text), err);
	jw_array(&report->manifest_writer);
	if (status == 0)
		status = attach_all(report, job->home, err);
	jw_array_end(&report->manifest_writer);
	if (status == 0)
		status = zip_add(&report->zip, STR("manifest.json"), buf_str(&report->manifest), err);
	return status == 0 ? zip_end(&report->zip, err) : status;
}

static int save(struct report *report, const char *path, struct store_job *job, struct error *err)
{
	auto_free char *temp = xasprintf("%s.tmp-%ld", path, (long)getpid());
	auto_close int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", temp);
	zip_init(&report->zip, fd);
	buf_init(&report->manifest, LIMIT_LINE);
	report->manifest_writer = json_writer(&report->manifest);
	int status = fill(report, job, err);
	if (status == 0 && link(temp, path) != 0)
		status = errno == EEXIST ? error_set(err, ERR_exists, "feedback save path already exists")
		                         : error_sys(err, errno, "cannot create %s", path);
	unlink(temp);
	zip_finish(&report->zip);
	buf_finish(&report->manifest);
	return status;
}

/* The id is not a UUIDv7, because its generator belongs to the loop's thread. */
static struct str make_id(struct arena *arena)
{
	uint16_t words[8];
	host_random(words, sizeof(words));
	return str_of(arena_printf(arena, "no-active-thread-%04x%04x-%04x-4%03x-%04x-%04x%04x%04x", words[0], words[1],
	                           words[2], words[3] & 0xfffu, (words[4] & 0x3fffu) | 0x8000u, words[5], words[6],
	                           words[7]));
}

static int run(struct store_job *job, struct error *err)
{
	const struct app_feedback_save_params *params = job->params;
	struct str *thread_id = job->out;
	*thread_id = params->thread_id.ptr ? params->thread_id : make_id(&job->arena);
	struct report report = {.params = params, .thread_id = *thread_id};
	auto_free char *path = str_dup(params->save_path);
	int status = file_exists(path) ? error_set(err, ERR_exists, "feedback save path already exists")
	                               : save(&report, path, job, err);
	if (status == 0)
		return 0;
	err->code = ERR_internal; /* the code is always -32603, as in codex 0.169 */
	return error_wrap(err, "failed to save feedback");
}

static void reply(struct store_job *job)
{
	const struct app_feedback_save_params *params = job->params;
	const struct str *thread_id = job->out;
	struct app_feedback_save_response response = {.saved_path = params->save_path, .thread_id = *thread_id};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_feedback_save(struct rpc_request *request, const struct app_feedback_save_params *params)
{
	if (!str_has_prefix(params->save_path, "/") || memchr(params->save_path.ptr, 0, params->save_path.len))
		return rpc_fail(request, APP_INVALID_REQUEST, "feedback savePath must be an absolute host path");
	if (params->thread_id.ptr && !uuid_is_valid(params->thread_id))
		return rpc_refuse(request,
		                  rpc_error_bad_id(&request->arena, APP_INVALID_REQUEST, "thread", params->thread_id));
	return store_job_start(request, sizeof(struct str), run, reply);
}
