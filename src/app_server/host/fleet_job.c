/* A request waits for its answer; from then on the job is a resource of its client. In both cases the client's end
 * destroys it. */
#include "app_server/host/fleet_job.h"

#include <stdlib.h>

#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "base/error.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "process/process.h"

enum { COMPLAINT_MAX = 4096 };

static void destroy(struct fleet_job *job)
{
	if (job->server->import == job)
		job->server->import = NULL;
	process_destroy(job->process);
	loop_timer_destroy(job->timer);
	arena_finish(&job->arena);
	buf_finish(&job->out);
	buf_finish(&job->complaint);
	if (!job->request)
		list_remove(&job->resource.link);
	free(job);
}

/* The client has gone. The changes that the command has made stay. */
static void stop(struct fleet_job *job)
{
	struct app_server *server = job->server;
	bool changes = job->type->changes;
	destroy(job);
	if (changes)
		config_view_reload(server);
}

static void on_cancel(struct rpc_request *request)
{
	stop(request->self);
}

static void on_client_gone(struct client_resource *resource)
{
	stop(container_of(resource, struct fleet_job, resource));
}

static const struct client_resource_type resource_type = {.end = on_client_gone};

void fleet_job_reply(struct fleet_job *job, const void *result)
{
	struct rpc_request *request = job->request;
	job->request = NULL;
	connection_add_resource(job->client, &job->resource, &resource_type);
	rpc_reply(request, result);
}

static void take_lines(struct fleet_job *job)
{
	ptrdiff_t end;
	while ((end = str_find_char(buf_str(&job->out), '\n')) >= 0) {
		job->type->on_line(job, str_n(job->out.data, (size_t)end));
		buf_consume(&job->out, (size_t)end + 1);
	}
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct fleet_job *job = self;
	buf_append_str(stream == exec_stream_stdout ? &job->out : &job->complaint, bytes);
	if (stream == exec_stream_stdout && job->type->on_line)
		take_lines(job);
}

static const char *complaint_of(struct fleet_job *job, const struct process_result *result, struct arena *arena)
{
	struct str text = str_trim(buf_str(&job->complaint));
	if (job->is_late)
		return arena_printf(arena,
		                    "codex %s took longer than %d seconds and was ended. Its last change may "
		                    "be incomplete: repeat it.",
		                    job->type->word, (int)(job->type->most_ms / 1000));
	if (result->error)
		return result->error->text;
	if (job->out.over)
		return arena_printf(arena, "the answer of codex %s is larger than %d MiB", job->type->word,
		                    (int)(job->type->most / MIB));
	return text.len ? arena_cstr(arena, text) : arena_printf(arena, "codex %s was ended", job->type->word);
}

static void on_end(const struct process_result *result, void *self)
{
	auto_arena struct arena arena = {0};
	struct fleet_job *job = self;
	enum { EXIT_MISSING = 127 };
	job->is_missing = result->exit_code == EXIT_MISSING;
	bool has_failed = result->error || result->exit_code != 0 || job->out.over || job->is_late;
	const char *complaint = has_failed ? complaint_of(job, result, &arena) : NULL;
	if (job->type->changes)
		config_view_reload(job->server);
	if (!has_failed)
		job->type->on_result(job);
	else if (job->type->on_failure)
		job->type->on_failure(job, complaint);
	else if (result->error)
		rpc_fail_with(job->request, result->error);
	else
		rpc_fail(job->request, APP_INVALID_REQUEST, "%s", complaint);
	destroy(job);
}

static void on_late(void *self)
{
	struct fleet_job *job = self;
	job->is_late = true;
	process_kill(job->process);
}

static void write_request(const struct fleet_job *job, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "method", job->request->method->wire);
	jw_member_cstr(&w, "importId", job->id);
	jw_key(&w, "params");
	record_encode(job->request->method->params, job->request->params, &w);
	jw_object_end(&w);
}

static int run(struct fleet_job *job, struct error *err)
{
	static const struct process_handler handler = {.on_output = on_output, .on_end = on_end};
	const char *const argv[] = {host_program(), job->type->word, "--rpc", NULL};
	const struct process_spec spec = {.argv = argv,
	                                  .env = config_env_all(),
	                                  .cwd = job->server->cwd,
	                                  .stdin_open = true,
	                                  .stdin_most = job->type->most,
	                                  .drain_ms = PROCESS_DRAIN_MS};
	auto_buf struct buf text;
	buf_init(&text, job->type->most);
	write_request(job, &text);
	if (text.over)
		return error_set(err, ERR_limit, "the request is larger than %d MiB", (int)(job->type->most / MIB));
	job->process = process_start(job->server->loop, &spec, &handler, job, err);
	if (!job->process || process_write_stdin(job->process, buf_str(&text), err) != 0)
		return -(int)err->code;
	process_close_stdin(job->process);
	return 0;
}

enum rpc_verdict fleet_job_start(struct rpc_request *request, const struct fleet_job_type *type, const char *list)
{
	struct error err;
	struct fleet_job *job = xnew(struct fleet_job);
	job->server = request->server;
	job->client = request->connection;
	job->request = request;
	job->type = type;
	job->list = list;
	buf_init(&job->out, type->most);
	buf_init(&job->complaint, COMPLAINT_MAX);
	uuid_v7(job->id);
	if (run(job, &err) != 0) {
		destroy(job);
		return rpc_fail_with(request, &err);
	}
	job->timer = loop_timer_create(request->server->loop, on_late, job);
	loop_timer_start(job->timer, type->most_ms);
	return rpc_wait(request, on_cancel, job);
}
