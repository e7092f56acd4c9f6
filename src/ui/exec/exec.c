/* A run reads the command line and the prompt, configures a session, submits one user input, prints the events and
 * shuts down. After the prompt everything is driven by events on one loop. */
#include "ui/exec/exec.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_inert.h"
#include "config/config_required.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "protocol/message/review_text.h"
#include "skill/custom_prompt.h"
#include "ui/exec/exec_attach.h"
#include "ui/exec/exec_options.h"
#include "ui/exec/exec_printer.h"
#include "ui/exec/exec_prompt.h"
#include "ui/exec/exec_resume.h"
#include "ui/exec/exec_worktree.h"
#include "ui/cli/terminal.h"
#include "workspace/git_info.h"

enum { EXIT_FAILED = 1, EXIT_SIGNAL = 128 };

/* The signals that end a run. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

struct exec {
	struct exec_options options;
	struct config *config;
	char *cwd;
	struct exec_resume resume;
	struct exec_images images;
	struct buf prompt;
	struct buf schema;
	struct loop *loop;
	struct services *services;
	struct codex *codex;
	struct exec_attach *attach;
	struct exec_printer *printer;
	struct exec_facts facts;
	uv_signal_t on_signal[countof(signals)];
	struct last_message last;
	int signal;    /* the signal that ended the run */
	bool has_plan; /* the agent has proposed a plan */
	bool has_failed;
	bool has_task; /* the task has started, so its end will follow */
	bool is_over;  /* shutdown was submitted */
};

/* The bodies of a review target. */
struct review_words {
	struct review_target target;
	struct review_branch branch;
	struct review_commit commit;
};

/* Returns the target of a review; NULL: the prompt describes it. */
static struct review_target *review_target_of(const struct exec_options *options, struct review_words *words)
{
	*words = (struct review_words){.target = {.tag = review_target_uncommitted_changes}};
	if (options->review.base) {
		words->branch.branch = str_of(options->review.base);
		words->target = (struct review_target){.tag = review_target_base_branch, .base_branch = &words->branch};
	} else if (options->review.commit) {
		words->commit = (struct review_commit){str_of(options->review.commit), str_of(options->review.title)};
		words->target = (struct review_target){.tag = review_target_commit, .commit = &words->commit};
	} else if (!options->review.uncommitted) {
		return NULL;
	}
	return &words->target;
}

static const char *originator(void)
{
	const char *wished = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	return wished ? wished : "codex_exec";
}

/* ---- before the loop ---- */

static int read_schema(struct exec *exec, struct error *err)
{
	const char *path = exec->options.output_schema;
	auto_arena struct arena arena = {0};
	if (!path)
		return 0;
	if (file_read(path, &exec->schema, err) != 0)
		return error_wrap(err, "Failed to read output schema file %s", path);
	if (!json_parse(&arena, buf_str(&exec->schema), err))
		return error_wrap(err, "Output schema file %s is not valid JSON", path);
	return 0;
}

static int find_cwd(struct exec *exec, struct error *err)
{
	const char *want = exec->options.cwd ? exec->options.cwd : ".";
	exec->cwd = realpath(want, NULL);
	if (!exec->cwd)
		return error_sys(err, errno, "cannot work in %s", want);
	if (!dir_exists(exec->cwd))
		return error_set(err, ERR_invalid, "cannot work in %s: it is not a folder", exec->cwd);
	return exec->options.worktree ? exec_worktree_enter(&exec->cwd, err) : 0;
}

static int check_repository(const struct exec *exec, struct error *err)
{
	if (exec->options.skip_git_check || exec->options.bypass || git_info_is_repo(exec->cwd))
		return 0;
	return error_set(err, ERR_denied,
	                 "Not inside a trusted directory and --skip-git-repo-check was not specified.\n"
	                 "Run it in a git repository, which records every change, or add the option.");
}

/* Replaces /prompts:NAME on the command line by the text of the user's prompt with that name. */
static int expand_prompt(struct exec *exec, struct error *err)
{
	struct buf text;
	if (!exec->options.prompt || !custom_prompt_is_called(buf_str(&exec->prompt)))
		return 0;
	buf_init(&text, exec->prompt.max);
	int status = custom_prompt_expand(config_home(exec->config), buf_str(&exec->prompt), &text, err);
	buf_finish(&exec->prompt);
	exec->prompt = text;
	return status;
}

/* Reads the prompt. A review is named by its target, which is shown as if the user had typed it. */
static int read_prompt(struct exec *exec, struct error *err)
{
	struct exec_options *options = &exec->options;
	if (options->resume && !options->prompt && options->asks_prompt && isatty(STDIN_FILENO))
		return exec_prompt_ask(&exec->prompt, err);
	if (!options->is_review) {
		int status = exec_prompt_read(options->prompt, &exec->prompt, err);
		return status == 0 ? expand_prompt(exec, err) : status;
	}
	if (options->prompt)
		return exec_prompt_read_alone(options->prompt, &exec->prompt, err);
	struct review_words words;
	review_write_hint(review_target_of(options, &words), &exec->prompt);
	return 0;
}

static int prepare(struct exec *exec, struct error *err)
{
	int status = find_cwd(exec, err);
	if (status == 0)
		status = exec_config_load(&exec->options, exec->cwd, &exec->config, err);
	exec->resume = (struct exec_resume){.options = &exec->options, .config = exec->config, .cwd = exec->cwd};
	if (status == 0)
		status = exec_resume_pick(&exec->resume, err);
	if (exec->resume.has_listed)
		return status;
	if (status == 0)
		status = check_repository(exec, err);
	if (status == 0)
		status = read_schema(exec, err);
	if (status == 0)
		status = exec_resume_find(&exec->resume, err);
	if (status == 0)
		status = last_message_init(&exec->last, exec->options.last_message_file, err);
	exec_images_init(&exec->images, &exec->options.images);
	if (status == 0) /* last, because it may block */
		status = read_prompt(exec, err);
	if (status == 0)
		status = exec_prompt_check(&exec->prompt, err);
	if (status == 0)
		status = exec_resume_fork(&exec->resume, originator(), err);
	return status;
}

/* ---- the run ---- */

/* The requested result cannot come any more, so it is not waited for. */
static void fail(struct exec *exec, const char *text)
{
	fprintf(stderr, "codex exec: %s\n", text);
	exec->has_failed = true;
	loop_stop(exec->loop);
}

static void submit(struct exec *exec, const char *id, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	struct error err;
	if (codex_submit_op(exec->codex, str_of(id), &op, &err) != 0)
		fail(exec, err.text);
}

static void shut_down(struct exec *exec)
{
	if (!exec->is_over)
		submit(exec, "shutdown", OP_shutdown, NULL);
	exec->is_over = true;
}

static void submit_prompt(struct exec *exec)
{
	VEC(struct user_input) items = {0};
	vec_for_each(image, &exec->images)
		vec_push(&items, (struct user_input){.tag = user_input_local_image, .local_image = image});
	struct input_text text = {.text = buf_str(&exec->prompt)};
	vec_push(&items, (struct user_input){.tag = user_input_text, .text = &text});
	struct op_user_input input = {.items = items.items, .items_count = items.count};
	if (exec->schema.len)
		input.final_output_json_schema = buf_str(&exec->schema);
	submit(exec, "0", OP_user_input, &input);
	vec_finish(&items);
}

static void submit_review(struct exec *exec)
{
	struct review_words words;
	struct review_custom custom = {buf_str(&exec->prompt)};
	struct review_target said = {.tag = review_target_custom, .custom = &custom};
	struct review_target *target = review_target_of(&exec->options, &words);
	struct review_request request = {.target = target ? target : &said};
	struct op_review review = {.review_request = &request};
	submit(exec, "0", OP_review, &review);
}

static void on_lost_answer(const char *text, void *self)
{
	fail(self, text);
}

/* Keeps the plan, which is the result that was asked for; the agent's message only comments on it. */
static void keep_plan(struct exec *exec, const struct turn_item *item)
{
	if (item->tag != turn_item_plan)
		return;
	last_message_keep(&exec->last, item->plan->text);
	exec->has_plan = true;
}

/* Without a session, or if a review is refused, no task starts that could report the failure. Programs that read
 * JSON expect errors inside a turn, so the error is printed on stderr as well, which they quote when a run fails. */
static void on_failure(struct exec *exec, const struct event *event)
{
	exec->has_failed = true;
	if (exec->has_task)
		return;
	if (exec->options.json)
		terminal_complain("", event->msg.error->message);
	shut_down(exec);
}

static void submit_work(struct exec *exec)
{
	if (exec->options.is_review)
		submit_review(exec);
	else
		submit_prompt(exec);
}

static void on_event(const struct event *event, void *self)
{
	struct exec *exec = self;
	exec->printer->on_event(exec->printer, event);
	exec_attach_event(exec->attach, event);
	switch (event->msg.tag) {
	case EV_session_configured:
		submit_work(exec);
		return;
	case EV_task_started:
		exec->has_task = true;
		return;
	case EV_error:
		on_failure(exec, event);
		return;
	case EV_item_completed:
		keep_plan(exec, event->msg.item_completed->item);
		return;
	case EV_task_complete:
		if (!exec->has_plan)
			last_message_keep(&exec->last, event->msg.task_complete->last_agent_message);
		shut_down(exec);
		return;
	case EV_turn_aborted:
		shut_down(exec);
		return;
	case EV_shutdown_complete:
		loop_stop(exec->loop);
		return;
	default:
		return;
	}
}

/* The first signal shuts the session down; the second one ends the run at once. */
static void on_signal(uv_signal_t *handle, int number)
{
	struct exec *exec = handle->data;
	if (exec->signal)
		loop_stop(exec->loop);
	exec->signal = number;
	shut_down(exec);
}

/* Leaves a signal ignored that was ignored at the start (nohup, a shell's background job). */
static void watch_signals(struct exec *exec)
{
	for (size_t i = 0; i < countof(signals); i++) {
		uv_signal_t *handle = &exec->on_signal[i];
		struct sigaction before;
		uv_signal_init(loop_uv(exec->loop), handle);
		handle->data = exec;
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			uv_signal_start(handle, on_signal, signals[i]);
	}
}

static void unwatch_signals(struct exec *exec)
{
	for (size_t i = 0; i < countof(signals); i++)
		uv_close((uv_handle_t *)&exec->on_signal[i], NULL);
}

static void submit_session(struct exec *exec)
{
	static struct ask_for_approval nobody_is_asked = {.tag = ask_for_approval_never}; /* no user can be asked */
	const struct config_required *required = config_required(exec->config);
	bool is_reviewed = exec->config->approvals_reviewer == approvals_reviewer_auto_review;
	bool may_set = !is_reviewed && config_required_check_approval(required, &nobody_is_asked, NULL) == 0;
	struct exec_sandbox sandbox;
	exec_config_sandbox(&exec->options, exec->config, &sandbox);
	struct op_configure_session op = {
		.approval_policy = may_set ? &nobody_is_asked : NULL, /* requests are denied in any case */
		.sandbox_policy = &sandbox.sandbox,
		.resume_path = str_of(exec->resume.path),
	};
	submit(exec, "configure", OP_configure_session, &op);
	exec_sandbox_finish(&sandbox);
}

static void print_warnings(struct exec *exec)
{
	size_t count;
	exec_config_warn(&exec->options, exec->config);
	const char *const *warnings = config_warnings(exec->config, &count);
	for (size_t i = 0; i < count; i++)
		terminal_complain("warning: ", str_of(warnings[i]));
	auto_buf struct buf note;
	buf_init(&note, ERROR_TEXT_MAX);
	const char *const *keys = config_inert(exec->config, &count);
	if (config_inert_report(config_home(exec->config), keys, count, &note))
		terminal_complain("note: ", buf_str(&note));
}

/* A reader that closed the pipe has read enough; other losses of output must not look like success. */
static void check_output(struct exec *exec)
{
	const struct error *lost = &exec->printer->lost;
	if (lost->code == ERR_none || lost->sys == EPIPE)
		return;
	fprintf(stderr, "codex exec: %s\n", lost->text);
	exec->has_failed = true;
}

static int run(struct exec *exec, struct error *err)
{
	exec->loop = loop_create(err);
	if (!exec->loop)
		return -1;
	exec->services = services_create(exec->loop, originator());
	services_preload(exec->services);
	exec->facts = (struct exec_facts){.prompt = buf_str(&exec->prompt),
	                                  .color = exec->options.color,
	                                  .hides_thinking = exec->config->hide_agent_reasoning};
	exec->printer = exec->options.json ? exec_json_create() : exec_human_create(exec->loop, &exec->facts);
	struct codex_options options = {
		.reports_refusals = true,
		.services = exec->services,
		.config = exec->config,
		.source = session_source_exec,
		.cwd = exec->cwd,
		.ephemeral = exec->options.ephemeral,
		.mutes_output = true,
		.is_unattended = true,
		.steers = true,
		.on_event = on_event,
		.self = exec,
	};
	exec->codex = codex_open(&options);
	exec->attach = exec_attach_create(exec->loop, exec->options.ephemeral ? NULL : config_home(exec->config),
	                                  exec->codex, on_lost_answer, exec);
	watch_signals(exec);
	submit_session(exec);
	loop_run(exec->loop);
	check_output(exec);
	exec->printer->destroy(exec->printer);
	codex_close(exec->codex);
	exec_attach_destroy(exec->attach);
	services_destroy(exec->services);
	process_reaper_stop();
	unwatch_signals(exec);
	loop_hurry(exec->loop); /* an attached terminal may have stopped reading */
	loop_destroy(exec->loop);
	return 0;
}

static int exit_status(const struct exec *exec)
{
	if (exec->signal)
		return EXIT_SIGNAL + exec->signal;
	return exec->has_failed ? EXIT_FAILED : 0;
}

static void exec_finish(struct exec *exec)
{
	config_unref(exec->config);
	free(exec->cwd);
	free(exec->resume.path);
	last_message_finish(&exec->last);
	exec_images_finish(&exec->images);
	buf_finish(&exec->prompt);
	buf_finish(&exec->schema);
}

static int main_with_options(struct exec *exec)
{
	struct error err;
	buf_init(&exec->prompt, LIMIT_PROMPT * 2);
	buf_init(&exec->schema, LIMIT_CONFIG_FILE);
	int status = prepare(exec, &err);
	if (status == 0 && !exec->resume.has_listed) {
		print_warnings(exec);
		status = run(exec, &err);
		if (status == 0)
			status = last_message_write(&exec->last, &err);
	}
	if (status != 0)
		terminal_complain("", str_of(err.text));
	status = status != 0 ? error_exit_status(err.code) : exit_status(exec);
	exec_finish(exec);
	return status;
}

static int main_of(const struct cli_command *command, int argc, char **argv)
{
	struct exec exec = {0};
	struct cli_result words;
	int status = exec_options_read(command, &exec.options, &words, argc, argv);
	if (status < 0)
		status = main_with_options(&exec);
	if (status != 0 && !exec.has_task && !exec.signal)
		exec_prompt_drain();
	exec_options_finish(&exec.options, &words);
	return status;
}

int exec_main(int argc, char **argv)
{
	return main_of(&exec_command, argc, argv);
}

int resume_main(int argc, char **argv)
{
	return main_of(&resume_command, argc, argv);
}

int fork_main(int argc, char **argv)
{
	return main_of(&fork_command, argc, argv);
}

int review_main(int argc, char **argv)
{
	return main_of(&review_command, argc, argv);
}
