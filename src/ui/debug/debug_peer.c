/* The child gets a new session (spawn does that), because Ctrl-C at the terminal means "interrupt the task" here and
 * must not reach the engine. */
#include "ui/debug/debug_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/mem.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "command/env_policy.h"
#include "process/spawn.h"
#include "transport/transport_connect.h"
#include "transport/transport_stdio.h"

/* Takes ownership of both descriptors. */
static int open_transport(struct debug_peer *peer, struct loop *loop, int in, int out,
                          const struct transport_events *events, void *self, struct error *err)
{
	peer->transport = transport_stdio_create(loop, in, out, events, self, err);
	return peer->transport ? 0 : -(int)err->code;
}

int debug_peer_connect(struct debug_peer *peer, struct loop *loop, const char *address,
                       const struct transport_events *events, void *self, struct error *err)
{
	int fd = transport_connect(address, err);
	if (fd < 0)
		return fd;
	int twin = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (twin < 0) {
		error_sys(err, errno, "cannot have another descriptor");
		close(fd);
		return -(int)err->code;
	}
	return open_transport(peer, loop, fd, twin, events, self, err);
}

static void on_child_exit(int wait_status, void *self)
{
	struct debug_peer *peer = self;
	(void)wait_status; /* the end of the child's output is reported instead */
	peer->pid = 0;
}

static int spawn(struct debug_peer *peer, const char *path, const char *const *argv, int in, int out, struct error *err)
{
	static const struct env_policy policy = {.inherit = env_inherit_all, .ignore_default_excludes = true};
	auto_env struct env env;
	env_init(&env);
	env_policy_apply(&policy, NULL, &env);
	auto_free char *found = path ? xstrdup(path) : spawn_find_program(argv[0], env_vars(&env), NULL, err);
	if (!found)
		return -(int)err->code;
	const char *const paths[] = {found, NULL};
	struct spawn_plan plan = {.paths = paths, .argv = argv, .env = env_vars(&env), .fds = {in, out, STDERR_FILENO}};
	return spawn_start(&plan, &peer->pid, err);
}

int debug_peer_spawn(struct debug_peer *peer, struct loop *loop, const char *path, const char *const *argv,
                     const struct transport_events *events, void *self, struct error *err)
{
	int to[2], from[2];
	if (host_pipe(to) != 0)
		return error_sys(err, errno, "cannot make a pipe");
	auto_close int to_read = to[0], to_write = to[1];
	if (host_pipe(from) != 0)
		return error_sys(err, errno, "cannot make a pipe");
	auto_close int from_read = from[0], from_write = from[1];
	int status = spawn(peer, path, argv, to_read, from_write, err);
	if (status != 0)
		return status;
	peer->child = child_create(loop, peer->pid, on_child_exit, peer, err);
	if (!peer->child)
		return -(int)err->code;
	child_unref(peer->child);
	return open_transport(peer, loop, steal_fd(&from_read), steal_fd(&to_write), events, self, err);
}

void debug_peer_finish(struct debug_peer *peer)
{
	transport_destroy(peer->transport, false);
	if (peer->pid > 0)
		kill(peer->pid, SIGTERM);
	child_destroy(peer->child);
	*peer = (struct debug_peer){0};
}
