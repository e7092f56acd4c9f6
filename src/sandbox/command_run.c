/* Waits for the trials of the sandbox backends, once per engine and before its first command; later commands start
 * inside command_run_start. */
#include "sandbox/command_run.h"

#include <signal.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "sandbox/sandbox.h"

struct command_run {
	struct loop *loop;
	const struct command_run_handler *handler;
	void *self;
	struct sandbox_probe *probe; /* the trials that the run waits for, or NULL */
	struct process *process;     /* NULL before the start, or if it failed */
	struct command_place *place; /* NULL: this machine; else the place has the command */
	struct command_away *away;
	struct loop_deferred ended; /* reports `result` if there is no process */
	struct process_result result;
	struct error error;
	struct buf typed; /* input received before the start */
	bool is_input_closed;
	bool is_ended; /* on_end was called */
	unsigned pauses;
};

/* ---- its end ---- */

void command_run_destroy(struct command_run *run)
{
	if (!run)
		return;
	if (run->place)
		run->place->destroy(run->away);
	process_destroy(run->process);
	sandbox_probe_destroy(run->probe);
	loop_deferred_finish(&run->ended);
	buf_finish(&run->typed);
	free(run);
}

static void on_ended(void *self)
{
	struct command_run *run = self;
	run->is_ended = true;
	run->handler->on_end(&run->result, run->self);
}

static void fail(struct command_run *run)
{
	run->result = (struct process_result){.exit_code = -1, .error = &run->error};
	loop_defer(&run->ended);
}

/* Ends a run that has no process as if it had been killed; false if there is a process. */
static bool end_without_process(struct command_run *run)
{
	if (run->process)
		return false;
	if (run->is_ended)
		return true;
	sandbox_probe_destroy(steal(run->probe));
	if (!run->result.error)
		run->result = (struct process_result){.exit_code = -1, .signal = SIGKILL};
	loop_defer(&run->ended);
	return true;
}

void command_run_kill(struct command_run *run)
{
	if (run->place)
		run->place->kill(run->away);
	else if (!end_without_process(run))
		process_kill(run->process);
}

void command_run_kill_now(struct command_run *run)
{
	if (run->place)
		run->place->kill(run->away);
	else if (!end_without_process(run))
		process_kill_now(run->process);
}

/* ---- its start ---- */

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct command_run *run = self;
	run->handler->on_output(stream, bytes, run->self);
}

static void on_end(const struct process_result *result, void *self)
{
	struct command_run *run = self;
	run->handler->on_end(result, run->self);
}

static void on_run(void *self)
{
	struct command_run *run = self;
	run->handler->on_run(run->self);
}

static const struct process_handler quiet_handler = {on_output, on_end, NULL};
static const struct process_handler full_handler = {on_output, on_end, on_run};

/* Applies the pauses and the input that came before the process. The input was within the limit, so it fits. */
static void catch_up(struct command_run *run)
{
	for (unsigned i = 0; i < run->pauses; i++)
		process_pause(run->process);
	if (run->typed.len)
		best_effort(process_write_stdin(run->process, buf_str(&run->typed), NULL));
	if (run->is_input_closed)
		process_close_stdin(run->process);
	buf_finish(&run->typed);
}

static void start(struct command_run *run)
{
	struct command_run_spec spec = {0};
	auto_sandboxed_command struct sandboxed_command *sandboxed = NULL;
	const struct process_handler *handler = run->handler->on_run ? &full_handler : &quiet_handler;
	run->handler->prepare(&spec, run->self);
	if (sandbox_wrap(spec.policy, spec.process.argv, &sandboxed, &run->error) == 0) {
		spec.process.launch = sandbox_launch(sandboxed, spec.process.env);
		run->process = process_start(run->loop, &spec.process, handler, run, &run->error);
	}
	if (run->process)
		catch_up(run);
	else
		fail(run);
}

static void on_probed(void *self)
{
	struct command_run *run = self;
	sandbox_probe_destroy(steal(run->probe));
	start(run);
}

static void start_away(struct command_run *run)
{
	struct command_run_spec spec = {0};
	run->handler->prepare(&spec, run->self);
	run->away = run->place->start(run->place, &spec, run->handler, run->self);
}

struct command_run *command_run_start(struct loop *loop, struct command_place *place,
                                      const struct sandbox_policy *policy, const struct command_run_handler *handler,
                                      void *self)
{
	struct command_run *run = xnew(struct command_run);
	run->loop = loop;
	run->place = place;
	run->handler = handler;
	run->self = self;
	buf_init(&run->typed, LIMIT_EXEC_STDIN);
	loop_deferred_init(&run->ended, loop, on_ended, run);
	if (place)
		start_away(run);
	else if (sandbox_is_needed(policy->mode) && !sandbox_is_probed(policy->backend))
		run->probe = sandbox_probe_create(loop, policy->backend, on_probed, run);
	else
		start(run);
	return run;
}

bool command_run_is_running(const struct command_run *run)
{
	return run->place ? run->place->is_running(run->away) : run->process && process_is_running(run->process);
}

/* ---- while it runs ---- */

int command_run_write(struct command_run *run, struct str bytes, struct error *err)
{
	if (run->place)
		return run->place->write(run->away, bytes, err);
	if (run->process)
		return process_write_stdin(run->process, bytes, err);
	if (run->is_input_closed)
		return error_set(err, ERR_io, "the command's input is closed");
	if (bytes.len > LIMIT_EXEC_STDIN - run->typed.len)
		return error_set(err, ERR_busy, "the command does not read its input: %zu bytes are already pending",
		                 run->typed.len);
	buf_append_str(&run->typed, bytes);
	return 0;
}

void command_run_close_input(struct command_run *run)
{
	run->is_input_closed = true;
	if (run->process)
		process_close_stdin(run->process);
}

void command_run_pause(struct command_run *run)
{
	run->pauses++;
	if (run->place)
		run->place->pause(run->away);
	else if (run->process)
		process_pause(run->process);
}

void command_run_resume(struct command_run *run)
{
	run->pauses -= run->pauses > 0;
	if (run->place)
		run->place->resume(run->away);
	else if (run->process)
		process_resume(run->process);
}

int command_run_resize(struct command_run *run, const struct pty_size *size, struct error *err)
{
	if (run->process)
		return process_resize(run->process, size, err);
	return 0;
}

bool command_run_widen(struct command_run *run)
{
	return run->process && process_widen(run->process);
}

uint64_t command_run_skip(struct command_run *run, size_t keep)
{
	return run->process ? process_skip(run->process, keep) : 0;
}
