/* A request is written when it is made, and sent when the link is ready and the server has shown its sandbox. */
#include "remote/remote_files.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "remote/environment.h"
#include "remote/exec_link.h"
#include "remote/remote_start.h"
#include "sandbox/sandbox.h"

struct remote_files {
	struct environment *environment;
	remote_files_fn on_done;
	void *self;
	struct exec_link *link;
	struct loop_deferred later; /* reports an error without an answer */
	const char *method;         /* of the request under way, or NULL */
	struct buf params;
	struct buf sandbox; /* the policy as JSON */
	struct buf probe;   /* of the start without effect; empty: none is needed */
	int64_t probe_id;
	bool is_ready, is_lost;
	struct error error; /* of the lost link, or of a request that cannot be sent */
};

/* Must be the last step of its caller. */
static void finish(struct remote_files *files, struct str content, const struct error *err)
{
	buf_finish(&files->params);
	files->method = NULL;
	exec_link_allow_file(files->link, false);
	files->on_done(content, err, files->self);
}

static void on_later(void *self)
{
	struct remote_files *files = self;
	finish(files, STR_NONE, &files->error);
}

static void fail(struct remote_files *files, const struct error *err)
{
	files->error = *err;
	if (files->error.code == ERR_not_found) /* it says nothing about a file */
		files->error.code = ERR_transport;
	files->is_lost = true;
	if (files->method)
		loop_defer(&files->later);
}

static void send_request(struct remote_files *files)
{
	if (!files->probe.len || files->environment->is_fenced)
		exec_link_request(files->link, files->method, buf_str(&files->params));
	else
		files->probe_id = exec_link_request(files->link, "process/start", buf_str(&files->probe));
}

/* ---- callbacks of the link ---- */

static void on_ready(void *self)
{
	struct remote_files *files = self;
	files->is_ready = true;
	if (files->method)
		send_request(files);
}

static void take_content(struct remote_files *files, const struct json *result)
{
	auto_buf struct buf content;
	struct error err;
	struct str data;
	buf_init(&content, LIMIT_ENVIRONMENT_FILE + 3); /* whole groups of base64 */
	bool has_data = json_to_str(json_get(result, "dataBase64"), &data);
	if (!has_data || !text_base64_decode(&content, data))
		error_set(&err, ERR_transport, "the exec-server sent no file");
	else if (content.over || content.len > LIMIT_ENVIRONMENT_FILE)
		error_set(&err, ERR_limit, "it is larger than %d bytes", LIMIT_ENVIRONMENT_FILE);
	else
		return finish(files, content.len ? buf_str(&content) : STR(""), NULL);
	finish(files, STR_NONE, &err);
}

static void take_probe(struct remote_files *files, const struct json *result, const struct error *refusal)
{
	struct error err;
	files->environment->is_fenced = remote_start_has_sandbox(result);
	if (files->environment->is_fenced) {
		send_request(files);
		return;
	}
	error_set(&err, ERR_unsupported, "the exec-server of environment `%.*s` has no sandbox, which this needs%s%s",
	          STR_ARG(files->environment->id), refusal ? ": " : "", refusal ? refusal->text : "");
	finish(files, STR_NONE, &err);
}

static void on_answer(int64_t id, const struct json *result, const struct error *err, void *self)
{
	struct remote_files *files = self;
	if (id == files->probe_id)
		take_probe(files, result, err);
	else if (err || strcmp(files->method, "fs/readFile") != 0)
		finish(files, STR_NONE, err);
	else
		take_content(files, result);
}

/* The end of the command without effect is of no interest. */
static bool on_notify(struct str method, const struct json *params, void *self)
{
	(void)method;
	(void)params;
	(void)self;
	return false;
}

static void on_lost(const struct error *err, void *self)
{
	fail(self, err);
}

bool remote_files_is_lost(const struct remote_files *files)
{
	return files->is_lost;
}

/* ---- requests ---- */

static struct json_writer begin(struct remote_files *files, const char *method, const char *path, bool is_boxed)
{
	files->method = method;
	buf_init(&files->params, LIMIT_WEBSOCKET_MESSAGE);
	struct json_writer w = json_writer(&files->params);
	jw_object(&w);
	jw_key(&w, "path");
	remote_write_uri(&w, path);
	jw_member_raw(&w, "sandbox", is_boxed ? buf_str(&files->sandbox) : STR("null"));
	return w;
}

static void end(struct remote_files *files, struct json_writer *w)
{
	jw_object_end(w);
	if (files->params.over && !files->is_lost)
		error_set(&files->error, ERR_limit, "the request has more than %d bytes as JSON",
		          LIMIT_WEBSOCKET_MESSAGE);
	if (files->params.over || files->is_lost) {
		loop_defer(&files->later);
	} else if (files->is_ready) {
		send_request(files);
	}
}

void remote_files_read(struct remote_files *files, const char *path)
{
	struct json_writer w = begin(files, "fs/readFile", path, true);
	exec_link_allow_file(files->link, true);
	end(files, &w);
}

void remote_files_look(struct remote_files *files, const char *path)
{
	struct json_writer w = begin(files, "fs/getMetadata", path, true);
	end(files, &w);
}

void remote_files_write(struct remote_files *files, const char *path, struct str text)
{
	struct json_writer w = begin(files, "fs/writeFile", path, true);
	jw_key(&w, "dataBase64");
	buf_append_char(&files->params, '"');
	text_base64(&files->params, text.ptr, text.len);
	buf_append_char(&files->params, '"');
	end(files, &w);
}

void remote_files_make_folder(struct remote_files *files, const char *path, bool is_boxed)
{
	struct json_writer w = begin(files, "fs/createDirectory", path, is_boxed);
	jw_member_bool(&w, "recursive", true);
	end(files, &w);
}

void remote_files_remove(struct remote_files *files, const char *path)
{
	struct json_writer w = begin(files, "fs/remove", path, true);
	jw_member_bool(&w, "recursive", false);
	jw_member_bool(&w, "force", false);
	end(files, &w);
}

/* ---- its life ---- */

static int write_policy(struct remote_files *files, const struct sandbox_policy *policy, struct error *err)
{
	buf_init(&files->sandbox, LIMIT_WEBSOCKET_MESSAGE);
	buf_init(&files->probe, LIMIT_WEBSOCKET_MESSAGE);
	struct json_writer w = json_writer(&files->sandbox);
	if (!policy || !sandbox_is_needed(policy->mode)) {
		jw_null(&w);
		return 0;
	}
	remote_write_sandbox(&w, policy);
	return remote_start_write_probe(&files->probe, policy, err);
}

struct remote_files *remote_files_open(struct environment *environment, const struct sandbox_policy *policy,
                                       remote_files_fn on_done, void *self, struct error *err)
{
	static const struct exec_link_handler handler = {on_ready, on_answer, on_notify, on_lost};
	if (remote_check(environment, policy, err) != 0)
		return NULL;
	struct remote_files *files = xnew(struct remote_files);
	files->environment = environment_ref(environment);
	files->on_done = on_done;
	files->self = self;
	loop_deferred_init(&files->later, environment->loop, on_later, files);
	if (write_policy(files, policy, err) != 0) {
		remote_files_close(files);
		return NULL;
	}
	files->link = exec_link_open(environment, &handler, files);
	return files;
}

void remote_files_close(struct remote_files *files)
{
	if (!files)
		return;
	exec_link_close(files->link);
	loop_deferred_finish(&files->later);
	buf_finish(&files->params);
	buf_finish(&files->sandbox);
	buf_finish(&files->probe);
	environment_unref(files->environment);
	free(files);
}
