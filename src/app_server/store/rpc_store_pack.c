/* The reference answers when the pass begins; here the answer comes when it is over, so that a client which lists the
 * files next sees what became of them, and one that has no libzstd is told. A client that goes ends the pass. */
#include "app_server/rpc/server.h"
#include "app_server/store/store_job.h"
#include "rollout/rollout_pack.h"

static int run_compress(struct store_job *job, struct error *err)
{
	return rollout_pack_all(job->home, &job->stop, err);
}

static void reply_compress(struct store_job *job)
{
	struct app_rollout_compress_response response = {0};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_rollout_compress(struct rpc_request *request, const struct app_nothing *params)
{
	(void)params;
	return store_job_start(request, 0, run_compress, reply_compress);
}
