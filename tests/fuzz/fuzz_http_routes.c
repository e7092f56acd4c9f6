/* The endpoints of codex proto --listen http:// for arbitrary requests, over HTTP/1.1 or HTTP/2: the server answers or
 * refuses, runs no program, and nothing is left when it has ended.
 *
 * The lowest bit of an input's first byte selects HTTP/2, whose opening precedes the input then. Each byte 1 in the
 * rest is replaced by the id of a session that is open. The engine is real, and its model's port is closed. */
#include "fuzz.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "net/http_server.h"
#include "process/spawn.h"
#include "process/supervisor.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"

enum { INPUT_MAX = 16 * KIB, ROUNDS = 40 };

static struct {
	char folder[64];
	struct loop *loop;
	struct services *services;
	struct config *config;
} world;

/* Named by the linker's --wrap, in the places of spawn_start and supervisor_spawn: no program can be started. */
int __wrap_spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err);

int __wrap_spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err)
{
	(void)plan, (void)ret_pid;
	return error_set(err, ERR_unsupported, "a fuzz target starts no program");
}

int __wrap_supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                            const struct supervisor_handler *handler, void *self, struct error *err);

int __wrap_supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                            const struct supervisor_handler *handler, void *self, struct error *err)
{
	(void)loop, (void)child, (void)handler, (void)self;
	return __wrap_spawn_start(plan, NULL, err);
}

static void remove_world(void)
{
	config_unref(world.config);
	services_destroy(world.services);
	loop_destroy(world.loop);
	rmdir(world.folder);
}

static void make_world(void)
{
	struct str overrides[] = {
		STR("model_provider=\"closed\""),
		STR("model_providers.closed.name=\"closed\""),
		STR("model_providers.closed.base_url=\"http://127.0.0.1:9/v1\""),
		STR("model_providers.closed.request_max_retries=0"),
		STR("model_providers.closed.stream_max_retries=0"),
		STR("history.persistence=\"none\""),
	};
	struct config_source source = {
		.codex_home = world.folder,
		.system_file = "/nonexistent/config.toml",
		.cwd = world.folder,
		.overrides = overrides,
		.override_count = countof(overrides),
	};
	snprintf(world.folder, sizeof(world.folder), "/tmp/codex-fuzz-XXXXXX");
	fuzz_check(mkdtemp(world.folder));
	setenv("NO_PROXY", "*", 1);
	world.loop = loop_create(NULL);
	world.config = config_load(&source, NULL);
	fuzz_check(world.loop && world.config);
	world.services = services_create(world.loop, "fuzz");
	atexit(remove_world);
}

static char *find_rollout(struct str id_or_name, void *self, struct error *err)
{
	(void)id_or_name, (void)self;
	error_set(err, ERR_not_found, "no session");
	return NULL;
}

static void on_end(void *self)
{
	bool *has_ended = self;
	*has_ended = true;
}

/* Sends the input, runs the loop for a while, and returns what came back. */
static void talk(struct http_proto *proto, struct str bytes, struct buf *ret)
{
	int pair[2];
	char part[4 * KIB];
	ssize_t len;
	fuzz_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	http_server_serve(proto->server, pair[0]);
	fuzz_check(send(pair[1], bytes.ptr, bytes.len, MSG_NOSIGNAL) == (ssize_t)bytes.len);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uv_run(loop_uv(world.loop), UV_RUN_NOWAIT);
		while ((len = recv(pair[1], part, sizeof(part), 0)) > 0)
			buf_append(ret, part, (size_t)len);
	}
	close(pair[1]);
}

static void append_input(struct buf *out, const uint8_t *data, size_t size, const char *id)
{
	static const char opening[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
	bool is_http2 = data[0] & 1;
	if (is_http2)
		buf_append(out, opening, sizeof(opening) - 1);
	for (size_t i = 1; i < size; i++) {
		if (data[i] == 1 && !is_http2)
			buf_append_c(out, id);
		else
			buf_append_char(out, (char)data[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf in, out;
	bool has_ended = false;
	buf_init(&in, 64 * INPUT_MAX);
	buf_init(&out, 64 * MIB);
	if (!size || size > INPUT_MAX)
		return 0;
	if (!world.loop)
		make_world();
	struct http_proto_options options = {
		.loop = world.loop,
		.engine = {world.services, world.config, world.folder},
		.no_auto_configure = true,
		.token = data[0] & 2 ? "the-token-of-the-fuzz-target" : NULL,
		.keep_events = 10,
		.find_rollout = find_rollout,
		.on_end = on_end,
		.self = &has_ended,
	};
	auto_free char *address = xasprintf("http+unix://%s/s", world.folder);
	struct http_proto *proto = http_proto_create(&options, address, NULL);
	fuzz_check(proto);
	struct http_session *session = http_session_open(proto, STR_NONE, true, false, NULL);
	fuzz_check(session);
	append_input(&in, data, size, kept_session_id(session->kept));
	talk(proto, buf_str(&in), &out);
	bool is_http1 = !str_has_prefix(buf_str(&in), "PRI * HTTP/2.0");
	fuzz_check(!is_http1 || !out.len || str_has_prefix(buf_str(&out), "HTTP/1.1 "));
	http_proto_shut_down(proto);
	for (unsigned i = 0; i < 1000 && !has_ended; i++)
		uv_run(loop_uv(world.loop), UV_RUN_ONCE);
	fuzz_check(has_ended);
	http_proto_destroy(proto);
	uv_run(loop_uv(world.loop), UV_RUN_NOWAIT);
	return 0;
}
