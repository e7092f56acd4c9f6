/* libsecret's header is not needed: its functions are declared here. A job that its caller no longer waits for is freed
 * by its thread. */
#include "config/keyring.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"

/* ---- libsecret ---- */

struct secret_schema {
	const char *name;
	int flags;
	struct {
		const char *name;
		int type;
	} attributes[32];
	int reserved;
	void *more[7];
};

struct g_error {
	uint32_t domain;
	int code;
	char *message;
};

static struct {
	char *(*lookup)(const struct secret_schema *schema, void *cancellable, struct g_error **err, ...);
	int (*store)(const struct secret_schema *schema, const char *collection, const char *label, const char *secret,
	             void *cancellable, struct g_error **err, ...);
	int (*clear)(const struct secret_schema *schema, void *cancellable, struct g_error **err, ...);
	void (*free_secret)(char *secret);
	void (*free_error)(struct g_error *err);
} library;

static const char *const names[] = {"secret_password_lookup_sync", "secret_password_store_sync",
                                    "secret_password_clear_sync", "secret_password_free", "g_error_free"};

LIBRARY(libsecret, library, names, LIBRARY_ROW(libsecret), .purpose = "libsecret, which reads the keyring");

/* The name is that of items without a schema, so that an item is found whichever program has made it. */
static const struct secret_schema schema = {
	.name = "org.freedesktop.Secret.Generic",
	.flags = 2, /* the name is not compared */
	.attributes = {{"service", 0}, {"username", 0}, {"target", 0}, {"application", 0}},
};

/* ---- jobs ---- */

/* Jobs that their callers have stopped waiting for. While there is one, no other is started to read: a program that
 * asks again and again must not collect threads. LEFT_MAX: the most of them, each with a thread and a text. */
static _Atomic unsigned unanswered;

enum { LEFT_MAX = 8 };

/* Jobs run one after another, so that a change that was left is not made after a later one. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t next;
	unsigned last, current;
} turns = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 1};

enum job_kind { JOB_READ, JOB_WRITE, JOB_REMOVE };

enum { USER_SIZE = 24 };

struct job {
	enum job_kind kind;
	unsigned turn;
	char user[USER_SIZE];
	char *secret; /* to write, or as read; NULL: none */
	bool was_there;
	struct error err;
	bool is_done, is_left;
	pthread_mutex_t lock;
	pthread_cond_t end;
};

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void job_destroy(struct job *job)
{
	wipe(job->secret);
	pthread_cond_destroy(&job->end);
	pthread_mutex_destroy(&job->lock);
	free(job);
}

/* The names of the item. */
#define ITEM "service", "Codex Auth", "username", job->user

static void job_run(struct job *job)
{
	static const char *const verbs[] = {"read", "write", "delete"};
	struct g_error *failure = NULL;
	char *found;
	if (library_load(&libsecret, &job->err) != 0)
		return;
	switch (job->kind) {
	case JOB_READ:
		found = library.lookup(&schema, NULL, &failure, ITEM, NULL);
		job->secret = found ? xstrdup(found) : NULL;
		library.free_secret(found);
		break;
	case JOB_WRITE:
		library.store(&schema, NULL, "Codex Auth", job->secret, NULL, &failure, ITEM, "target", "default",
		              "application", "rust-keyring", NULL);
		break;
	case JOB_REMOVE:
		job->was_there = library.clear(&schema, NULL, &failure, ITEM, NULL);
		break;
	}
	if (!failure)
		return;
	error_set(&job->err, ERR_unsupported, "the keyring cannot %s it: %s", verbs[job->kind], failure->message);
	library.free_error(failure);
}

static void take_turn(struct job *job)
{
	pthread_mutex_lock(&turns.lock);
	while (turns.current != job->turn)
		pthread_cond_wait(&turns.next, &turns.lock);
	pthread_mutex_unlock(&turns.lock);
}

static void end_turn(void)
{
	pthread_mutex_lock(&turns.lock);
	turns.current++;
	pthread_cond_broadcast(&turns.next);
	pthread_mutex_unlock(&turns.lock);
}

static void *on_thread(void *self)
{
	struct job *job = self;
	take_turn(job);
	job_run(job);
	end_turn();
	pthread_mutex_lock(&job->lock);
	job->is_done = true;
	bool is_left = job->is_left;
	pthread_cond_signal(&job->end);
	pthread_mutex_unlock(&job->lock);
	if (is_left) {
		unanswered--;
		job_destroy(job);
	}
	return NULL;
}

/* Returns false if the job has not ended in time: its thread owns it now. */
static bool job_wait(struct job *job, unsigned wait_ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += wait_ms / 1000;
	pthread_mutex_lock(&job->lock);
	while (!job->is_done && pthread_cond_timedwait(&job->end, &job->lock, &until) == 0)
		;
	bool is_done = job->is_done;
	job->is_left = !is_done;
	unanswered += !is_done;
	pthread_mutex_unlock(&job->lock);
	return is_done;
}

static struct job *job_create(enum job_kind kind, const char *home)
{
	struct job *job = xnew(struct job);
	pthread_condattr_t attributes;
	char hash[SHA256_TEXT_SIZE];
	auto_free char *canonical = realpath(home, NULL);
	sha256_text(str_of(canonical ? canonical : home), hash);
	snprintf(job->user, sizeof(job->user), "cli|%.16s", hash);
	job->kind = kind;
	pthread_mutex_init(&job->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&job->end, &attributes);
	pthread_condattr_destroy(&attributes);
	return job;
}

/* Gives a job its turn. */
static bool start(struct job *job)
{
	pthread_t thread;
	pthread_mutex_lock(&turns.lock);
	job->turn = turns.last + 1;
	bool is_started = pthread_create(&thread, NULL, on_thread, job) == 0;
	turns.last += is_started;
	pthread_mutex_unlock(&turns.lock);
	if (is_started)
		pthread_detach(thread);
	return is_started;
}

static bool is_overloaded(const struct job *job, struct error *err)
{
	if (unanswered < (job->kind == JOB_READ ? 1 : LEFT_MAX))
		return false;
	error_set(err, ERR_timeout, "the keyring has not answered an earlier request yet; is it locked?");
	return true;
}

/* Runs a job. Returns it when it has ended, or NULL and err. */
static struct job *run(struct job *job, unsigned wait_ms, struct error *err)
{
	bool is_refused = is_overloaded(job, err);
	if (is_refused || !start(job)) {
		job_destroy(job);
		if (!is_refused)
			error_set(err, ERR_unsupported, "no thread can be started for the keyring");
		return NULL;
	}
	if (!job_wait(job, wait_ms)) {
		error_set(err, ERR_timeout, "the keyring did not answer within %u s; is it locked?", wait_ms / 1000);
		return NULL;
	}
	if (!job->err.code)
		return job;
	error_set(err, job->err.code, "%s", job->err.text);
	job_destroy(job);
	return NULL;
}

/* ---- the calls ---- */

int keyring_read(const char *home, struct buf *out, struct error *err)
{
	struct error failure;
	struct job *job = run(job_create(JOB_READ, home), LIMIT_KEYRING_READ_MS, &failure);
	if (!job)
		return error_set(err, failure.code, "%s", failure.text);
	bool is_there = job->secret;
	buf_append_c(out, is_there ? job->secret : "");
	job_destroy(job);
	return is_there ? 0 : error_set(err, ERR_not_found, "no credentials");
}

int keyring_write(const char *home, struct str text, unsigned wait_ms, struct error *err)
{
	struct error failure;
	struct job *job = job_create(JOB_WRITE, home);
	job->secret = str_dup(text);
	job = run(job, wait_ms, &failure);
	if (!job)
		return error_set(err, failure.code, "%s", failure.text);
	job_destroy(job);
	return 0;
}

int keyring_remove(const char *home, bool *ret_was_there, struct error *err)
{
	struct error failure;
	struct job *job = run(job_create(JOB_REMOVE, home), LIMIT_KEYRING_WRITE_MS, &failure);
	if (!job)
		return error_set(err, failure.code, "%s", failure.text);
	*ret_was_there = job->was_there;
	job_destroy(job);
	return 0;
}
