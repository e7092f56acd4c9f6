/* A client's server reports its end from one of its own functions, so it is marked there and destroyed in the next
 * round of the loop. */
#include "server/proto_listen.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/loop.h"
#include "server/server_limits.h"
#include "server/token_gate.h"
#include "transport/pending_clients.h"
#include "transport/transport_listen.h"

struct client {
	struct list link;
	struct proto_listen *listen;
	struct token_gate *gate;     /* exists until the client has sent the token, if one is required */
	struct proto_server *server; /* exists after that */
	/* the client's entry; it is exempt from eviction after the token or the first line */
	struct pending_client *pending;
	bool has_ended;
};

struct proto_listen {
	struct proto_options options;
	struct transport_listener *listener; /* NULL once shut down */
	struct pending_clients *places;
	struct list clients;
	size_t count;
	size_t most;                /* largest number of clients since memory was last released */
	struct loop_deferred sweep; /* destroys ended clients */
	bool has_ended;
};

static void client_destroy(struct client *client)
{
	list_remove(&client->link);
	client->listen->count--;
	token_gate_destroy(client->gate);
	proto_server_destroy(client->server);
	pending_client_destroy(client->pending);
	free(client);
}

static void on_evict(void *self)
{
	struct client *client = self;
	loop_defer(&client->listen->sweep); /* a shutdown may be waiting for this client to end */
	client_destroy(client);
}

/* Releases free heap memory to the system when half of the clients have left. */
static void give_back_memory(struct proto_listen *listen)
{
	if (listen->count > listen->most / 2)
		return;
	listen->most = listen->count;
	mem_trim();
}

static void on_sweep(void *self)
{
	struct proto_listen *listen = self;
	struct client *it;
	list_for_each(it, &listen->clients, link) {
		if (it->has_ended)
			client_destroy(it);
	}
	give_back_memory(listen);
	if (listen->listener || listen->count || listen->has_ended)
		return;
	listen->has_ended = true;
	listen->options.on_end(listen->options.self);
}

static void on_client_end(void *self)
{
	struct client *client = self;
	client->has_ended = true;
	loop_defer(&client->listen->sweep);
}

static void on_client_heard(void *self)
{
	struct client *client = self;
	pending_client_admit(client->pending);
}

static void serve(struct client *client, int fd)
{
	struct error err;
	struct proto_options options = client->listen->options;
	options.in = fd;
	options.out = dup(fd);
	options.is_socket = true;
	options.on_first_line = on_client_heard;
	options.on_end = on_client_end;
	options.self = client;
	if (options.out < 0) {
		error_sys(&err, errno, "cannot have another descriptor");
		close(fd);
	} else {
		client->server = proto_server_create(&options, &err);
	}
	if (!client->server) {
		fprintf(stderr, "codex proto: a client could not be served: %s\n", err.text);
		on_client_end(client);
	}
}

static void on_gate_done(int fd, void *self)
{
	struct client *client = self;
	token_gate_destroy(steal(client->gate));
	if (fd >= 0) {
		pending_client_admit(client->pending);
		serve(client, fd);
	} else {
		on_client_end(client);
	}
}

static void on_connect(int fd, void *self)
{
	struct proto_listen *listen = self;
	fd = pending_clients_make_room(listen->places, fd);
	if (fd < 0)
		return;
	struct client *client = xnew(struct client);
	client->listen = listen;
	client->pending = pending_client_create(listen->places, on_evict, client);
	list_append(&listen->clients, &client->link);
	listen->count++;
	if (listen->most < listen->count)
		listen->most = listen->count;
	if (listen->options.token)
		client->gate = token_gate_create(listen->options.loop, fd, listen->options.token, on_gate_done, client);
	else
		serve(client, fd);
}

/* Checks the address: a remote one needs a token, because a client can run commands. No connection is accepted
 * before the loop runs. */
static int check_address(const struct proto_listen *listen, const char *address, struct error *err)
{
	if (str_has_prefix(str_of(address), "ws://"))
		return error_set(err, ERR_usage, "%s: codex proto serves lines: use unix://PATH or tcp://IP:PORT",
		                 address);
	if (!listen->options.token && !transport_listener_is_local(address))
		return error_set(err, ERR_usage,
		                 "%s: other machines can reach this address and run commands: add "
		                 "--token-file FILE, or listen on tcp://127.0.0.1:PORT",
		                 address);
	return 0;
}

struct proto_listen *proto_listen_create(const struct proto_options *options, const char *address, struct error *err)
{
	struct proto_listen *listen = xnew(struct proto_listen);
	listen->options = *options;
	list_init(&listen->clients);
	listen->places = pending_clients_create(LIMIT_PROTO_CLIENTS);
	loop_deferred_init(&listen->sweep, options->loop, on_sweep, listen);
	listen->listener = transport_listener_create(options->loop, address, on_connect, listen, err);
	if (listen->listener && check_address(listen, address, err) == 0)
		return listen;
	proto_listen_destroy(listen);
	return NULL;
}

const char *proto_listen_address(const struct proto_listen *listen)
{
	return transport_listener_address(listen->listener);
}

void proto_listen_shut_down(struct proto_listen *listen)
{
	struct client *it;
	transport_listener_destroy(steal(listen->listener));
	list_for_each(it, &listen->clients, link) {
		if (it->server)
			proto_server_shut_down(it->server);
		else
			it->has_ended = true;
	}
	loop_defer(&listen->sweep);
}

void proto_listen_destroy(struct proto_listen *listen)
{
	if (!listen)
		return;
	struct client *it;
	transport_listener_destroy(listen->listener);
	list_for_each(it, &listen->clients, link)
		client_destroy(it);
	pending_clients_destroy(listen->places);
	loop_deferred_finish(&listen->sweep);
	free(listen);
}
