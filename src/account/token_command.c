/* An entry per command holds its last token, its run, and the requests that wait. Its deferred call serves the requests
 * that the token satisfies and starts the program for the others. */
#include "account/token_command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "account/account_limits.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/auth.h"
#include "config/config_env.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "process/process.h"

struct token_commands {
	struct loop *loop;
	struct list entries; /* the one used last is at the end */
	size_t count;
};

struct entry {
	struct list link;
	struct token_commands *commands;
	struct auth_command command; /* owned */
	struct list requests;
	char *token; /* NULL: none yet */
	uint64_t got_ms;
	struct error failure;    /* of the last run; code is ERR_none if it succeeded */
	bool is_serving;         /* a callback runs */
	struct process *process; /* non-NULL iff the program runs */
	struct loop_timer *timer;
	struct loop_deferred proceed;
	struct buf out, complaint;
};

struct token_request {
	struct list link;
	account_fn on_done;
	void *self;
	char *refused;
	bool has_run; /* the program has ended since the request was made */
};

/* ---- entries ---- */

static void wipe(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_clear(buf);
}

static void wipe_text(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void request_destroy(struct token_request *request)
{
	list_remove(&request->link);
	wipe_text(request->refused);
	free(request);
}

static void free_command(struct auth_command *command)
{
	for (size_t i = 0; command->argv[i]; i++)
		free((char *)command->argv[i]);
	free((char **)command->argv);
	free((char *)command->cwd);
}

static void entry_destroy(struct entry *entry)
{
	struct token_request *request;
	list_for_each(request, &entry->requests, link)
		request_destroy(request);
	list_remove(&entry->link);
	entry->commands->count--;
	process_destroy(entry->process);
	loop_timer_destroy(entry->timer);
	loop_deferred_finish(&entry->proceed);
	wipe_text(entry->token);
	wipe(&entry->out);
	buf_finish(&entry->out);
	buf_finish(&entry->complaint);
	free_command(&entry->command);
	free(entry);
}

static bool is_same(const struct auth_command *a, const struct auth_command *b)
{
	size_t i = 0;
	if (strcmp(a->cwd ?: "", b->cwd ?: "") != 0 || a->timeout_ms != b->timeout_ms || a->refresh_ms != b->refresh_ms)
		return false;
	while (a->argv[i] && b->argv[i] && strcmp(a->argv[i], b->argv[i]) == 0)
		i++;
	return !a->argv[i] && !b->argv[i];
}

static struct auth_command copy_command(const struct auth_command *command)
{
	struct auth_command copy = *command;
	size_t count = 0;
	while (command->argv[count])
		count++;
	const char **argv = xcalloc(count + 1, sizeof(*argv));
	for (size_t i = 0; i < count; i++)
		argv[i] = xstrdup(command->argv[i]);
	copy.argv = argv;
	copy.cwd = command->cwd ? xstrdup(command->cwd) : NULL;
	return copy;
}

/* ---- serving requests ---- */

static bool is_fresh(const struct entry *entry)
{
	uint64_t limit = entry->command.refresh_ms;
	return entry->token && (!limit || clock_now_ms() - entry->got_ms < limit);
}

static bool is_served(const struct entry *entry, const struct token_request *request)
{
	bool is_refused = request->refused && entry->token && strcmp(request->refused, entry->token) == 0;
	return request->has_run || (is_fresh(entry) && !is_refused);
}

static struct token_request *find_served(struct entry *entry)
{
	struct token_request *request;
	list_for_each(request, &entry->requests, link)
		if (is_served(entry, request))
			return request;
	return NULL;
}

/* After a failed run a token that no server has refused is used on. */
static void deliver(struct entry *entry, struct token_request *request)
{
	bool has_failed = request->has_run && entry->failure.code;
	bool is_usable = entry->token && !request->refused;
	auto_free char *token = entry->token ? xstrdup(entry->token) : NULL;
	struct account_token result = {.access_token = str_of(token), .is_new = request->has_run && !has_failed};
	struct error failure = entry->failure;
	list_remove(&request->link);
	request->on_done(has_failed && !is_usable ? NULL : &result, has_failed && !is_usable ? &failure : NULL,
	                 request->self);
	request_destroy(request);
	if (token)
		explicit_bzero(token, strlen(token));
}

static void run_end(struct entry *entry)
{
	struct token_request *request;
	loop_timer_stop(entry->timer);
	process_destroy(steal(entry->process));
	wipe(&entry->out);
	buf_clear(&entry->complaint);
	list_for_each(request, &entry->requests, link)
		request->has_run = true;
	loop_defer(&entry->proceed);
}

static void run_start(struct entry *entry);

static void on_proceed(void *self)
{
	struct entry *entry = self;
	struct token_request *request;
	entry->is_serving = true;
	while ((request = find_served(entry)))
		deliver(entry, request);
	entry->is_serving = false;
	if (!list_empty(&entry->requests) && !entry->process)
		run_start(entry);
}

/* ---- a run ---- */

/* Fails the run with "provider auth command `NAME` …". */
static __attribute__((format(printf, 2, 3))) void run_fail(struct entry *entry, const char *format, ...)
{
	char why[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	error_set(&entry->failure, ERR_denied, "provider auth command `%s` %s", entry->command.argv[0], why);
	run_end(entry);
}

static void on_late(void *self)
{
	struct entry *entry = self;
	run_fail(entry, "timed out after %llu ms", (unsigned long long)entry->command.timeout_ms);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct entry *entry = self;
	if (stream == exec_stream_stderr) {
		size_t room = entry->complaint.max - entry->complaint.len;
		buf_append_str(&entry->complaint, str_n(bytes.ptr, bytes.len < room ? bytes.len : room));
		return;
	}
	buf_append_str(&entry->out, bytes);
	if (entry->out.over)
		run_fail(entry, "printed more than %d bytes", LIMIT_TOKEN_OUTPUT);
}

static void fail_status(struct entry *entry, const struct process_result *result)
{
	auto_buf struct buf line;
	struct str text = str_trim(buf_str(&entry->complaint));
	buf_init(&line, LIMIT_TOKEN_COMPLAINT * 8);
	text_append_line(&line, text);
	const char *colon = text.len ? ": " : "";
	if (result->signal)
		run_fail(entry, "was ended by signal %d%s%.*s", result->signal, colon, STR_ARG(buf_str(&line)));
	else
		run_fail(entry, "exited with status %d%s%.*s", result->exit_code, colon, STR_ARG(buf_str(&line)));
}

static void take_token(struct entry *entry)
{
	struct str token;
	if (!str_trim(buf_str(&entry->out)).len) {
		run_fail(entry, "produced an empty token");
		return;
	}
	if (!auth_check_key(buf_str(&entry->out), &token)) {
		run_fail(entry, "printed something that is not a token: it contains blanks or control characters");
		return;
	}
	wipe_text(entry->token);
	entry->token = str_dup(token);
	entry->got_ms = clock_now_ms();
	run_end(entry);
}

static void on_end(const struct process_result *result, void *self)
{
	struct entry *entry = self;
	if (result->error)
		run_fail(entry, "failed to start: %s", result->error->text);
	else if (result->signal || result->exit_code)
		fail_status(entry, result);
	else
		take_token(entry);
}

static void run_start(struct entry *entry)
{
	static const struct process_handler handler = {.on_output = on_output, .on_end = on_end};
	const struct process_spec spec = {
		.argv = entry->command.argv,
		.env = config_env_all(),
		.cwd = entry->command.cwd,
		.drain_ms = LIMIT_TOKEN_DRAIN_MS,
	};
	struct error err;
	entry->failure = (struct error){0};
	entry->process = process_start(entry->commands->loop, &spec, &handler, entry, &err);
	if (entry->process)
		loop_timer_start(entry->timer, entry->command.timeout_ms);
	else
		run_fail(entry, "failed to start: %s", err.text);
}

/* ---- requests ---- */

static struct entry *entry_find(struct token_commands *commands, const struct auth_command *command)
{
	struct entry *entry;
	list_for_each(entry, &commands->entries, link)
		if (is_same(&entry->command, command))
			return entry;
	return NULL;
}

/* Destroys the entry that has been idle longest if there are too many. */
static void evict(struct token_commands *commands)
{
	struct entry *entry;
	if (commands->count < LIMIT_TOKEN_COMMANDS)
		return;
	list_for_each(entry, &commands->entries, link) {
		if (entry->process || entry->is_serving || !list_empty(&entry->requests))
			continue;
		entry_destroy(entry);
		return;
	}
}

static struct entry *entry_create(struct token_commands *commands, const struct auth_command *command)
{
	struct entry *entry = xnew(struct entry);
	evict(commands);
	entry->commands = commands;
	entry->command = copy_command(command);
	list_init(&entry->link);
	list_init(&entry->requests);
	buf_init(&entry->out, LIMIT_TOKEN_OUTPUT);
	buf_init(&entry->complaint, LIMIT_TOKEN_COMPLAINT);
	entry->timer = loop_timer_create(commands->loop, on_late, entry);
	loop_deferred_init(&entry->proceed, commands->loop, on_proceed, entry);
	commands->count++;
	return entry;
}

struct token_request *token_command_get(struct token_commands *commands, const struct auth_command *command,
                                        struct str refused, account_fn on_done, void *self)
{
	struct token_request *request = xnew(struct token_request);
	struct entry *entry = entry_find(commands, command);
	if (!entry)
		entry = entry_create(commands, command);
	list_remove(&entry->link); /* the entry that was used last is at the end */
	list_append(&commands->entries, &entry->link);
	request->on_done = on_done;
	request->self = self;
	request->refused = refused.ptr ? str_dup(refused) : NULL;
	list_append(&entry->requests, &request->link);
	loop_defer(&entry->proceed);
	return request;
}

void token_request_cancel(struct token_request *request)
{
	if (request)
		request_destroy(request);
}

/* ---- all commands ---- */

struct token_commands *token_commands_create(struct loop *loop)
{
	struct token_commands *commands = xnew(struct token_commands);
	commands->loop = loop;
	list_init(&commands->entries);
	return commands;
}

void token_commands_destroy(struct token_commands *commands)
{
	struct entry *entry;
	if (!commands)
		return;
	list_for_each(entry, &commands->entries, link)
		entry_destroy(entry);
	free(commands);
}
