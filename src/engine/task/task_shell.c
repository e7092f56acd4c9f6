/* User shell commands (Op run_user_shell_command). If no Task runs, the command starts one: input that arrives
 * meanwhile joins it and is answered when the command has ended. If a Task runs, the command runs in parallel: its
 * events carry the Task's id, it may outlive the Task, and it ends if the Task is aborted.
 *
 * The report of a command is a user message in the history. An item must not come between a call of the model and its
 * output, nor into a history that is being summarised, so during a Task the report waits for the next Turn. */
#include "engine/task/task.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/preamble.h"
#include "engine/session/session.h"
#include "engine/session/conversation.h"
#include "engine/history/history_item.h"
#include "tool/exec/user_shell.h"

struct session_shell {
	struct list link; /* a node of session->shells */
	struct session *session;
	struct task *task; /* the Task that waits for this command, or NULL */
	struct user_shell *shell;
};

static void keep(struct session *session, struct str report)
{
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	text_message_write(&item, "user", report);
	bool must_wait = session->task && !task_is_waiting(session->task);
	if (item.over || (must_wait && item.len + 1 > session->unheard.max - session->unheard.len)) {
		session_warn(session, STR(""),
		             "The output of this command was discarded: it is too large for the model.");
	} else if (must_wait) {
		buf_append_str(&session->unheard, buf_str(&item));
		buf_append_char(&session->unheard, '\n');
	} else {
		conversation_add(&session->conversation, buf_str(&item));
	}
}

void session_record_unheard(struct session *session)
{
	struct str rest = buf_str(&session->unheard), line;
	while (str_next_line(&rest, &line))
		conversation_add(&session->conversation, line);
	buf_clear(&session->unheard);
}

static void on_end(struct str report, void *self)
{
	struct session_shell *it = self;
	struct session *session = it->session;
	struct task *task = it->task;
	list_remove(&it->link);
	free(it);
	keep(session, report);
	if (task)
		task_end_waiting(task);
}

static void start(struct session *session, struct task *task, const struct shell_request *request)
{
	struct session_shell *it = xnew(struct session_shell);
	it->session = session;
	it->task = task;
	list_init(&it->link);
	list_append(&session->shells, &it->link);
	it->shell =
		user_shell_start(&session->host, session->task->id, request->command, request->timeout_ms, on_end, it);
}

void task_start_shell(const struct task_owner *owner, struct str id, const struct shell_request *request)
{
	start(owner->session, task_start_waiting(owner, id), request);
}

void task_add_shell(struct task *task, const struct shell_request *request)
{
	start(task->session, NULL, request);
}

void session_abort_shells(struct session *session)
{
	struct session_shell *it;
	while ((it = list_first(&session->shells, struct session_shell, link))) {
		it->task = NULL; /* the command's owner ends the task */
		user_shell_abort(it->shell);
	}
}

void session_destroy_shells(struct session *session)
{
	struct session_shell *it;
	while ((it = list_first(&session->shells, struct session_shell, link))) {
		list_remove(&it->link);
		user_shell_destroy(it->shell);
		free(it);
	}
}
