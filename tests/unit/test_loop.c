/* Deferred calls run soon, once, and never inside the call that defers them. */
#include "test.h"

#include <semaphore.h>

#include "base/error.h"
#include "base/mem.h"
#include "loop/lane.h"

struct deferring {
	struct loop_deferred call;
	struct loop_timer *timer;
	int count;
	bool goes_on;
};

static void on_call(void *self)
{
	struct deferring *d = self;
	if (d->count++ == 0 && d->timer)
		loop_timer_start(d->timer, 0);
	if (d->goes_on)
		loop_defer(&d->call);
	assert_true(d->count < 1000); /* stopped by the timer below */
}

static void on_timer(void *self)
{
	((struct deferring *)self)->goes_on = false;
}

static void a_call_that_defers_itself_holds_up_nothing(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct deferring d = {.goes_on = true};
	loop_deferred_init(&d.call, loop, on_call, &d);
	d.timer = loop_timer_create(loop, on_timer, &d);
	loop_defer(&d.call);
	loop_run(loop);
	assert_false(d.goes_on);
	assert_false(loop_deferred_is_waiting(&d.call));
	loop_timer_destroy(d.timer);
	loop_destroy(loop);
}

/* The story of a run: 'r' for a read, 'a' for the call that it defers, 'b' for the one that this one defers. */
struct reading {
	struct loop_deferred first, second;
	uv_poll_t poll;
	int fd;
	char story[8];
	size_t count;
};

static void on_second(void *self)
{
	struct reading *reading = self;
	reading->story[reading->count++] = 'b';
}

static void on_first(void *self)
{
	struct reading *reading = self;
	reading->story[reading->count++] = 'a';
	loop_defer(&reading->second);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	char byte;
	struct reading *reading = container_of(poll, struct reading, poll);
	(void)events;
	assert_int_equal(status, 0);
	if (read(reading->fd, &byte, 1) != 1) {
		uv_close((uv_handle_t *)poll, NULL);
		return;
	}
	reading->story[reading->count++] = 'r';
	loop_defer(&reading->first);
}

static void what_a_read_has_deferred_runs_before_the_loop_polls_again(void **state)
{
	(void)state;
	int pipe_fds[2];
	struct loop *loop = loop_create(NULL);
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(write(pipe_fds[1], "12", 2), 2);
	close(pipe_fds[1]);
	struct reading reading = {.fd = pipe_fds[0]};
	loop_deferred_init(&reading.first, loop, on_first, &reading);
	loop_deferred_init(&reading.second, loop, on_second, &reading);
	uv_poll_init(loop_uv(loop), &reading.poll, reading.fd);
	uv_poll_start(&reading.poll, UV_READABLE, on_readable);
	loop_run(loop);
	assert_string_equal(reading.story, "rabrab");
	loop_destroy(loop);
	close(pipe_fds[0]);
}

static void a_call_is_made_once_and_not_at_all_when_it_was_cancelled(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct deferring once = {0}, never = {0};
	loop_deferred_init(&once.call, loop, on_call, &once);
	loop_deferred_init(&never.call, loop, on_call, &never);
	loop_defer(&once.call);
	loop_defer(&never.call);
	loop_defer(&once.call);
	assert_int_equal(once.count, 0); /* no call runs inside loop_defer */
	loop_deferred_finish(&never.call);
	loop_run(loop);
	assert_int_equal(once.count, 1);
	assert_int_equal(never.count, 0);
	loop_destroy(loop);
}

/* ---- the lane ---- */

struct errand {
	int number;
	int *order, *count;
	sem_t *begun, *may_end;
};

static void on_errand(void *self)
{
	struct errand *errand = self;
	if (errand->begun)
		sem_post(errand->begun);
	if (errand->may_end)
		sem_wait(errand->may_end);
	if (errand->order)
		errand->order[(*errand->count)++] = errand->number;
}

static void on_errand_done(void *self)
{
	struct errand *errand = self;
	errand->number = -errand->number;
}

static void jobs_of_the_lane_run_in_their_order(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct errand errands[50];
	int order[countof(errands)], count = 0;
	for (size_t i = 0; i < countof(errands); i++) {
		errands[i] = (struct errand){.number = (int)i + 1, .order = order, .count = &count};
		lane_run(loop, on_errand, on_errand_done, &errands[i]);
	}
	loop_run(loop);
	for (size_t i = 0; i < countof(errands); i++) {
		assert_int_equal(order[i], i + 1);
		assert_int_equal(errands[i].number, -1 - (int)i);
	}
	loop_destroy(loop);
}

static void on_pool_work(void *self)
{
	sem_post(self);
}

static void ignore(void *self)
{
	(void)self;
}

static void a_job_that_hangs_takes_no_thread_of_the_pool(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	sem_t may_end, works;
	sem_init(&may_end, 0, 0);
	sem_init(&works, 0, 0);
	struct errand errands[8];
	for (size_t i = 0; i < countof(errands); i++) {
		errands[i] = (struct errand){.may_end = &may_end};
		lane_run(loop, on_errand, on_errand_done, &errands[i]);
	}
	worker_run(loop, on_pool_work, ignore, &works);
	sem_wait(&works);
	for (size_t i = 0; i < countof(errands); i++)
		sem_post(&may_end);
	loop_destroy(loop);
}

static void on_drop(void *self)
{
	struct errand *errand = self;
	sem_post(errand->begun);
}

static void the_end_of_a_loop_does_not_wait_for_a_job_that_was_left(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	sem_t begun, dropped, may_end;
	sem_init(&begun, 0, 0);
	sem_init(&dropped, 0, 0);
	sem_init(&may_end, 0, 0);
	int order[2], count = 0;
	struct errand hangs = {.begun = &begun, .may_end = &may_end},
		      waits = {.number = 2, .order = order, .count = &count};
	struct lane_job *first = lane_run(loop, on_errand, on_errand_done, &hangs);
	struct lane_job *second = lane_run(loop, on_errand, on_errand_done, &waits);
	sem_wait(&begun);
	waits.begun = &dropped;
	lane_leave(second, on_drop);
	sem_wait(&dropped); /* at once, because it had not begun */
	lane_leave(first, on_drop);
	loop_destroy(loop); /* while the first job still hangs */
	sem_post(&may_end);
	sem_wait(&begun); /* by on_drop */
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_defers_itself_holds_up_nothing),
		cmocka_unit_test(what_a_read_has_deferred_runs_before_the_loop_polls_again),
		cmocka_unit_test(a_call_is_made_once_and_not_at_all_when_it_was_cancelled),
		cmocka_unit_test(jobs_of_the_lane_run_in_their_order),
		cmocka_unit_test(a_job_that_hangs_takes_no_thread_of_the_pool),
		cmocka_unit_test(the_end_of_a_loop_does_not_wait_for_a_job_that_was_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
