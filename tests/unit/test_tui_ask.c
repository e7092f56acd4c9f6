/* Requests of the engine while the user types: they appear after a rest and take keys only after they could be read.
 * The clock and the timer are the test's (see meson.build). */
#include "test.h"

#include "loop/loop.h"
#include "term/term_keys.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_sheet.h"

static uint64_t now_ms, delay_ms;
static bool is_active;
static loop_run_fn on_timer;
static void *timer_self;
static int chosen;

uint64_t __wrap_clock_now_ms(void);
struct loop_timer *__wrap_loop_timer_create(struct loop *loop, loop_run_fn run, void *self);
void __wrap_loop_timer_start(struct loop_timer *timer, uint64_t ms);
void __wrap_loop_timer_stop(struct loop_timer *timer);
bool __wrap_loop_timer_is_active(const struct loop_timer *timer);
void __wrap_loop_timer_destroy(struct loop_timer *timer);

uint64_t __wrap_clock_now_ms(void)
{
	return now_ms;
}

struct loop_timer *__wrap_loop_timer_create(struct loop *loop, loop_run_fn run, void *self)
{
	(void)loop;
	on_timer = run;
	timer_self = self;
	return NULL;
}

void __wrap_loop_timer_start(struct loop_timer *timer, uint64_t ms)
{
	(void)timer;
	delay_ms = ms;
	is_active = true;
}

void __wrap_loop_timer_stop(struct loop_timer *timer)
{
	(void)timer;
	is_active = false;
}

bool __wrap_loop_timer_is_active(const struct loop_timer *timer)
{
	(void)timer;
	return is_active;
}

void __wrap_loop_timer_destroy(struct loop_timer *timer)
{
	(void)timer;
}

static void fire(void)
{
	assert_true(is_active);
	now_ms += delay_ms;
	is_active = false;
	on_timer(timer_self);
}

static void on_change(void *self)
{
	(void)self;
}

static bool on_read(struct str text, const struct event *about, void *self)
{
	(void)text;
	(void)about;
	(void)self;
	return true;
}

static void on_chosen(const struct tui_chosen *answer, void *self)
{
	(void)self;
	chosen = answer->at;
}

enum { NOT_YET = -2 };

static int setup(void **state)
{
	now_ms = 1000000;
	is_active = false;
	chosen = NOT_YET;
	*state = tui_ask_create(NULL, on_change, NULL);
	return 0;
}

static int teardown(void **state)
{
	tui_ask_destroy(*state);
	return 0;
}

static void add(struct tui_ask *ask, const char *id)
{
	static const struct tui_choice items[] = {{"Yes (y)", NULL, 'y'}, {"No (esc)", NULL, 0}};
	struct tui_choices what = {
		.title = STR("Sure?\n"), .items = items, .count = 2, .on_read = on_read, .on_chosen = on_chosen};
	tui_ask_add(ask, tui_choice_create(&what, id ? str_of(id) : STR_NONE, NULL));
}

static void draw(struct tui_ask *ask)
{
	struct term_row row;
	term_row_init(&row, 80, false);
	struct tui_sheet sheet = {NULL, &row, 80, 20};
	tui_ask_draw(ask, &sheet);
	term_row_finish(&row);
}

static void type(struct tui_ask *ask, const char *c)
{
	tui_ask_key(ask, &(struct term_key){.kind = TERM_CHAR, .text = str_of(c)});
}

static void a_request_waits_until_no_key_was_pressed_for_half_a_second(void **state)
{
	tui_ask_typed(*state);
	now_ms += 300;
	add(*state, "r");
	assert_int_equal(delay_ms, 200);
	now_ms += 199;
	tui_ask_typed(*state);
	assert_int_equal(delay_ms, 500);
	assert_false(tui_ask_is_shown(*state));
	fire();
	assert_true(tui_ask_is_shown(*state));
}

static void a_request_that_interrupts_no_typing_appears_at_once(void **state)
{
	add(*state, "r");
	assert_int_equal(delay_ms, 0);
	fire();
	assert_true(tui_ask_is_shown(*state));
}

static void keys_count_200_ms_after_the_first_frame(void **state)
{
	add(*state, "r");
	fire();
	now_ms += 10000;
	type(*state, "y"); /* nothing was drawn yet */
	assert_int_equal(chosen, NOT_YET);
	draw(*state);
	now_ms += 199;
	type(*state, "y");
	draw(*state); /* a later frame changes nothing */
	assert_int_equal(chosen, NOT_YET);
	now_ms += 1;
	type(*state, "y");
	assert_int_equal(chosen, 0);
	assert_false(tui_ask_is_shown(*state));
}

static void the_next_request_has_a_first_frame_of_its_own(void **state)
{
	add(*state, "one");
	add(*state, "two");
	fire();
	draw(*state);
	now_ms += 200;
	type(*state, "y");
	assert_int_equal(chosen, 0);
	chosen = NOT_YET;
	fire();
	draw(*state);
	type(*state, "y");
	assert_int_equal(chosen, NOT_YET);
	now_ms += 200;
	type(*state, "n");
	assert_int_equal(chosen, CHOICE_ESCAPED);
}

static void text_that_was_meant_for_the_composer_approves_nothing(void **state)
{
	static const struct term_key enter = {.kind = TERM_NAMED, .name = KEY_enter};
	add(*state, "r");
	fire();
	draw(*state);
	now_ms += 200;
	tui_ask_key(*state,
	            &(struct term_key){.kind = TERM_CHAR, .text = STR("y"), .is_crowded = true}); /* of a block */
	tui_ask_key(*state, &(struct term_key){.kind = TERM_CHAR, .text = STR("n"), .is_crowded = true});
	tui_ask_key(*state, &(struct term_key){.kind = TERM_NAMED, .name = KEY_enter, .is_crowded = true});
	now_ms += 500;
	type(*state, "h"); /* of a word */
	now_ms += 499;
	type(*state, "y");
	tui_ask_key(*state, &enter);
	assert_int_equal(chosen, NOT_YET);
	now_ms += 1;
	type(*state, "y");
	assert_int_equal(chosen, 0);
}

static void a_denial_waits_for_no_rest(void **state)
{
	add(*state, "r");
	fire();
	draw(*state);
	now_ms += 200;
	type(*state, "x");
	type(*state, "n");
	assert_int_equal(chosen, CHOICE_ESCAPED);
}

static void a_list_of_the_user_takes_keys_at_once(void **state)
{
	tui_ask_typed(*state);
	add(*state, NULL);
	assert_true(tui_ask_is_shown(*state));
	draw(*state);
	type(*state, "1");
	assert_int_equal(chosen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_request_waits_until_no_key_was_pressed_for_half_a_second, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_request_that_interrupts_no_typing_appears_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_count_200_ms_after_the_first_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_request_has_a_first_frame_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(text_that_was_meant_for_the_composer_approves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_denial_waits_for_no_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_of_the_user_takes_keys_at_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
