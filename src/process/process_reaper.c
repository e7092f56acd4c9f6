/* Two questions are kept apart. *Who is there?* is asked of /proc, and only when something is to be
 * killed. *Who has died?* is asked of pidfds: an orphan is found among our children when the process
 * above it ends (the kernel hands it over before it reports that end), and is watched from then on.
 * The one gap: what is orphaned and dies while its command still runs stays a zombie until some
 * command ends. That is the price for needing no signal handler.
 *
 * A killed tree may grow while it is looked at. A process with a fatal signal pending cannot fork, so
 * each round of look-and-kill leaves only what the round did not see; rounds go on until one sees
 * nothing new. */
#include "process/process_reaper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "process/sandbox_placeholder.h"

/* A tree that got TERM and whose time runs. */
struct kill_job {
	struct list link;
	struct process_mark mark;
	struct loop_timer *timer;
};

/* A child that we did not start. */
struct orphan {
	struct list link;
	pid_t pid;
	struct child *child;
};

static _Thread_local struct { /* a thread is an engine of its own (libcodex) */
	struct loop *loop; /* set while we are the subreaper */
	struct list lineages, jobs, orphans;
	size_t orphan_count;
	bool has_lists;
	struct process_mark spared; /* id 0: there are none */
} reaper;

static void need_lists(void)
{
	if (reaper.has_lists)
		return;
	list_init(&reaper.lineages);
	list_init(&reaper.jobs);
	list_init(&reaper.orphans);
	reaper.has_lists = true;
}

/* mark NULL means everything below us. */
static bool is_member(struct process_tree *tree, struct process_entry *entry, const struct process_mark *mark)
{
	if (mark)
		return process_tree_has(tree, entry, mark);
	return process_tree_is_below_us(tree, entry) &&
	       !(reaper.spared.id && process_tree_has(tree, entry, &reaper.spared));
}

/* How many members of the tree are alive. All of them get sig, unless it is 0. */
static size_t signal_members(const struct process_mark *mark, int sig)
{
	auto_process_tree struct process_tree tree;
	size_t count = 0;
	if (process_tree_read(&tree, NULL) != 0) {
		if (mark && !mark->is_reaped && sig)
			kill(-mark->pid, sig); /* without /proc, its group is all we know */
		return 0;
	}
	vec_for_each (entry, &tree.entries) {
		if (!is_member(&tree, entry, mark))
			continue;
		if (sig)
			process_entry_signal(entry, sig);
		count++;
	}
	return count;
}

static bool is_listed(struct process_tree *tree, const struct process_entry *entry)
{
	vec_for_each (it, &tree->entries) {
		if (it->pid == entry->pid && it->started == entry->started)
			return true;
	}
	return false;
}

/* One look-and-kill; adds who was seen to `seen`. False if nobody was new. */
static bool kill_round(const struct process_mark *mark, struct process_tree *seen)
{
	auto_process_tree struct process_tree tree;
	bool is_new = false;
	if (process_tree_read(&tree, NULL) != 0) {
		signal_members(mark, SIGKILL);
		return false;
	}
	vec_for_each (entry, &tree.entries) {
		if (!is_member(&tree, entry, mark) || is_listed(seen, entry))
			continue;
		process_entry_signal(entry, SIGKILL);
		vec_push(&seen->entries, *entry);
		is_new = true;
	}
	return is_new;
}

/* False if new members still appeared in the last round. */
static bool kill_members(const struct process_mark *mark)
{
	auto_process_tree struct process_tree seen = {0};
	for (int round = 0; round < LIMIT_KILL_ROUNDS; round++) {
		if (!kill_round(mark, &seen))
			return true;
	}
	return false;
}

static struct kill_job *find_job(uint64_t id)
{
	struct kill_job *job;
	list_for_each (job, &reaper.jobs, link) {
		if (job->mark.id == id)
			return job;
	}
	return NULL;
}

static void job_destroy(struct kill_job *job)
{
	list_remove(&job->link);
	loop_timer_destroy(job->timer);
	free(job);
}

static void on_grace_over(void *self)
{
	struct kill_job *job = self;
	if (kill_members(&job->mark))
		job_destroy(job);
	else
		loop_timer_start(job->timer, LIMIT_KILL_GRACE_MS);
}

static void job_create(const struct process_lineage *lineage)
{
	struct kill_job *job = xnew(struct kill_job);
	job->mark = lineage->mark;
	job->timer = loop_timer_create(lineage->loop, on_grace_over, job);
	loop_timer_start(job->timer, LIMIT_KILL_GRACE_MS);
	list_append(&reaper.jobs, &job->link);
}

void process_reaper_kill(struct process_lineage *lineage)
{
	if (find_job(lineage->mark.id))
		return;
	if (signal_members(&lineage->mark, SIGTERM))
		job_create(lineage);
}

void process_reaper_kill_now(struct process_lineage *lineage)
{
	struct kill_job *job = find_job(lineage->mark.id);
	bool is_done = kill_members(&lineage->mark);
	if (is_done && job)
		job_destroy(job);
	else if (!is_done && !job)
		job_create(lineage);
}

static bool is_known(pid_t pid)
{
	struct process_lineage *lineage;
	list_for_each (lineage, &reaper.lineages, link) {
		if (lineage->mark.pid == pid && !lineage->mark.is_reaped)
			return true;
	}
	struct orphan *orphan;
	list_for_each (orphan, &reaper.orphans, link) {
		if (orphan->pid == pid)
			return true;
	}
	return false;
}

static void orphan_destroy(struct orphan *orphan)
{
	list_remove(&orphan->link);
	child_destroy(orphan->child);
	free(orphan);
	reaper.orphan_count--;
}

static void sweep(void);

static void on_orphan_exit(int wait_status, void *self)
{
	(void)wait_status;
	orphan_destroy(self);
	sweep();
}

static void orphan_watch(pid_t pid)
{
	if (reaper.orphan_count >= LIMIT_ORPHANS)
		return;
	struct orphan *orphan = xnew(struct orphan);
	orphan->pid = pid;
	orphan->child = child_create(reaper.loop, pid, on_orphan_exit, orphan, NULL);
	if (!orphan->child) { /* out of descriptors: a later sweep reaps it */
		free(orphan);
		return;
	}
	child_unref(orphan->child);
	list_append(&reaper.orphans, &orphan->link);
	reaper.orphan_count++;
}

static bool has_children(void)
{
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Reaps or watches the children that we did not start. */
static void sweep(void)
{
	if (!reaper.loop || !has_children())
		return;
	struct process_pids children;
	process_children(&children);
	vec_for_each (pid, &children.pids) {
		if (!is_known(*pid) && waitpid(*pid, NULL, WNOHANG) == 0)
			orphan_watch(*pid);
	}
	vec_finish(&children.pids);
}

const struct process_mark *process_reaper_spared(void)
{
	if (reaper.spared.id)
		return &reaper.spared;
	process_mark_init(&reaper.spared);
	reaper.spared.is_reaped = true; /* no one process leads them: the environment alone tells */
	return &reaper.spared;
}

void process_reaper_look(void)
{
	sweep();
}

void process_reaper_add(struct process_lineage *lineage)
{
	need_lists();
	process_mark_init(&lineage->mark);
	lineage->mark.is_alone = list_empty(&reaper.lineages) && list_empty(&reaper.jobs);
	struct process_lineage *other;
	list_for_each (other, &reaper.lineages, link)
		other->mark.is_alone = false;
	struct kill_job *job;
	list_for_each (job, &reaper.jobs, link)
		job->mark.is_alone = false;
	list_append(&reaper.lineages, &lineage->link);
}

void process_reaper_remove(struct process_lineage *lineage)
{
	list_remove(&lineage->link);
}

void process_reaper_ended(struct process_lineage *lineage)
{
	lineage->mark.is_reaped = true;
	struct kill_job *job = find_job(lineage->mark.id);
	if (job) {
		job->mark.is_reaped = true;
		if (signal_members(&job->mark, 0) == 0)
			job_destroy(job);
	}
	sweep();
}

void process_reaper_start(struct loop *loop)
{
	need_lists();
	reaper.loop = loop;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void wait_for_a_death(int timeout_ms)
{
	struct process_pids children;
	process_children(&children);
	VEC(struct pollfd) fds = {0};
	vec_for_each (pid, &children.pids) {
		int fd = fds.count < LIMIT_ORPHANS ? (int)syscall(SYS_pidfd_open, *pid, 0) : -1;
		if (fd >= 0)
			vec_push(&fds, (struct pollfd){.fd = fd, .events = POLLIN});
	}
	/* Without descriptors left to wait with, a short sleep; the caller's time is bounded. */
	poll(fds.items, fds.count, fds.count ? timeout_ms : 10);
	vec_for_each (it, &fds)
		close(it->fd);
	vec_finish(&fds);
	vec_finish(&children.pids);
}

/* Reaps all children as they end, but for those that are spared. False if some are left when the time is over. */
static bool reap_all(uint64_t time_ms)
{
	uint64_t start = clock_now_ms();
	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);
		if (pid > 0)
			continue;
		if (pid < 0 && errno == ECHILD)
			return true;
		if (reaper.spared.id && signal_members(NULL, 0) == 0)
			return true;
		uint64_t spent = clock_now_ms() - start;
		if (spent >= time_ms)
			return false;
		wait_for_a_death((int)(time_ms - spent));
	}
}

/* Returns how many are left. */
static size_t end_all_below_us(void)
{
	if (!has_children())
		return 0;
	signal_members(NULL, SIGTERM);
	if (reap_all(LIMIT_KILL_GRACE_MS))
		return 0;
	/* Whoever a dead parent leaves to us shows up in the next round. */
	for (int round = 0; round < LIMIT_KILL_ROUNDS; round++) {
		kill_members(NULL);
		if (reap_all(LIMIT_KILL_GRACE_MS / LIMIT_KILL_ROUNDS))
			return 0;
	}
	return signal_members(NULL, 0);
}

static void let_go_of_everything(void)
{
	struct kill_job *job;
	list_for_each (job, &reaper.jobs, link) {
		if (!reaper.loop)
			kill_members(&job->mark);
		job_destroy(job);
	}
	struct orphan *orphan;
	list_for_each (orphan, &reaper.orphans, link)
		orphan_destroy(orphan);
	while (!list_empty(&reaper.lineages)) {
		struct process_lineage *lineage = list_first(&reaper.lineages, struct process_lineage, link);
		list_remove(&lineage->link);
		lineage->on_stop(lineage);
	}
}

size_t process_reaper_stop(void)
{
	need_lists();
	size_t left = reaper.loop ? end_all_below_us() : 0;
	let_go_of_everything();
	sandbox_placeholders_release();
	if (reaper.loop)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	reaper.loop = NULL;
	return left;
}
