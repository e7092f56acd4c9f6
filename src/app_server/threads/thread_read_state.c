/* A note is written on the loop, so that changes cannot overtake each other; it is a small file and not synced.
 *
 * The end of a turn is recorded only while a client with the experimental API is connected, because it costs a
 * write. A turn after one that is unread changes the revision alone: that is kept in memory until the thread is
 * unloaded. If the process is killed before, clients find an older revision, and an update of theirs is refused with
 * it. */
#define LOG_MODULE "app_server"
#include "app_server/threads/thread_read_state.h"

#include "app_server/history/thread_history.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"

int thread_note_keep(struct app_server *server, struct str thread_id, const struct thread_note *note, struct error *err)
{
	struct thread *thread = threads_find(server, thread_id);
	if (thread_note_write(config_home(server->config), thread_id, note, err) != 0)
		return -(int)err->code;
	if (thread) {
		thread_set_note(thread, note);
		thread->has_unsaved_note = false;
	}
	return 0;
}

void thread_read_state_save(struct thread *thread)
{
	struct error err;
	if (thread->has_unsaved_note &&
	    thread_note_write(config_home(thread->server->config), str_of(thread->id), &thread->note, &err) != 0)
		log_debug("read state not written: %s", err.text);
	thread->has_unsaved_note = false;
}

void thread_read_state_notify(struct thread *thread)
{
	if (!thread->note.read)
		return;
	struct app_thread_read_state_changed_notification event = {str_of(thread->id), thread->note.read};
	thread_notify(thread, NOTIFY_thread_read_state_changed, &event);
}

static bool has_readers(const struct app_server *server)
{
	const struct connection *it;
	list_for_each(it, &server->connections, link) {
		if (it->has_experimental_api)
			return true;
	}
	return false;
}

static void change(struct thread *thread, const struct thread_note *note)
{
	struct error err;
	if (thread_note_keep(thread->server, str_of(thread->id), note, &err) != 0)
		log_debug("read state not written: %s", err.text);
	else
		thread_read_state_notify(thread);
}

void thread_read_state_on_turn_end(struct thread *thread, struct str turn_id)
{
	auto_arena struct arena arena = {0};
	struct thread_note note = thread->note;
	const struct app_thread_unread_position *unread = note.read ? note.read->first_unread : NULL;
	if (thread->is_ephemeral || !has_readers(thread->server))
		return;
	if (unread && unread->tag == app_thread_unread_position_turn)
		turn_id = unread->turn->turn_id;
	else if (unread)
		turn_id = STR_NONE;
	thread_note_mark_unread(&note, turn_id, &arena);
	if (!unread) {
		change(thread, &note);
		return;
	}
	thread_set_note(thread, &note);
	thread->has_unsaved_note = true;
	thread_read_state_notify(thread);
}

void thread_read_state_on_revert(struct thread *thread, const struct thread_history *history,
                                 const struct app_turn *from)
{
	auto_arena struct arena arena = {0};
	struct thread_note note = thread->note;
	const struct app_thread_unread_position *unread = note.read ? note.read->first_unread : NULL;
	if (!unread || unread->tag != app_thread_unread_position_turn)
		return;
	const struct app_turn *turn = thread_history_find(history, unread->turn->turn_id);
	if (!turn || turn < from)
		return;
	thread_note_mark_read(&note, &arena);
	change(thread, &note);
}
