/* Deferred calls run soon, once, and never inside the call that defers them. */
#include "test.h"

#include "base/error.h"
#include "loop/loop.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_defers_itself_holds_up_nothing),
		cmocka_unit_test(a_call_is_made_once_and_not_at_all_when_it_was_cancelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
