/* The change is made by the writer of config.toml that `codex mcp add` uses, so that comments and order are kept. */
#include "engine/session/mcp_approval_store.h"

#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/toml/toml_edit.h"
#include "engine/session/session.h"
#include "engine/session/session_mcp.h"

struct approve_job {
	struct list link;
	struct session *session; /* NULL: it has ended */
	char *home, *server, *tool;
	struct error err;
	int status;
};

static struct approve_job *job_create(struct session *session, struct str server, struct str tool)
{
	struct approve_job *job = xnew(struct approve_job);
	job->session = session;
	job->home = xstrdup(config_home(session->env->config));
	job->server = str_dup(server);
	job->tool = str_dup(tool);
	list_init(&job->link);
	return job;
}

static void job_destroy(struct approve_job *job)
{
	list_remove(&job->link);
	free(job->home);
	free(job->server);
	free(job->tool);
	free(job);
}

/* ---- the work ---- */

static int change_file(struct toml_edit *edit, void *self, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct approve_job *job = self;
	const struct str path[] = {STR("mcp_servers"), str_of(job->server), STR("tools"), str_of(job->tool),
	                           STR("approval_mode")};
	struct toml *value = toml_new(&arena, TOML_string, "", 0);
	value->text = STR("approve");
	return toml_edit_set(edit, path, countof(path), value, err);
}

static void run_approve(void *self)
{
	struct approve_job *job = self;
	job->status = config_file_change(job->home, change_file, job, &job->err);
}

static void on_approved(void *self)
{
	struct approve_job *job = self;
	if (job->status != 0 && job->session)
		session_warn(job->session, STR(""), "the approval counts for this session only: %s", job->err.text);
	job_destroy(job);
}

/* ---- the host ---- */

static void host_approve_mcp(struct tool_host *host, struct str server, struct str tool)
{
	struct session *session = container_of(host, struct session, host);
	struct approve_job *job = job_create(session, server, tool);
	list_append(&session->mcp_approvals, &job->link);
	worker_run(session->env->loop, run_approve, on_approved, job);
}

static bool host_stores_mcp(struct tool_host *host, struct str server)
{
	return config_stores_server(session_mcp_config(container_of(host, struct session, host)->mcp), server);
}

void mcp_approvals_attach(struct session *session)
{
	list_init(&session->mcp_approvals);
	session->host.approve_mcp = host_approve_mcp;
	session->host.stores_mcp = host_stores_mcp;
}

void mcp_approvals_detach(struct session *session)
{
	struct approve_job *job;
	if (!session->host.approve_mcp)
		return;
	list_for_each(job, &session->mcp_approvals, link) {
		list_remove(&job->link);
		job->session = NULL;
	}
}
