/* The file is read for each request and replaced as a whole, so that the processes that share it need no other
 * agreement than the lock. It exists only while a message waits. */
#include "app_server/threads/thread_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"

static const char folder[] = "thread_queues";

static char *path_of(const char *home, struct str thread_id)
{
	return xasprintf("%s/%s/%.*s.json", home, folder, STR_ARG(thread_id));
}

int thread_queue_read(const char *home, struct str thread_id, struct arena *arena, struct thread_queue *ret,
                      struct error *err)
{
	auto_buf struct buf text;
	struct app_thread_queue_list_response list = {0};
	*ret = (struct thread_queue){0};
	buf_init(&text, LIMIT_THREAD_QUEUE_FILE);
	if (!uuid_is_valid(thread_id))
		return error_set(err, ERR_invalid, "invalid thread id: %.*s", STR_ARG(thread_id));
	auto_free char *path = path_of(home, thread_id);
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	if (file_read_regular(path, &text, err) != 0)
		return -(int)err->code;
	const struct json *root = json_parse(arena, arena_str(arena, buf_str(&text)), err);
	if (!root || record_decode(&record_app_thread_queue_list_response, root, arena, &list, err) != 0)
		return error_wrap(err, "%s", path);
	*ret = (struct thread_queue){list.data, list.data_count};
	return 0;
}

bool thread_queue_is_empty(const char *home, struct str thread_id)
{
	auto_free char *path = path_of(home, thread_id);
	return access(path, F_OK) != 0;
}

static int write_queue(const char *path, const struct thread_queue *queue, struct error *err)
{
	auto_buf struct buf text;
	struct json_writer w = json_writer(&text);
	struct app_thread_queue_list_response list = {queue->items, queue->count, STR_NONE};
	buf_init(&text, LIMIT_THREAD_QUEUE_FILE);
	if (!queue->count)
		return unlink(path) == 0 || errno == ENOENT ? 0 : error_sys(err, errno, "%s", path);
	record_encode(&record_app_thread_queue_list_response, &list, &w);
	buf_append_char(&text, '\n');
	if (text.over)
		return error_set(err, ERR_limit, "the queue of a thread may have at most %d MiB",
		                 LIMIT_THREAD_QUEUE_FILE / MIB);
	struct str bytes = buf_str(&text);
	return file_write_atomic(path, bytes, 0600, false, err);
}

/* Opens the lock, which ends with the descriptor. It is not waited for: a stopped process may hold it. */
static int lock(const char *home, struct error *err)
{
	auto_free char *dir = path_join(home, folder);
	auto_free char *path = path_join(dir, "lock");
	if (dir_make(dir, 0700, err) != 0)
		return -(int)err->code;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	bool is_taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (is_taken) {
		close(fd);
		return error_set(err, ERR_busy, "another process is changing a queue; try again");
	}
	return fd;
}

int thread_queue_change(const char *home, struct str thread_id, struct arena *arena, thread_queue_change_fn change,
                        void *self, struct error *err)
{
	struct thread_queue queue;
	auto_close int fd = lock(home, err);
	if (fd < 0 || thread_queue_read(home, thread_id, arena, &queue, err) != 0)
		return -(int)err->code;
	auto_free char *path = path_of(home, thread_id);
	int status = change(&queue, arena, self, err);
	if (status > 0 && write_queue(path, &queue, err) != 0)
		return -(int)err->code;
	return status;
}

int thread_queue_pass(const char *home, struct str thread_id, struct arena *arena, thread_queue_change_fn take,
                      thread_queue_pass_fn pass, void *self, struct error *err)
{
	struct thread_queue queue;
	struct error ignored;
	auto_close int fd = lock(home, err);
	if (fd < 0 || thread_queue_read(home, thread_id, arena, &queue, err) != 0)
		return -(int)err->code;
	auto_free char *path = path_of(home, thread_id);
	struct thread_queue before = {arena_array(arena, struct app_queued_submission, queue.count + 1), queue.count};
	for (size_t i = 0; i < queue.count; i++)
		before.items[i] = queue.items[i];
	int status = take(&queue, arena, self, err);
	if (status <= 0)
		return status;
	if (write_queue(path, &queue, err) != 0)
		return -(int)err->code;
	status = pass(arena, self, err);
	/* a message that cannot be written back is named by the error of `pass` */
	if (status < 0)
		best_effort(write_queue(path, &before, &ignored));
	return status;
}

struct addition {
	const struct app_queued_submission *message;
	struct app_queued_submission *added;
};

static int add(struct thread_queue *queue, struct arena *arena, void *self, struct error *err)
{
	const struct addition *addition = self;
	char id[UUID_TEXT_SIZE];
	if (queue->count >= LIMIT_THREAD_QUEUE)
		return error_set(err, ERR_limit, "the queue of a thread may have at most %d messages",
		                 LIMIT_THREAD_QUEUE);
	struct app_queued_submission *items = arena_array(arena, struct app_queued_submission, queue->count + 1);
	for (size_t i = 0; i < queue->count; i++)
		items[i] = queue->items[i];
	uuid_v7(id);
	items[queue->count] = *addition->message;
	items[queue->count].id = arena_str(arena, str_of(id));
	*addition->added = items[queue->count];
	*queue = (struct thread_queue){items, queue->count + 1};
	return 1;
}

int thread_queue_add(const char *home, struct str thread_id, const struct app_queued_submission *message,
                     struct arena *arena, struct app_queued_submission *ret, struct error *err)
{
	struct addition addition = {message, ret};
	return thread_queue_change(home, thread_id, arena, add, &addition, err);
}

void thread_queue_remove(const char *home, struct str thread_id)
{
	auto_free char *path = path_of(home, thread_id);
	unlink(path); /* most threads have no queue */
}

struct app_queued_submission *thread_queue_find(const struct thread_queue *queue, struct str id)
{
	for (size_t i = 0; i < queue->count; i++) {
		if (str_eq(queue->items[i].id, id))
			return &queue->items[i];
	}
	return NULL;
}

void thread_queue_take(struct thread_queue *queue, const struct app_queued_submission *item)
{
	size_t at = (size_t)(item - queue->items);
	for (size_t i = at; i + 1 < queue->count; i++)
		queue->items[i] = queue->items[i + 1];
	queue->count--;
}
