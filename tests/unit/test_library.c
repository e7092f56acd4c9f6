/* Libraries that are loaded by name: present, missing, too old, loaded once. libm serves as example. */
#include "test.h"

#include "base/library.h"

struct functions {
	double (*cos)(double);
	double (*floor)(double);
};

static struct functions math, old, absent;
static int loads;

static const char *const names[] = {"cos", "floor"};
static const char *const newer[] = {"cos", "cos_of_the_year_3000"};

static int count_load(struct error *err)
{
	(void)err;
	loads++;
	return 0;
}

static int refuse(struct error *err)
{
	return error_set(err, ERR_unsupported, "it does not start");
}

LIBRARY(libm, math, names, .file = "libm.so.6", .package = "libc6", .purpose = "libm", .on_loaded = count_load);
LIBRARY(libm_old, old, newer, .file = "libm.so.6", .package = "libc6", .purpose = "libm");
LIBRARY(libm_broken, math, names, .file = "libm.so.6", .package = "libc6", .purpose = "libm", .on_loaded = refuse);
LIBRARY(libabsent, absent, names, .file = "libabsent.so.7", .package = "libabsent7", .purpose = "libabsent, for tests");

static void test_functions_are_bound_in_order(void **state)
{
	(void)state;
	assert_int_equal(library_load(&libm, NULL), 0);
	assert_true(math.cos(0.0) == 1.0);
	assert_true(math.floor(1.5) == 1.0);
}

static void *load_libm(void *self)
{
	(void)self;
	return library_load(&libm, NULL) == 0 ? &math : NULL;
}

static void test_threads_share_one_load(void **state)
{
	(void)state;
	pthread_t threads[4];
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, load_libm, NULL), 0);
	for (size_t i = 0; i < 4; i++) {
		void *result = NULL;
		pthread_join(threads[i], &result);
		assert_ptr_equal(result, &math);
	}
	assert_int_equal(loads, 1);
}

static void test_a_missing_library_names_its_package(void **state)
{
	(void)state;
	struct error err = {0};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(library_load(&libabsent, &err), -ERR_unsupported);
		assert_non_null(strstr(err.text, "libabsent, for tests, cannot be loaded: install libabsent7"));
	}
}

static void test_an_old_library_names_missing_functions(void **state)
{
	(void)state;
	struct error err = {0};
	assert_int_equal(library_load(&libm_old, &err), -ERR_unsupported);
	assert_non_null(strstr(err.text, "it lacks cos_of_the_year_3000"));
}

static void test_a_failed_start_is_the_answer(void **state)
{
	(void)state;
	struct error err = {0};
	assert_int_equal(library_load(&libm_broken, &err), -ERR_unsupported);
	assert_string_equal(err.text, "it does not start");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_bound_in_order),
		cmocka_unit_test(test_threads_share_one_load),
		cmocka_unit_test(test_a_missing_library_names_its_package),
		cmocka_unit_test(test_an_old_library_names_missing_functions),
		cmocka_unit_test(test_a_failed_start_is_the_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
