/* base/host.h on this system. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/host.h"

static bool has_flag(int fd, int command, int flag)
{
	return fcntl(fd, command) & flag;
}

static void pipes_and_sockets_are_close_on_exec(void **state)
{
	int ends[2];
	(void)state;
	assert_int_equal(host_pipe(ends), 0);
	int blocking = host_socket(AF_UNIX, SOCK_STREAM, 0), other = host_socket_nonblocking(AF_INET, SOCK_STREAM);
	const int all[] = {ends[0], ends[1], blocking, other};
	for (size_t i = 0; i < 4; i++) {
		assert_true(all[i] >= 0);
		assert_true(has_flag(all[i], F_GETFD, FD_CLOEXEC));
	}
	assert_false(has_flag(blocking, F_GETFL, O_NONBLOCK));
	assert_true(has_flag(other, F_GETFL, O_NONBLOCK));
	for (size_t i = 0; i < 4; i++)
		close(all[i]);
}

static void an_accepted_connection_names_its_peer(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(address);
	pid_t peer = 0;
	(void)state;
	int listener = host_socket(AF_UNIX, SOCK_STREAM, 0), client = host_socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)),
	                 0); /* a free abstract name */
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	int accepted = host_accept(listener);
	assert_true(accepted >= 0);
	assert_true(has_flag(accepted, F_GETFD, FD_CLOEXEC) && has_flag(accepted, F_GETFL, O_NONBLOCK));
	assert_true(host_peer_pid(client, &peer));
	assert_int_equal(peer, getpid());
	close(accepted);
	close(client);
	close(listener);
}

static void random_bytes_differ(void **state)
{
	unsigned char first[64] = {0}, second[64] = {0};
	(void)state;
	host_random(first, sizeof(first));
	host_random(second, sizeof(second));
	assert_memory_not_equal(first, second, sizeof(first));
}

static void the_program_is_found(void **state)
{
	char path[4096], short_path[2];
	struct stat own, named;
	int64_t bytes = 0;
	(void)state;
	assert_true(host_program_path(path, sizeof(path)));
	assert_int_equal(stat(path, &named), 0);
	assert_int_equal(stat(host_program(), &own), 0);
	assert_int_equal(own.st_ino, named.st_ino);
	assert_false(host_program_path(short_path, sizeof(short_path)));
	assert_true(host_memory(&bytes));
	assert_true(bytes > 100 * 1024);
	assert_true(host_has_proc());
	assert_false(host_is_chroot());
}

static void files_have_status_and_path(void **state)
{
	char dir[] = "/tmp/codex-host-XXXXXX", file[64], link[64], path[128];
	struct host_status status;
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(host_status_read(link, false, &status), 0);
	assert_true(S_ISLNK(status.mode));
	assert_int_equal(host_status_read(link, true, &status), 0);
	assert_true(S_ISREG(status.mode) && status.changed_ms > 0);
	assert_int_equal(host_status_read("/nonexistent", true, &status), -1);
	assert_true(host_fd_path(fd, path, sizeof(path)));
	assert_string_equal(path, file);
	assert_false(host_is_proc_file(fd));
	int proc = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	assert_true(host_is_proc_file(proc));
	assert_int_equal(host_rename_new(file, link), -1);
	unlink(link);
	assert_int_equal(host_rename_new(file, link), 0);
	close(proc);
	close(fd);
	unlink(link);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes_and_sockets_are_close_on_exec),
		cmocka_unit_test(an_accepted_connection_names_its_peer),
		cmocka_unit_test(random_bytes_differ),
		cmocka_unit_test(the_program_is_found),
		cmocka_unit_test(files_have_status_and_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
