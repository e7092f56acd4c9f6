/* acp_store.h — work of a request on a worker, mostly with stored sessions.
 *
 * A job is embedded in a struct of its kind, which its done function frees. If the server ends first, `server` and
 * `request` are NULL in done. Loop thread only; `work` runs on a worker and accesses its own struct alone. */
#ifndef ACP_ACP_STORE_H
#define ACP_ACP_STORE_H

#include "base/list.h"

struct acp_job;
struct acp_request;
struct acp_server;

typedef void (*acp_job_fn)(struct acp_job *job);

struct acp_job {
	/* read-only */
	struct acp_server *server;
	struct acp_request *request;
	/* private */
	struct list link;
	acp_job_fn work, done;
};

void acp_job_start(struct acp_job *job, struct acp_server *server, struct acp_request *request, acp_job_fn work,
                   acp_job_fn done);
/* Detaches all running jobs from the server, and frees its listings. */
void acp_store_finish(struct acp_server *server);

#endif
