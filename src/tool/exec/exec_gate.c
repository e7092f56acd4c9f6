/* A command is judged by the user's rules, else by the decision table: each plain command of a script, and the
 * strictest decision applies. A script that cannot be parsed into plain commands is judged as one command, the shell: a
 * rule that allows `rm` does not apply to it. Rules that restrict and the search for destructive commands look into it
 * (command_walk.h). A proposed rule never begins with a bare interpreter or another program that runs its arguments,
 * because it would allow everything.
 *
 * exec_command_begin is emitted before the approval request, so that clients can render it, unless the host sets
 * begins_once_allowed. A forbidden command emits neither; a host may have refusals reported. */
#include "tool/exec/exec_gate.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "command/command_safety.h"
#include "command/shell.h"
#include "remote/environment.h"
#include "sandbox/sandbox.h"
#include "tool/exec/exec_command.h"
#include "tool/exec/exec_decision.h"
#include "workspace/git_inert.h"

/* ---- the judgement ---- */

struct judgement {
	enum exec_decision decision;
	bool is_ruled;              /* the decision comes from a rule, not from the table */
	bool is_unaskable;          /* forbidden, because the policy does not permit a question that is needed */
	bool asks[QUESTION_count];  /* the kinds of approval that are needed */
	bool is_allowed;            /* rules allow the whole script: it runs outside the sandbox */
	struct str justification;   /* justification of the rule; may be STR_NONE */
	const struct str *proposal; /* a prefix rule to propose; owned by the command */
	size_t proposal_count;
};

/* True if git may run without approval: not in a writable repository, which a sandboxed command could change right
 * after this check, nor in an environment, whose repositories are not known here. */
static bool can_run_git(const struct exec_command *command)
{
	char git[PATH_MAX];
	const struct sandbox_policy *policy = tool_host_policy(command->host, command->environment);
	return !command->environment && git_is_inert(command->cwd, git) &&
	       (!git[0] || !sandbox_is_needed(policy->mode) || !sandbox_can_write(policy, git));
}

/* has_moved: the script has changed the folder before this command, so git would read another repository. */
static bool is_safe(const struct exec_command *command, const struct plain_command *plain, bool has_moved)
{
	return plain_command_is_safe(plain) && (!plain_command_is_git(plain) || (!has_moved && can_run_git(command)));
}

static enum exec_kind kind_of(const struct exec_command *command, const struct plain_command *plain, bool has_moved)
{
	if (plain_command_is_dangerous(plain))
		return EXEC_dangerous;
	return is_safe(command, plain, has_moved) ? EXEC_safe : EXEC_ordinary;
}

static enum exec_kind kind_of_unread(const struct exec_command *command)
{
	return command_is_dangerous(command->argv) ? EXEC_dangerous : EXEC_ordinary;
}

/* Parses a script into plain commands; false if the vector must be judged as one command. */
static bool read_commands(struct exec_command *command, struct arena *arena, struct command_list *ret)
{
	if (command_parse_argv(command->argv, arena, ret))
		return true;
	struct command_word *words = arena_array(arena, struct command_word, command->argc);
	for (size_t i = 0; i < command->argc; i++)
		words[i].text = command->argv[i];
	ret->commands = arena_new(arena, struct plain_command);
	*ret->commands = (struct plain_command){words, command->argc};
	ret->count = 1;
	return false;
}

/* True if program has one of the names, with or without a version suffix. */
static bool is_named(const char *program, const char *const *names)
{
	const char *name = shell_base_name(program);
	size_t length = strlen(name);
	while (length > 0 && strchr(".0123456789", name[length - 1])) /* a version suffix, as in python3.11 */
		length--;
	for (; *names; names++)
		if (strlen(*names) == length && strncmp(name, *names, length) == 0)
			return true;
	return false;
}

static bool runs_text(const char *program)
{
	static const char *const names[] = {
		"ash",  "awk",    "bash", "bun",  "cmd",   "csh",       "dash", "deno", "fish",
		"git",  "ksh",    "lua",  "node", "npx",   "osascript", "perl", "php",  "pwsh",
		"pypy", "python", "ruby", "sh",   "tclsh", "tcsh",      "zsh",  NULL,
	};
	return is_named(program, names);
}

static bool runs_programs(const char *program)
{
	static const char *const names[] = {
		"busybox", "chroot",  "doas", "env",    "exec",   "nice", "nohup", "parallel",
		"script",  "setsid",  "ssh",  "stdbuf", "strace", "su",   "sudo",  "time",
		"timeout", "unshare", "uv",   "watch",  "xargs",  NULL,
	};
	return is_named(program, names);
}

/* True if a rule with this prefix would allow arbitrary commands. */
static bool allows_anything(const struct str *words, size_t count, bool is_whole)
{
	if (count == 1)
		return runs_text(words[0].ptr) || runs_programs(words[0].ptr);
	if (is_whole)
		return false;
	bool has_operand = false;
	for (size_t i = 1; i < count; i++)
		has_operand = has_operand || !str_has_prefix(words[i], "-");
	return runs_programs(words[0].ptr) || (runs_text(words[0].ptr) && !has_operand);
}

static void propose(struct exec_command *command, const struct str *words, size_t count, bool is_whole,
                    struct judgement *ret)
{
	if (ret->proposal || count == 0 || allows_anything(words, count, is_whole))
		return;
	struct str *copy = arena_array(&command->arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_str(&command->arena, words[i]);
	ret->proposal = copy;
	ret->proposal_count = count;
}

static void propose_command(struct exec_command *command, const struct plain_command *plain, struct judgement *ret)
{
	auto_arena struct arena arena = {0};
	struct str *words = arena_array(&arena, struct str, plain->count);
	for (size_t i = 0; i < plain->count; i++)
		words[i] = str_of(plain->words[i].text);
	propose(command, words, plain->count, true, ret);
}

static bool begins_with_prefix(const struct exec_command *command, const struct plain_command *plain)
{
	if (plain->count < command->prefix_count)
		return false;
	for (size_t i = 0; i < command->prefix_count; i++)
		if (!str_is(command->prefix[i], plain->words[i].text))
			return false;
	return true;
}

/* Proposes the model's prefix rule, if it matches this command. */
static void propose_prefix(struct exec_command *command, const struct command_list *list, struct judgement *ret)
{
	struct exec_match match;
	bool is_whole = list->count == 1 && list->commands[0].count == command->prefix_count;
	bool has_moved = false;
	for (size_t i = 0; i < list->count; i++) {
		const struct plain_command *plain = &list->commands[i];
		bool is_ruled = exec_policy_decide(command->host->rules(command->host), plain, &match);
		if (!begins_with_prefix(command, plain) && !is_ruled && !is_safe(command, plain, has_moved))
			return;
		has_moved = has_moved || plain_command_moves(plain);
	}
	propose(command, command->prefix, command->prefix_count, is_whole, ret);
}

/* Judges one plain command by rule or by the table. */
static void judge_one(struct exec_command *command, const struct plain_command *plain, bool is_read, bool has_moved,
                      struct judgement *ret)
{
	const struct tool_host *host = command->host;
	struct exec_match match;
	bool is_ruled = exec_policy_decide(host->rules(command->host), plain, &match);
	if (!is_ruled) {
		enum exec_kind kind = is_read ? kind_of(command, plain, has_moved) : kind_of_unread(command);
		match = (struct exec_match){.decision = exec_decide(host->approval_policy, kind, command->is_escalated,
		                                                    sandbox_is_needed(host->sandbox->mode))};
		if (match.decision == EXEC_prompt && is_read)
			propose_command(command, plain, ret);
	}
	ret->is_allowed = ret->is_allowed && is_ruled && match.decision == EXEC_allow;
	if (match.decision == EXEC_prompt)
		ret->asks[is_ruled ? QUESTION_rules : QUESTION_sandbox] = true;
	if (match.decision < ret->decision || (match.decision == ret->decision && ret->is_ruled))
		return;
	ret->decision = match.decision;
	ret->is_ruled = is_ruled;
	ret->justification = arena_str(&command->arena, match.justification);
}

/* One approval request covers a whole script; the policy must allow each kind of question in it. */
static bool may_ask(const struct ask_for_approval *policy, const struct judgement *judgement)
{
	for (int question = 0; question < QUESTION_count; question++)
		if (judgement->asks[question] && !approval_may_ask(policy, question))
			return false;
	return true;
}

/* Judges the command. If it requests to leave the sandbox, exec_may_escalate must be true. */
static void judge(struct exec_command *command, struct judgement *ret)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	bool is_read = read_commands(command, &arena, &list);
	*ret = (struct judgement){.is_allowed = true};
	if (command->is_escalated && is_read)
		propose_prefix(command, &list, ret);
	bool has_moved = false;
	for (size_t i = 0; i < list.count; i++) {
		judge_one(command, &list.commands[i], is_read, has_moved, ret);
		has_moved = has_moved || plain_command_moves(&list.commands[i]);
	}
	if (ret->decision == EXEC_prompt && !may_ask(command->host->approval_policy, ret)) {
		ret->decision = EXEC_forbidden;
		ret->is_unaskable = true;
	}
	if (ret->is_ruled) {
		ret->proposal = NULL;
		ret->proposal_count = 0;
	}
}

/* Fills only the proposal: a rule that would let this command run outside the sandbox. */
static void judge_proposal(struct exec_command *command, struct judgement *ret)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	struct exec_match match;
	*ret = (struct judgement){.decision = EXEC_prompt};
	bool has_moved = false;
	if (!read_commands(command, &arena, &list))
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct plain_command *plain = &list.commands[i];
		bool is_ruled = exec_policy_decide(command->host->rules(command->host), plain, &match);
		if (!is_ruled && !is_safe(command, plain, has_moved))
			propose_command(command, plain, ret);
		has_moved = has_moved || plain_command_moves(plain);
	}
}

static void append_command(struct buf *out, const struct exec_command *command)
{
	buf_append_char(out, '`');
	shell_join(out, command->argv);
	buf_append_char(out, '`');
}

/* Writes the reason of a refusal, for the model. */
static void write_refusal(const struct exec_command *command, const struct judgement *judgement, struct buf *out)
{
	append_command(out, command);
	buf_append_c(out, " rejected: ");
	const struct ask_for_approval *policy = command->host->approval_policy;
	bool by_rule = judgement->asks[QUESTION_rules] && !approval_may_ask(policy, QUESTION_rules);
	if (judgement->justification.ptr)
		buf_append_str(out, judgement->justification);
	else if (judgement->is_unaskable && policy->tag == ask_for_approval_granular)
		buf_printf(out,
		           "%s, and the approval policy (granular, %s = false) answers such questions with no. "
		           "Do it in another way.",
		           by_rule ? "a rule about commands requires an approval" : "it needs an approval",
		           by_rule ? "rules" : "sandbox_approval");
	else if (judgement->is_ruled)
		buf_append_c(out, judgement->is_unaskable
		                          ? "a rule about commands requires an approval, which cannot be requested"
		                          : "a rule about commands forbids it");
	else
		buf_append_c(out, "it destroys what cannot be had back, and "
		                  "nobody may be asked under this policy. " /* words: quoted */
		                  "Do it in a safer way.");
}

/* Writes the reason of an approval request, for the user; empty without a rule. */
static void write_reason(const struct exec_command *command, const struct judgement *judgement, struct buf *out)
{
	if (!judgement->is_ruled)
		return;
	append_command(out, command);
	if (judgement->justification.ptr)
		buf_printf(out, " requires approval: %.*s", STR_ARG(judgement->justification));
	else
		buf_append_c(out, " requires approval by policy");
}

/* ---- the approval ---- */

static struct str environment_of(const struct exec_command *command)
{
	return command->environment || command->host->further_count ? environment_id(command->environment) : STR_NONE;
}

static void ask(struct exec_command *command, const struct judgement *judgement, struct str reason,
                struct tool_call *call, tool_answer_fn answer)
{
	if (!command->host->begins_once_allowed)
		exec_command_emit_begin(command);
	auto_arena struct arena arena = {0};
	size_t parsed_count;
	struct parsed_command *parsed = exec_command_parsed(command, &parsed_count);
	struct ev_exec_approval event = {
		.call_id = command->call_id,
		.turn_id = command->turn_id,
		.command = exec_command_words(command, &arena),
		.command_count = command->argc,
		.cwd = str_of(command->cwd),
		.environment_id = environment_of(command),
		.reason = reason,
		.proposed_execpolicy_amendment = (struct str *)judgement->proposal,
		.proposed_execpolicy_amendment_count = judgement->proposal_count,
		.parsed_cmd = parsed,
		.parsed_cmd_count = parsed_count,
	};
	call->host->ask(call->host, call, EV_exec_approval_request, &event, answer);
}

static bool is_approved(const struct exec_command *command)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	exec_command_key(command, &key);
	return !key.over && command->host->is_approved(command->host, buf_str(&key));
}

void exec_gate_request(struct exec_command *command, struct str permissions, struct str justification,
                       const struct str *prefix, size_t prefix_count)
{
	struct str *words = arena_array(&command->arena, struct str, prefix_count + 1);
	for (size_t i = 0; i < prefix_count; i++)
		words[i] = arena_str(&command->arena, prefix[i]);
	command->is_escalated = str_is(permissions, "require_escalated");
	command->justification = arena_str(&command->arena, justification);
	command->prefix = words;
	command->prefix_count = prefix_count;
}

enum exec_verdict exec_gate_check(struct exec_command *command, struct tool_call *call, tool_answer_fn answer,
                                  struct buf *ret_reason)
{
	const char *policy = approval_title(command->host->approval_policy);
	if (command->is_escalated && !exec_may_escalate(command->host->approval_policy)) {
		buf_printf(ret_reason,
		           "approval policy is %s; reject command — you cannot ask for escalated permissions if the "
		           "approval policy is %s",
		           policy, policy);
		exec_command_report_refusal(command, call, buf_str(ret_reason));
		return EXEC_REFUSED;
	}
	struct judgement judgement;
	judge(command, &judgement);
	command->is_allowed = judgement.is_allowed;
	if (judgement.decision == EXEC_forbidden) {
		write_refusal(command, &judgement, ret_reason);
		exec_command_report_refusal(command, call, buf_str(ret_reason));
		return EXEC_REFUSED;
	}
	command->is_known = judgement.decision != EXEC_allow && is_approved(command);
	if (judgement.decision == EXEC_allow || command->is_known)
		return EXEC_RUN;
	auto_buf struct buf reason;
	buf_init(&reason, LIMIT_LINE);
	write_reason(command, &judgement, &reason);
	ask(command, &judgement, reason.len ? buf_str(&reason) : command->justification, call, answer);
	return EXEC_WAIT;
}

static void remember(struct exec_command *command)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	exec_command_key(command, &key);
	if (!key.over) /* a truncated key would match other commands */
		command->host->remember(command->host, buf_str(&key));
}

bool exec_gate_read(struct exec_command *command, const struct review_decision *decision)
{
	struct tool_host *host = command->host;
	switch (decision->tag) {
	case review_decision_approved:
		break;
	case review_decision_approved_for_session:
		remember(command);
		break;
	case review_decision_approved_execpolicy_amendment:
		host->amend(host, decision->approved_execpolicy_amendment->proposed_execpolicy_amendment,
		            decision->approved_execpolicy_amendment->proposed_execpolicy_amendment_count);
		break;
	case review_decision_abort:
		host->interrupt(host);
		return false;
	default:
		return false;
	}
	command->is_approved = true;
	return true;
}

bool exec_gate_reviews_input(const struct exec_command *command)
{
	const struct tool_host *host = command->host;
	return host->has_reviewer && !command->is_sandboxed && sandbox_is_needed(host->sandbox->mode) &&
	       approval_may_ask(host->approval_policy, QUESTION_sandbox);
}

void exec_gate_ask_input(const struct exec_command *command, struct tool_call *call, struct str text,
                         tool_answer_fn answer)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf reason;
	buf_init(&reason, LIMIT_LINE);
	buf_append_c(&reason, "input to this command, which runs outside the sandbox: ");
	json_quote(&reason, text);
	struct ev_exec_approval event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.command = exec_command_words(command, &arena),
		.command_count = command->argc,
		.cwd = str_of(command->cwd),
		.environment_id = environment_of(command),
		.reason = buf_str(&reason),
	};
	call->host->ask(call->host, call, EV_exec_approval_request, &event, answer);
}

void exec_gate_refusal(bool is_unified, struct buf *out)
{
	buf_append_c(out,
	             is_unified
	                     ? "exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"
	                     : "exec command rejected by user");
}

/* ---- again, outside the sandbox ---- */

/* Whether the sandbox stopped a command is guessed from its output, so this only causes an approval request: the
 * second run, outside the sandbox, needs the user's approval. An approval of the first run counts as one. */
#define RETRY_REASON "command failed; retry without sandbox?"

static void report_stopped(struct exec_command *command, struct str evidence)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_append_c(&text, "The sandbox stopped `");
	shell_show(&text, command->argv);
	buf_append_c(&text, "`");
	if (evidence.len)
		buf_printf(&text, ": %.*s", STR_ARG(evidence));
	struct ev_background_event event = {buf_str(&text)};
	command->host->emit(command->host, command->turn_id, EV_background_event, &event);
}

bool exec_retry_is_due(const struct exec_command *command, const struct process_result *result)
{
	return command->is_sandboxed && (result->exit_code != 0 || result->signal != 0);
}

enum exec_verdict exec_retry_check(struct exec_command *command, struct tool_call *call,
                                   const struct sandbox_outcome *outcome, tool_answer_fn answer)
{
	struct str evidence;
	if (!sandbox_denial_is_likely(outcome, &evidence))
		return EXEC_REFUSED;
	command->is_stopped = true;
	report_stopped(command, evidence);
	if (exec_decide_stopped(command->host->approval_policy) == EXEC_forbidden)
		return EXEC_REFUSED;
	if (command->is_approved || is_approved(command)) {
		command->is_freed = true;
		return EXEC_RUN;
	}
	struct judgement judgement;
	judge_proposal(command, &judgement);
	exec_command_hold_back(command, outcome);
	ask(command, &judgement, STR(RETRY_REASON), call, answer);
	return EXEC_WAIT;
}

bool exec_retry_read(struct exec_command *command, const struct review_decision *decision)
{
	command->is_freed = exec_gate_read(command, decision);
	command->is_held_back = !command->is_freed;
	return command->is_freed;
}

void exec_retry_note(const struct exec_command *command, struct buf *out)
{
	if (!command->is_stopped || command->is_freed)
		return;
	buf_append_c(out, exec_may_escalate(command->host->approval_policy)
	                          ? "Sandbox: it seems to have stopped this command. If the command is needed, call it "
	                            "again with sandbox_permissions \"require_escalated\" and a justification.\n"
	                          : "Sandbox: it seems to have stopped this command, and "
	                            "nobody may be asked to let it " /* words: quoted */
	                            "out. Work inside it, and report what could not be done.\n");
}
