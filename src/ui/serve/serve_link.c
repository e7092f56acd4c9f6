/* Standard input may be anything: a terminal, a pipe, a file, or closed. A file has no lines to wait for. It is opened
 * a second time, because other programs share the description that was inherited, and would find it non-blocking; only
 * a socket cannot be opened, and is restored at the end.
 *
 * A link on the command line of a browser would be shown to every user of the machine, so the browser opens a private
 * file that forwards to it. */
#include "ui/serve/serve_link.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "server/http_proto.h"
#include "server/page_qr.h"
#include "server/server_limits.h"
#include "ui/cli/terminal.h"

struct serve_links {
	struct http_proto *proto;
	uv_poll_t poll;
	bool is_polling;
	int input;  /* standard input, or a description of its own of the same file */
	int flags;  /* of standard input, to be restored */
	char *page; /* the file that the browser opens; NULL: none */
	struct loop_timer *page_end;
};

static void print_qr(const char *link)
{
	auto_buf struct buf out;
	struct page_qr qr;
	buf_init(&out, LIMIT_PAGE_FILE);
	if (!page_qr_make(link, &qr))
		return;
	if (page_qr_draw(&qr, &out) <= terminal_columns(STDERR_FILENO))
		fwrite(out.data, 1, out.len, stderr);
	page_qr_finish(&qr);
}

static void print_link(struct http_proto *proto)
{
	auto_buf struct buf link;
	buf_init(&link, 8 * KIB);
	http_proto_make_link(proto, &link);
	printf("%s\n", link.data);
	fflush(stdout);
	if (isatty(STDERR_FILENO))
		print_qr(link.data);
}

/* ---- standard input ---- */

static void on_input(uv_poll_t *poll, int status, int events)
{
	struct serve_links *links = poll->data;
	char bytes[4 * KIB];
	(void)events;
	ssize_t len = status == 0 ? read(links->input, bytes, sizeof(bytes)) : 0;
	if (len == 0)
		uv_poll_stop(poll);
	for (ssize_t i = 0; i < len; i++)
		if (bytes[i] == '\n')
			print_link(links->proto);
}

static void remove_page(void *self)
{
	struct serve_links *links = self;
	if (links->page)
		unlink(links->page);
	free(steal(links->page));
}

static void watch_input(struct serve_links *links, struct loop *loop)
{
	int own = open("/dev/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	links->flags = fcntl(STDIN_FILENO, F_GETFL);
	links->input = own >= 0 ? own : STDIN_FILENO;
	links->poll.data = links;
	links->is_polling = links->flags >= 0 && uv_poll_init(loop_uv(loop), &links->poll, links->input) == 0;
	if (links->is_polling)
		uv_poll_start(&links->poll, UV_READABLE, on_input);
}

struct serve_links *serve_links_create(struct loop *loop, struct http_proto *proto)
{
	struct serve_links *links = xnew(struct serve_links);
	links->proto = proto;
	links->page_end = loop_timer_create(loop, remove_page, links);
	watch_input(links, loop);
	print_link(proto);
	return links;
}

static void links_free(struct serve_links *links)
{
	if (links->input != STDIN_FILENO)
		close(links->input);
	else if (links->flags >= 0)
		best_effort(fcntl(STDIN_FILENO, F_SETFL, links->flags));
	free(links);
}

static void on_closed(uv_handle_t *handle)
{
	links_free(handle->data);
}

void serve_links_destroy(struct serve_links *links)
{
	if (!links)
		return;
	remove_page(links);
	loop_timer_destroy(links->page_end);
	if (links->is_polling)
		uv_close((uv_handle_t *)&links->poll, on_closed);
	else
		links_free(links);
}

/* ---- the browser ---- */

/* True if no other user can replace a file in this folder. */
static bool is_safe(const char *folder)
{
	struct stat st;
	if (stat(folder, &st) != 0)
		return false;
	errno = EACCES;
	return st.st_uid == geteuid() || st.st_mode & S_ISVTX;
}

static int write_page(const char *folder, struct str text, char **ret_path, struct error *err)
{
	static const char suffix[] = ".html";
	auto_free char *path = xasprintf("%s/codex-serve-XXXXXX%s", folder, suffix);
	auto_close int fd = is_safe(folder) ? mkostemps(path, sizeof(suffix) - 1, O_CLOEXEC) : -1;
	if (fd < 0)
		return error_sys(err, errno, "cannot make %s", path);
	if (fd_write_all(fd, text.ptr, text.len, err) != 0) {
		unlink(path);
		return -(int)err->code;
	}
	*ret_path = steal(path);
	return 0;
}

/* Makes the file that forwards to a new link, with mode 0600, in the first folder that takes it. The folder of
 * XDG_RUNTIME_DIR may be missing or full, or belong to another user, as after su. */
static int make_page(struct serve_links *links, struct error *err)
{
	const char *const folders[] = {config_env("XDG_RUNTIME_DIR"), config_env("TMPDIR"), "/tmp"};
	auto_buf struct buf link, text;
	buf_init(&link, 8 * KIB);
	buf_init(&text, 32 * KIB);
	http_proto_make_link(links->proto, &link);
	buf_printf(&text, "<!doctype html><title>Codex</title><meta http-equiv=refresh content=\"0;url=%s\">\n",
	           link.data);
	loop_timer_start(links->page_end, LIMIT_PAGE_CODE_MS);
	int status = -1;
	for (size_t i = 0; i < countof(folders) && status != 0; i++) {
		if (folders[i] && *folders[i])
			status = write_page(folders[i], buf_str(&text), &links->page, err);
	}
	return status;
}

static bool start_browser(char *path)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	char program[] = "xdg-open", *argv[] = {program, path, NULL};
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int status = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0;
}

void serve_links_open(struct serve_links *links)
{
	struct error err;
	if (make_page(links, &err) != 0)
		fprintf(stderr, "no browser was opened: %s; open the link above\n", err.text);
	else if (!start_browser(links->page))
		fputs("no browser was opened: xdg-open could not be started; open the link above\n", stderr);
}
