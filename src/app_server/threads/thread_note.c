/* The file contains records of the protocol as JSON. It is small, changes at most once per turn, and is replaced as
 * a whole. It is not part of the rollout because it belongs to the thread and not to the conversation: a fork starts
 * without it, and reading a thread does not change the time of its last update. */
#include "app_server/threads/thread_note.h"

#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"

static const char folder[] = "thread_notes";

static char *path_of(const char *home, struct str thread_id)
{
	return xasprintf("%s/%s/%.*s.json", home, folder, STR_ARG(thread_id));
}

/* ---- the file ---- */

static void decode(const struct json *root, struct arena *arena, struct thread_note *note)
{
	const struct json *read = json_get(root, "readState"), *git = json_get(root, "gitInfo");
	struct app_thread_read_state *state = arena_new(arena, struct app_thread_read_state);
	struct app_git_info *info = arena_new(arena, struct app_git_info);
	if (read && record_decode(&record_app_thread_read_state, read, arena, state, NULL) == 0)
		note->read = state;
	if (git && record_decode(&record_app_git_info, git, arena, info, NULL) == 0)
		note->git = info;
	note->has_daybreak = json_to_bool(json_get(root, "daybreakEnabled"), &note->daybreak);
}

void thread_note_read(const char *home, struct str thread_id, struct arena *arena, struct thread_note *ret)
{
	auto_arena struct arena scratch = {0};
	auto_buf struct buf text;
	struct error err;
	*ret = (struct thread_note){0};
	buf_init(&text, LIMIT_THREAD_NOTE);
	if (!uuid_is_valid(thread_id))
		return;
	auto_free char *path = path_of(home, thread_id);
	if (file_read_regular(path, &text, &err) != 0)
		return;
	const struct json *root = json_parse(&scratch, buf_str(&text), &err);
	if (root)
		decode(root, arena, ret);
}

static void encode(const struct thread_note *note, struct json_writer *w)
{
	jw_object(w);
	if (note->read) {
		jw_key(w, "readState");
		record_encode(&record_app_thread_read_state, note->read, w);
	}
	if (note->git) {
		jw_key(w, "gitInfo");
		record_encode(&record_app_git_info, note->git, w);
	}
	if (note->has_daybreak)
		jw_member_bool(w, "daybreakEnabled", note->daybreak);
	jw_object_end(w);
}

int thread_note_write(const char *home, struct str thread_id, const struct thread_note *note, struct error *err)
{
	auto_free char *path = path_of(home, thread_id);
	auto_free char *dir = path_join(home, folder);
	auto_buf struct buf text;
	struct json_writer w = json_writer(&text);
	buf_init(&text, LIMIT_THREAD_NOTE);
	encode(note, &w);
	buf_append_char(&text, '\n');
	if (text.over)
		return error_set(err, ERR_limit, "the metadata of this thread exceeds %d KB", LIMIT_THREAD_NOTE / KIB);
	if (dir_make(dir, 0700, err) != 0)
		return -(int)err->code;
	return file_write_atomic(path, buf_str(&text), 0600, false, err);
}

void thread_note_remove(const char *home, struct str thread_id)
{
	auto_free char *path = path_of(home, thread_id);
	unlink(path); /* most threads have no note */
}

/* ---- contents ---- */

void thread_note_copy(const struct thread_note *from, struct arena *arena, struct thread_note *to)
{
	*to = *from;
	if (from->read) {
		to->read = arena_new(arena, struct app_thread_read_state);
		record_copy(&record_app_thread_read_state, from->read, arena, to->read);
	}
	if (from->git) {
		to->git = arena_new(arena, struct app_git_info);
		record_copy(&record_app_git_info, from->git, arena, to->git);
	}
}

struct app_thread_read_state thread_note_state(const struct thread_note *note, struct str thread_id,
                                               struct arena *arena)
{
	if (note->read)
		return *note->read;
	return (struct app_thread_read_state){
		.revision = str_of(arena_printf(arena, "initial:%.*s", STR_ARG(thread_id))),
	};
}

void thread_note_mark_read(struct thread_note *note, struct arena *arena)
{
	char revision[UUID_TEXT_SIZE];
	uuid_v7(revision);
	note->read = arena_new(arena, struct app_thread_read_state);
	note->read->revision = arena_str(arena, str_of(revision));
}

void thread_note_mark_unread(struct thread_note *note, struct str turn_id, struct arena *arena)
{
	struct app_thread_unread_position *position = arena_new(arena, struct app_thread_unread_position);
	position->tag = app_thread_unread_position_thread_start;
	if (turn_id.ptr) {
		position->tag = app_thread_unread_position_turn;
		position->turn = arena_new(arena, struct app_unread_turn);
		position->turn->turn_id = arena_str(arena, turn_id);
	}
	thread_note_mark_read(note, arena);
	note->read->first_unread = position;
}

void thread_note_apply(const struct thread_note *note, struct app_thread *view)
{
	const struct app_git_info *git = note->git;
	if (git)
		view->git_info = git->sha.ptr || git->branch.ptr || git->origin_url.ptr ? note->git : NULL;
	if (note->has_daybreak) {
		view->has_daybreak_enabled = true;
		view->daybreak_enabled = note->daybreak;
	}
}
