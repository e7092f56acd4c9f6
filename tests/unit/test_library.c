/* Libraries that are loaded by name: present, missing, too old, loaded once. libm serves as example. */
#include "test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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

struct one_function {
	char *(*version)(void);
};

static struct one_function curl;
static const char *const version_name[] = {"curl_version"};

LIBRARY(libcurl, curl, version_name, .file = "libcurl.so.4", .package = "libcurl4", .purpose = "libcurl");

static long file_kib(void)
{
	char line[256];
	long kib = -1;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "RssFile: %ld", &kib);
	if (status)
		fclose(status);
	return kib;
}

/* Returns the resident file pages of a process that has opened libcurl, which has 30 dependencies; -1 without it. */
static long file_kib_with_libcurl(bool is_plain)
{
	int ends[2];
	long kib = -1;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		bool is_open = is_plain ? dlopen(libcurl.file, RTLD_LAZY | RTLD_LOCAL) != NULL
		                        : library_load(&libcurl, NULL) == 0;
		kib = is_open ? file_kib() : -1;
		_exit(write(ends[1], &kib, sizeof(kib)) == sizeof(kib) ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &kib, sizeof(kib)), sizeof(kib));
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ends[0]);
	return kib;
}

static void test_pages_for_the_linker_alone_are_dropped(void **state)
{
	(void)state;
	long plain = file_kib_with_libcurl(true), loaded = file_kib_with_libcurl(false);
	if (plain < 0)
		skip();
	assert_true(loaded > 0);
	assert_in_range(plain - loaded, 512, 1024 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_bound_in_order),
		cmocka_unit_test(test_threads_share_one_load),
		cmocka_unit_test(test_a_missing_library_names_its_package),
		cmocka_unit_test(test_an_old_library_names_missing_functions),
		cmocka_unit_test(test_a_failed_start_is_the_answer),
		cmocka_unit_test(test_pages_for_the_linker_alone_are_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
