/* fleet_job.h — a request that a command of codex-fleet answers, so that neither its code nor its waiting is in this
 * process: `codex WORD --rpc` reads {"method":…,"importId":…,"params":{…}} on standard input and prints the answer.
 *
 * The parameters are encoded again, as they were understood. A job ends with its client, and its command with the job.
 * Owns: its command and the output. Loop thread only. */
#ifndef APP_SERVER_FLEET_JOB_H
#define APP_SERVER_FLEET_JOB_H

#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "base/buf.h"
#include "base/uuid.h"

struct app_server;
struct fleet_job;
struct loop_timer;
struct process;

struct fleet_job_type {
	const char *word; /* the command */
	size_t most;      /* bytes of the request, and of the output that is kept */
	uint64_t most_ms; /* time until the command is killed */
	bool changes;     /* the configuration may change, also if the command fails: it is read again */
	/* Takes complete lines from out while the command runs. NULL: the output is for on_result. */
	void (*on_line)(struct fleet_job *job, struct str line);
	/* The command has succeeded: answers the request, unless on_line did. */
	void (*on_result)(struct fleet_job *job);
	/* The command has failed: answers the request, unless on_line did. NULL: the answer is the complaint. */
	void (*on_failure)(struct fleet_job *job, const char *complaint);
};

struct fleet_job {
	/* read-only */
	struct app_server *server;
	struct rpc_request *request; /* NULL: it is answered */
	const struct fleet_job_type *type;
	const char *list; /* for on_result: the list in the response that the output is; may be NULL */
	struct buf out;
	char id[UUID_TEXT_SIZE]; /* the importId */
	bool is_late;            /* the command was killed after most_ms */
	bool is_missing;         /* codex-fleet is not installed */
	struct arena arena;      /* for self */
	void *self;              /* of on_line */
	/* private */
	struct process *process;
	struct loop_timer *timer;
	struct buf complaint;
	struct connection *client;
	struct client_resource resource; /* once the request is answered */
};

/* Starts the command for a request, as the last act of its handler. */
enum rpc_verdict fleet_job_start(struct rpc_request *request, const struct fleet_job_type *type, const char *list);
/* Answers the request before the command has ended. */
void fleet_job_reply(struct fleet_job *job, const void *result);

#endif
