/* A shell in between starts the program in the background and ends at once. So the program is nobody's child: it is not
 * below the supervisor of commands and not tied to our thread's life, and whoever embeds the engine need not reap it.
 */
#include "process/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/child.h"
#include "process/spawn.h"

extern char **environ;

struct start {
	struct list link;
	struct child *child; /* the shell */
	pid_t pid;
};

void detached_init(struct detached *detached)
{
	list_init(&detached->starts);
}

static void start_destroy(struct start *start)
{
	list_remove(&start->link);
	child_destroy(start->child);
	free(start);
}

static void on_shell_exit(int wait_status, void *self)
{
	(void)wait_status;
	start_destroy(self);
}

static int run_shell(const char *const *argv, const char *cwd, pid_t *ret_pid, struct error *err)
{
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return error_sys(err, errno, "cannot open /dev/null");
	VEC(const char *) words = {0};
	vec_push(&words, "sh");
	vec_push(&words, "-c");
	vec_push(&words, "\"$@\" &");
	vec_push(&words, "sh");
	for (size_t i = 0; argv[i]; i++)
		vec_push(&words, argv[i]);
	vec_push(&words, NULL);
	struct spawn_plan plan = {
		.paths = (const char *const[]){"/bin/sh", NULL},
		.argv = words.items,
		.env = (const char *const *)environ,
		.cwd = cwd,
		.fds = {null, null, null},
	};
	int status = spawn_start(&plan, ret_pid, err);
	vec_finish(&words);
	return status;
}

int detached_start(struct detached *detached, struct loop *loop, const char *const *argv, const char *cwd,
                   struct error *err)
{
	struct start *start = xnew(struct start);
	int status = run_shell(argv, cwd, &start->pid, err);
	if (status != 0) {
		free(start);
		return status;
	}
	list_append(&detached->starts, &start->link);
	start->child = child_create(loop, start->pid, on_shell_exit, start, NULL);
	if (start->child)
		child_unref(start->child);
	return 0;
}

void detached_finish(struct detached *detached)
{
	struct start *it;
	while ((it = list_first(&detached->starts, struct start, link))) {
		while (waitpid(it->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		start_destroy(it);
	}
}
