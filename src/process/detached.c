/* A shell starts the program in the background and exits at once, so that init adopts the program: it is not below
 * the supervisor of commands, does not end with the engine's thread, and an application that embeds the engine need
 * not reap it.
 *
 * The background process changes its folder, because the folder's file system may not answer. Until its exec the
 * shell uses the memory of struct start (spawn.h), which is therefore freed after the shell has been reaped. */
#include "process/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "loop/child.h"
#include "process/spawn.h"

extern char **environ;

struct start {
	struct list link;
	struct child *shell;
	pid_t pid;
	int report; /* as returned by spawn_begin */
	void *stack;
	struct spawn_plan plan;
	struct arena arena; /* holds the strings and arrays of the plan */
};

void detached_init(struct detached *detached)
{
	list_init(&detached->starts);
}

/* Called after the shell has been reaped, or if it was never started. */
static void start_destroy(struct start *start)
{
	list_remove(&start->link);
	child_destroy(start->shell);
	mem_close_slot(&start->report);
	if (start->stack != MAP_FAILED)
		munmap(start->stack, SPAWN_STACK);
	arena_finish(&start->arena);
	free(start);
}

static void on_shell_exit(int wait_status, void *self)
{
	(void)wait_status;
	start_destroy(self);
}

static void fill_plan(struct start *start, const char *const *argv, const char *cwd)
{
	static const char *const shell[] = {"/bin/sh", NULL};
	static const char script[] = "{ cd -- \"$0\" && exec \"$@\"; } &";
	size_t count = 0;
	while (argv[count])
		count++;
	const char **words = arena_array(&start->arena, const char *, count + 5);
	words[0] = "sh";
	words[1] = "-c";
	words[2] = script;
	words[3] = arena_cstr(&start->arena, str_of(cwd ? cwd : "."));
	for (size_t i = 0; i < count; i++)
		words[4 + i] = arena_cstr(&start->arena, str_of(argv[i]));
	start->plan = (struct spawn_plan){.paths = shell, .argv = words, .env = (const char *const *)environ};
}

static int run_shell(struct start *start, struct error *err)
{
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return error_sys(err, errno, "cannot open /dev/null");
	for (int i = 0; i < 3; i++)
		start->plan.fds[i] = null;
	start->stack = mmap(NULL, SPAWN_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start->stack != MAP_FAILED)
		start->pid = spawn_begin(&start->plan, start->stack, &start->report);
	return start->pid > 0 ? 0 : error_sys(err, errno, "cannot start %s", start->plan.argv[4]);
}

int detached_start(struct detached *detached, struct loop *loop, const char *const *argv, const char *cwd,
                   struct error *err)
{
	struct start *start = xnew(struct start);
	*start = (struct start){.report = -1, .stack = MAP_FAILED, .pid = -1};
	list_init(&start->link);
	fill_plan(start, argv, cwd);
	int status = run_shell(start, err);
	if (status != 0) {
		start_destroy(start);
		return status;
	}
	list_append(&detached->starts, &start->link);
	start->shell = child_create(loop, start->pid, on_shell_exit, start, NULL);
	if (start->shell)
		child_unref(start->shell);
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
