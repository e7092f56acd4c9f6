/* Standard input may be anything: a terminal, a pipe, a file, or closed. A file has no lines to wait for. */
#include "ui/serve/serve_link.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "server/http_proto.h"
#include "server/page_qr.h"
#include "ui/cli/terminal.h"

struct serve_links {
	struct http_proto *proto;
	uv_poll_t poll;
	bool is_polling;
	int flags; /* of standard input, to be restored */
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
	ssize_t len = status == 0 ? read(STDIN_FILENO, bytes, sizeof(bytes)) : 0;
	if (len == 0)
		uv_poll_stop(poll);
	for (ssize_t i = 0; i < len; i++)
		if (bytes[i] == '\n')
			print_link(links->proto);
}

struct serve_links *serve_links_create(struct loop *loop, struct http_proto *proto)
{
	struct serve_links *links = xnew(struct serve_links);
	links->proto = proto;
	links->flags = fcntl(STDIN_FILENO, F_GETFL);
	links->poll.data = links;
	links->is_polling = links->flags >= 0 && uv_poll_init(loop_uv(loop), &links->poll, STDIN_FILENO) == 0;
	if (links->is_polling)
		uv_poll_start(&links->poll, UV_READABLE, on_input);
	print_link(proto);
	return links;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void serve_links_destroy(struct serve_links *links)
{
	if (!links)
		return;
	if (links->flags >= 0)
		best_effort(fcntl(STDIN_FILENO, F_SETFL, links->flags));
	if (links->is_polling)
		uv_close((uv_handle_t *)&links->poll, on_closed);
	else
		free(links);
}

/* ---- the browser ---- */

void serve_links_open(struct http_proto *proto)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	auto_buf struct buf link;
	buf_init(&link, 8 * KIB);
	http_proto_make_link(proto, &link);
	char program[] = "xdg-open", *argv[] = {program, link.data, NULL};
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, program, &actions, NULL, argv, environ) != 0)
		fputs("no browser was opened: xdg-open could not be started\n", stderr);
	posix_spawn_file_actions_destroy(&actions);
}
