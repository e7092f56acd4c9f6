/* Programs that are started and left alone. */
#include "test.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/detached.h"

enum { GUARD_MS = 60000 };

struct world {
	struct loop *loop;
	struct detached detached;
	char folder[32];
};

static void on_guard(void *self)
{
	(void)self;
	fprintf(stderr, "the test waited too long\n");
	abort();
}

static int setup(void **state)
{
	struct world *world = xnew(struct world);
	world->loop = loop_create(NULL);
	detached_init(&world->detached);
	snprintf(world->folder, sizeof(world->folder), "/tmp/test-detached-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	detached_finish(&world->detached);
	loop_destroy(world->loop);
	rmdir(world->folder);
	free(world);
	return 0;
}

/* A FIFO reports that the detached program has run. */
static void a_program_runs_in_its_folder_with_its_words(void **state)
{
	struct world *world = *state;
	const char *const argv[] = {"sh", "-c", "echo \"$PWD $1\" >fifo", "sh", "a  b", NULL};
	char path[64], want[64], got[64] = "";
	snprintf(path, sizeof(path), "%s/fifo", world->folder);
	snprintf(want, sizeof(want), "%s a  b\n", world->folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(detached_start(&world->detached, world->loop, argv, world->folder, NULL), 0);
	FILE *fifo = fopen(path, "r");
	assert_non_null(fgets(got, sizeof(got), fifo));
	assert_string_equal(got, want);
	fclose(fifo);
	unlink(path);
}

/* The start does not access the folder, because its file system might hang. */
static void a_missing_folder_or_program_is_not_reported(void **state)
{
	struct world *world = *state;
	const char *const fine[] = {"true", NULL}, *const missing[] = {"no-such-program", NULL};
	assert_int_equal(detached_start(&world->detached, world->loop, fine, "/no/such", NULL), 0);
	assert_int_equal(detached_start(&world->detached, world->loop, missing, world->folder, NULL), 0);
}

/* The shells are reaped by the loop, or else at the end. */
static void no_shell_stays(void **state)
{
	struct world *world = *state;
	const char *const argv[] = {"true", NULL};
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(detached_start(&world->detached, world->loop, argv, NULL, NULL), 0);
	struct loop_timer *guard = loop_timer_create(world->loop, on_guard, NULL);
	loop_timer_start(guard, GUARD_MS); /* also keeps the loop alive */
	while (!list_empty(&world->detached.starts))
		uv_run(loop_uv(world->loop), UV_RUN_ONCE);
	loop_timer_destroy(guard);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program_runs_in_its_folder_with_its_words),
		TEST(a_missing_folder_or_program_is_not_reported),
		TEST(no_shell_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
