/* libcurl without the libraries that no request uses. The dynamic linker cannot forget a library, so each case has a
 * process of its own. */
#include "temp.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/elf_needs.h"
#include "base/nsswitch.h"
#include "base/stand_in.h"

static const char file[] = "libcurl.so.4";

static const struct {
	const char *stem, *symbols;
} rows[] = {
#define STAND_IN(stem, symbols, start) {stem, symbols},
#include "base/stand_in.def"
#undef STAND_IN
};

#define bad_openssl "config_diagnostics = 1\nopenssl_conf = start\n[start]\nabsent_module = x\n"

enum { OK, FAILED, SKIPPED };

/* Runs the case in a process whose standard error is the file. Returns its status as waitpid has it. */
static int run_apart(int (*part)(void))
{
	int status;
	temp_put("stderr", STR(""));
	pid_t child = fork();
	if (child == 0) {
		signal(SIGABRT, SIG_DFL); /* not the handler of cmocka */
		if (!freopen(temp_path("stderr"), "w", stderr))
			_exit(FAILED);
		_exit(part());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	return status;
}

static bool is_row(const char *path)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (str_has_prefix(path_name(path), rows[i].stem))
			return true;
	return false;
}

static int count_row(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	*(int *)count += is_row(info->dlpi_name);
	return 0;
}

/* Returns how many libraries of the table are loaded. */
static int count_rows(void)
{
	int count = 0;
	dl_iterate_phdr(count_row, &count);
	return count;
}

static int find_curl(struct dl_phdr_info *info, size_t size, void *ret_path)
{
	(void)size;
	if (!str_has_prefix(path_name(info->dlpi_name), "libcurl.so"))
		return 0;
	*(char **)ret_path = xstrdup(info->dlpi_name);
	return 1;
}

/* Skips where libcurl has none of the libraries. */
static void *open_real(void)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	if (!handle || count_rows() == 0)
		_exit(SKIPPED);
	return handle;
}

static int has_libraries(void)
{
	open_real();
	return OK;
}

/* Whether this machine's libcurl has any of the libraries is found in another process. */
static void need_libraries(void)
{
	assert_int_equal(run_apart(has_libraries), OK);
}

static int loads_without(void)
{
	stand_in_allow(NSSWITCH_FILE);
	void *handle = stand_in_open(file);
	if (!handle || count_rows() != 0)
		return FAILED;
	long (*init)(long) = (long (*)(long))dlsym(handle, "curl_global_init");
	void *(*easy)(void) = (void *(*)(void))dlsym(handle, "curl_easy_init");
	return init(3) == 0 && easy() && stand_in_start_tls() ? OK : FAILED;
}

static void test_libcurl_is_loaded_without_its_other_protocols(void **state)
{
	(void)state;
	need_libraries();
	assert_int_equal(run_apart(loads_without), OK);
}

static int is_not_allowed(void)
{
	return !stand_in_open(file) && !dlopen(file, RTLD_LAZY | RTLD_NOLOAD) ? OK : FAILED;
}

static void test_a_user_of_the_library_gets_all_of_libcurl(void **state)
{
	(void)state;
	assert_int_equal(run_apart(is_not_allowed), OK);
}

/* No file can be written: the objects cannot be made. */
static int falls_back(void)
{
	const struct rlimit none = {0, 0};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	stand_in_allow(NSSWITCH_FILE);
	if (stand_in_open(file) || count_rows() != 0)
		return FAILED;
	open_real();
	setenv("OPENSSL_CONF", temp_path("openssl.cnf"), 1);
	return stand_in_start_tls() ? OK : FAILED; /* libcurl itself starts OpenSSL now */
}

static void test_a_failed_step_leaves_the_libraries_to_the_linker(void **state)
{
	(void)state;
	temp_put("openssl.cnf", STR(bad_openssl));
	need_libraries();
	assert_int_equal(run_apart(falls_back), OK);
}

static char *real_path(void)
{
	char *path = NULL;
	dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	dl_iterate_phdr(find_curl, &path);
	if (!path)
		_exit(SKIPPED);
	return path;
}

/* Opens the first library of the table that libcurl needs, as another part of the program may have done. */
static void *open_one(struct str *ret_name)
{
	struct elf_needs needs;
	int ends[2];
	char path[256] = "";
	if (pipe(ends) != 0)
		return NULL;
	pid_t reader = fork();
	if (reader == 0) /* the path, without loading libcurl here */
		_exit(dprintf(ends[1], "%s", real_path()) > 0 ? 0 : 1);
	close(ends[1]);
	waitpid(reader, NULL, 0);
	if (read(ends[0], path, sizeof(path) - 1) <= 0 || !elf_needs_read(&needs, path))
		return NULL;
	for (size_t i = 0; i < needs.dynamic_count; i++) {
		*ret_name = elf_needs_library(&needs, i);
		if (ret_name->ptr && is_row(ret_name->ptr))
			return dlopen(ret_name->ptr, RTLD_LAZY | RTLD_LOCAL);
	}
	return NULL;
}

static int keeps_loaded(void)
{
	struct str name;
	void *one = open_one(&name);
	int before = count_rows();
	stand_in_allow(NSSWITCH_FILE);
	void *handle = stand_in_open(file);
	if (!one || !handle)
		return FAILED;
	return before > 0 && count_rows() == before && dlopen(name.ptr, RTLD_LAZY | RTLD_NOLOAD) == one ? OK : FAILED;
}

static void test_a_library_that_is_loaded_already_is_used(void **state)
{
	(void)state;
	need_libraries();
	assert_int_equal(run_apart(keeps_loaded), OK);
}

static const char *called;

static int calls_one(void)
{
	stand_in_allow(NSSWITCH_FILE);
	void *handle = stand_in_open(file);
	void (*function)(int) = handle ? (void (*)(int))dlsym(handle, called) : NULL;
	if (!function)
		return handle ? OK : FAILED; /* libcurl does not take it here */
	function(0);
	return FAILED;
}

static void test_a_call_ends_the_process_and_names_the_remedy(void **state)
{
	static const char *const names[] = {"ldap_err2string", "libssh2_session_free", "gss_wrap", "RTMP_Init"};
	(void)state;
	need_libraries();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		called = names[i];
		int status = run_apart(calls_one);
		if (WIFEXITED(status) && WEXITSTATUS(status) == OK)
			continue;
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		auto_free char *text = temp_get(temp_path("stderr"));
		assert_non_null(strstr(text, "set CODEX_LIBCURL=whole"));
	}
}

static int is_refused_for_a_module(void)
{
	stand_in_allow(temp_path("nsswitch.conf"));
	return stand_in_open(file) || dlopen(file, RTLD_LAZY | RTLD_NOLOAD) ? FAILED : OK;
}

static void test_a_module_that_may_need_more_gets_all_of_libcurl(void **state)
{
	(void)state;
	temp_put("nsswitch.conf", STR("hosts: files wins dns\n"));
	assert_int_equal(run_apart(is_refused_for_a_module), OK);
}

/* OpenSSL reads its configuration when it starts, and fails to start with this one. */
static int starts_tls(void)
{
	setenv("OPENSSL_CONF", temp_path("openssl.cnf"), 1);
	stand_in_allow(NSSWITCH_FILE);
	void *handle = stand_in_open(file);
	int (*start)(uint64_t, void *) = NULL;
	if (handle)
		start = (int (*)(uint64_t, void *))dlsym(handle, "OPENSSL_init_ssl");
	if (!start)
		return SKIPPED; /* libcurl uses another TLS library */
	Dl_info where;
	if (dladdr((void *)start, &where) && str_has_prefix(path_name(where.dli_fname), "libssl"))
		return SKIPPED; /* libcurl lists OpenSSL first */
	return start(0, NULL) == 1 && !stand_in_start_tls() ? OK : FAILED;
}

static void test_openssl_is_started_by_the_first_connection(void **state)
{
	(void)state;
	temp_put("openssl.cnf", STR(bad_openssl));
	need_libraries();
	assert_int_equal(run_apart(starts_tls), OK);
}

static bool is_plain(const char *text)
{
	temp_put("nsswitch.conf", str_of(text));
	return nsswitch_is_plain(temp_path("nsswitch.conf"));
}

static void test_modules_of_the_c_library_that_need_more(void **state)
{
	(void)state;
	assert_true(nsswitch_is_plain(temp_path("absent")));
	assert_true(is_plain(""));
	assert_true(is_plain("passwd: files systemd\n# hosts: wins\nnetgroup: nis\n"
	                     "hosts:\tfiles mdns4_minimal [NOTFOUND=return] dns\n"));
	assert_true(is_plain("hosts: files[NOTFOUND=return] dns\npasswd files sss"));
	assert_false(is_plain("hosts: files wins[NOTFOUND=return] dns\n"));
	assert_false(is_plain("passwd: files [NOTFOUND=return]ldap\n"));
	assert_false(is_plain("hosts wins dns\n"));
	assert_false(is_plain("hosts: files wins dns\n"));
	assert_false(is_plain("netgroup: nis\npasswd: files ldap"));
	assert_false(is_plain("group: compat\n"));
	assert_false(is_plain("hosts: file\n"));
	assert_false(is_plain("hosts: files\tdns winbind\n"));
	assert_false(is_plain("hosts: files dns a_module_with_a_name_of_more_than_thirty_two_bytes\n"));
}

/* ---- the reader of the file ---- */

static void read_all(const char *path)
{
	struct elf_needs needs;
	bool is_read = elf_needs_read(&needs, path);
	for (size_t i = 0; is_read && i < needs.dynamic_count; i++)
		elf_needs_library(&needs, i);
	for (size_t i = 0; is_read && i < needs.symbol_count; i++) {
		uint16_t index;
		struct elf_version version;
		elf_needs_symbol(&needs, i, &index);
		if (elf_needs_version(&needs, index, &version))
			assert_non_null(version.file.ptr);
	}
	elf_needs_finish(&needs);
}

static int reads_damaged(void)
{
	struct error err;
	auto_buf struct buf whole;
	auto_free char *path = real_path();
	buf_init(&whole, 16 * MIB);
	if (file_read(path, &whole, &err) != 0)
		return FAILED;
	struct elf_needs needs;
	bool is_read = elf_needs_read(&needs, path);
	elf_needs_finish(&needs);
	uint32_t seed = 1;
	for (int round = 0; round < 300; round++) {
		auto_close int fd = open(temp_path("damaged"), O_RDWR | O_CREAT | O_TRUNC, 0600);
		size_t len = round % 3 ? whole.len : whole.len * (size_t)round / 300;
		if (write(fd, whole.data, len) != (ssize_t)len)
			return FAILED;
		for (int i = 0; i < 64; i++) {
			seed = seed * 1664525 + 1013904223;
			size_t table = i % 2 ? 1024 : i % 4 ? 0x7000 : whole.len;
			if (pwrite(fd, &seed, 1 + i % 4, (off_t)(seed % table)) < 0)
				return FAILED;
		}
		read_all(temp_path("damaged"));
	}
	return is_read ? OK : FAILED;
}

static void test_a_damaged_file_is_read_within_its_bounds(void **state)
{
	(void)state;
	assert_int_equal(run_apart(reads_damaged), OK);
}

static void test_other_files_are_refused(void **state)
{
	(void)state;
	struct elf_needs needs;
	temp_put("text", STR("#!/bin/sh\n"));
	assert_false(elf_needs_read(&needs, temp_path("text")));
	elf_needs_finish(&needs);
	assert_false(elf_needs_read(&needs, temp_path("absent")));
	elf_needs_finish(&needs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_libcurl_is_loaded_without_its_other_protocols, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(test_a_user_of_the_library_gets_all_of_libcurl, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_a_failed_step_leaves_the_libraries_to_the_linker, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(test_a_library_that_is_loaded_already_is_used, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_a_call_ends_the_process_and_names_the_remedy, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(test_openssl_is_started_by_the_first_connection, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(test_a_module_that_may_need_more_gets_all_of_libcurl, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(test_modules_of_the_c_library_that_need_more, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_a_damaged_file_is_read_within_its_bounds, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_other_files_are_refused, temp_make, temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
