/* To kill a tree, its members are found by marks that are hard to remove: descent, session, a variable of the
 * environment (process_tree.h). If a process has removed all of them while several commands ran, it cannot be
 * attributed to a command; it stays below the supervisor and ends with the engine. */
#include "process/process_reaper.h"

#include <signal.h>

#include "base/limits.h"
#include "loop/loop.h"
#include "process/supervisor.h"
#include "process/placeholder.h"
#include "process/tree_kill.h"

/* A tree that has received SIGTERM and gets SIGKILL when the timer expires. Its members are listed, because SIGTERM
 * may end a parent and leave its child. */
struct kill_job {
	struct list link;
	struct process_mark mark;
	struct process_tree known;
	struct loop_timer *timer;
};

static _Thread_local struct { /* per thread, like engines of libcodex */
	struct list commands, jobs;
	bool has_lists;
} reaper;

static void need_lists(void)
{
	if (reaper.has_lists)
		return;
	list_init(&reaper.commands);
	list_init(&reaper.jobs);
	reaper.has_lists = true;
}

static struct kill_job *find_job(uint64_t id)
{
	struct kill_job *job;
	list_for_each(job, &reaper.jobs, link) {
		if (job->mark.id == id)
			return job;
	}
	return NULL;
}

static void job_destroy(struct kill_job *job)
{
	list_remove(&job->link);
	loop_timer_destroy(job->timer);
	process_tree_finish(&job->known);
	free(job);
}

static void on_grace_over(void *self)
{
	struct kill_job *job = self;
	if (tree_kill(supervisor_pid(), &job->mark, &job->known))
		job_destroy(job);
	else
		loop_timer_start(job->timer, LIMIT_KILL_GRACE_MS);
}

/* Takes ownership of the list `known`. */
static struct kill_job *job_create(const struct reaped_command *reaped, struct process_tree *known)
{
	struct kill_job *job = xnew(struct kill_job);
	job->mark = reaped->mark;
	job->known = *known;
	*known = (struct process_tree){0};
	job->timer = loop_timer_create(reaped->loop, on_grace_over, job);
	loop_timer_start(job->timer, LIMIT_KILL_GRACE_MS);
	list_append(&reaper.jobs, &job->link);
	return job;
}

void process_reaper_kill(struct reaped_command *reaped)
{
	reaped->is_condemned = true;
	auto_process_tree struct process_tree known = {0};
	if (!find_job(reaped->mark.id) && tree_signal(supervisor_pid(), &reaped->mark, &known, SIGTERM))
		job_create(reaped, &known);
}

void process_reaper_kill_now(struct reaped_command *reaped)
{
	auto_process_tree struct process_tree known = {0};
	struct kill_job *job = find_job(reaped->mark.id);
	reaped->is_condemned = reaped->is_urgent = true;
	bool is_done = tree_kill(supervisor_pid(), &reaped->mark, job ? &job->known : &known);
	if (is_done && job)
		job_destroy(job);
	else if (!is_done && !job)
		job_create(reaped, &known);
}

static bool lists_pid(const struct process_tree *known, pid_t pid)
{
	vec_for_each(entry, &known->entries) {
		if (entry->pid == pid)
			return true;
	}
	return false;
}

void process_reaper_started(struct reaped_command *reaped, pid_t pid, bool is_reaped)
{
	struct kill_job *job = find_job(reaped->mark.id);
	reaped->mark.pid = pid;
	reaped->mark.is_reaped = is_reaped;
	if (job) {
		job->mark.pid = pid;
		job->mark.is_reaped = is_reaped;
	}
	if (reaped->is_condemned && reaped->is_urgent)
		process_reaper_kill_now(reaped);
	else if (reaped->is_condemned && !job)
		process_reaper_kill(reaped);
	else if (job && !is_reaped && !lists_pid(&job->known, pid))
		kill(pid, SIGTERM);
}

void process_reaper_add(struct reaped_command *reaped)
{
	need_lists();
	process_mark_init(&reaped->mark);
	struct reaped_command *other;
	list_for_each(other, &reaper.commands, link) {
		process_mark_join(&other->mark);
		if (!other->is_condemned)
			process_mark_join(&reaped->mark);
	}
	struct kill_job *job;
	list_for_each(job, &reaper.jobs, link)
		process_mark_join(&job->mark);
	list_append(&reaper.commands, &reaped->link);
}

void process_reaper_remove(struct reaped_command *reaped)
{
	list_remove(&reaped->link);
}

void process_reaper_ended(struct reaped_command *reaped)
{
	reaped->mark.is_reaped = true;
	struct kill_job *job = find_job(reaped->mark.id);
	if (job) {
		job->mark.is_reaped = true;
		if (tree_signal(supervisor_pid(), &job->mark, &job->known, 0) == 0)
			job_destroy(job);
	}
}

static void let_go_of_everything(void)
{
	struct kill_job *job;
	list_for_each(job, &reaper.jobs, link)
		job_destroy(job);
	while (!list_empty(&reaper.commands)) {
		struct reaped_command *reaped = list_first(&reaper.commands, struct reaped_command, link);
		list_remove(&reaped->link);
		reaped->on_stop(reaped);
	}
}

bool process_reaper_leave(void)
{
	need_lists();
	bool is_done = supervisor_leave();
	let_go_of_everything();
	if (is_done)
		placeholders_release();
	else
		placeholders_drop(); /* the supervisor removes the folders after the last command */
	return is_done;
}

size_t process_reaper_stop(void)
{
	need_lists();
	size_t left = supervisor_end();
	let_go_of_everything();
	placeholders_release();
	return left;
}
