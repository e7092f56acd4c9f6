/* Three documents, made for each request. */
#include "fleet/fleet_admin.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_worker.h"
#include "net/access_token.h"
#include "net/http_head.h"
#include "net/http_server.h"

struct fleet_admin {
	struct fleet_admin_options options;
	struct http_server *server;
	char *address;
};

static void write_metrics(const struct fleet_admin *admin, struct buf *out)
{
	struct fleet_worker_state state = fleet_worker_get_state(admin->options.worker);
	const struct {
		const char *name, *type, *help;
		uint64_t value;
	} rows[] = {
		{"sessions", "gauge", "sessions that the worker owns", state.sessions},
		{"tasks_total", "counter", "tasks that were started", state.tasks},
		{"takeovers_total", "counter", "sessions taken over from lost workers", state.takeovers},
		{"fenced_total", "counter", "sessions lost to another worker", state.fenced},
		{"events_total", "counter", "events", state.events},
	};
	for (size_t i = 0; i < countof(rows); i++)
		buf_printf(out,
		           "# HELP codex_worker_%s %s\n# TYPE codex_worker_%s %s\n"
		           "codex_worker_%s{namespace=\"%s\",worker=\"%s\"} %llu\n",
		           rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name,
		           admin->options.namespace, admin->options.name, (unsigned long long)rows[i].value);
}

static bool is_allowed(const struct fleet_admin *admin, const struct http_head *head)
{
	struct str shown = http_head_get(head, "Authorization");
	return !admin->options.token ||
	       (str_cut_prefix(&shown, "Bearer ") && access_token_matches(admin->options.token, shown));
}

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	const struct fleet_admin *admin = self;
	auto_buf struct buf out;
	(void)body;
	buf_init(&out, 64 * KIB);
	if (!is_allowed(admin, head)) {
		http_reply(exchange, 401, "text/plain", STR("a bearer token is required\n"));
	} else if (!str_is(head->method, "GET")) {
		http_reply(exchange, 405, "text/plain", STR("only GET is possible\n"));
	} else if (str_is(head->target, "/healthz")) {
		http_reply(exchange, 200, "text/plain", STR("ok\n"));
	} else if (str_is(head->target, "/readyz")) {
		bool is_ready = fleet_worker_get_state(admin->options.worker).is_ready;
		http_reply(exchange, is_ready ? 200 : 503, "text/plain",
		           is_ready ? STR("ready\n") : STR("not ready\n"));
	} else if (str_is(head->target, "/metrics")) {
		write_metrics(admin, &out);
		http_reply(exchange, 200, "text/plain; version=0.0.4", buf_str(&out));
	} else {
		http_reply(exchange, 404, "text/plain", STR("not found; there are /healthz, /readyz and /metrics\n"));
	}
}

static bool is_loopback(const char *host)
{
	struct in_addr four;
	return strcmp(host, "::1") == 0 || (inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127);
}

static int open_server(struct fleet_admin *admin, struct error *err)
{
	struct str text = str_of(admin->options.address);
	ptrdiff_t colon = str_rfind_char(text, ':');
	uint64_t port;
	if (colon <= 0 || !str_to_u64(str_skip(text, (size_t)colon + 1), &port) || port > 65535)
		return error_set(err, ERR_usage, "--admin %s: expected IP:PORT", admin->options.address);
	struct str host_text = str_n(text.ptr, (size_t)colon);
	if (host_text.len > 2 && host_text.ptr[0] == '[' && host_text.ptr[host_text.len - 1] == ']')
		host_text = str_n(host_text.ptr + 1, host_text.len - 2);
	auto_free char *host = str_dup(host_text);
	if (!admin->options.token && !is_loopback(host))
		return error_set(err, ERR_usage, "--admin %s: an address of other machines requires --token-file",
		                 admin->options.address);
	admin->server = http_server_create(admin->options.loop, host, (uint16_t)port, on_request, admin, err);
	if (!admin->server)
		return -(int)err->code;
	http_server_limit_bodies(admin->server, 0, NULL);
	admin->address = xasprintf(strchr(host, ':') ? "http://[%s]:%u" : "http://%s:%u", host,
	                           (unsigned)http_server_port(admin->server));
	return 0;
}

struct fleet_admin *fleet_admin_create(const struct fleet_admin_options *options, struct error *err)
{
	struct fleet_admin *admin = xnew(struct fleet_admin);
	admin->options = *options;
	if (open_server(admin, err) == 0)
		return admin;
	fleet_admin_destroy(admin);
	return NULL;
}

const char *fleet_admin_address(const struct fleet_admin *admin)
{
	return admin->address;
}

void fleet_admin_destroy(struct fleet_admin *admin)
{
	if (!admin)
		return;
	http_server_destroy(admin->server);
	free(admin->address);
	free(admin);
}
