/* A client's server ends inside a call from itself, so it is only marked there and destroyed in the next round. */
#include "server/proto_listen.h"

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "transport/transport_listen.h"

struct client {
	struct list link;
	struct proto_listen *listen;
	struct proto_server *server;
	bool has_ended;
};

struct proto_listen {
	struct proto_options options;
	struct transport_listener *listener; /* NULL once shut down */
	struct list clients;
	size_t count;
	struct loop_deferred sweep; /* destroys what has ended */
	bool was_told;
};

static void client_destroy(struct client *client)
{
	list_remove(&client->link);
	client->listen->count--;
	proto_server_destroy(client->server);
	free(client);
}

static void on_sweep(void *self)
{
	struct proto_listen *listen = self;
	struct client *it;
	list_for_each(it, &listen->clients, link) {
		if (it->has_ended)
			client_destroy(it);
	}
	if (listen->listener || listen->count || listen->was_told)
		return;
	listen->was_told = true;
	listen->options.on_end(listen->options.self);
}

static void on_client_end(void *self)
{
	struct client *client = self;
	client->has_ended = true;
	loop_defer(&client->listen->sweep);
}

static void on_connect(int fd, void *self)
{
	struct proto_listen *listen = self;
	struct error err;
	int twin = listen->count < LIMIT_PROTO_CLIENTS ? dup(fd) : -1;
	if (twin < 0) {
		close(fd);
		return;
	}
	struct client *client = xnew(struct client);
	struct proto_options options = listen->options;
	client->listen = listen;
	list_append(&listen->clients, &client->link);
	listen->count++;
	options.in = fd;
	options.out = twin;
	options.on_end = on_client_end;
	options.self = client;
	client->server = proto_server_create(&options, &err);
	if (!client->server) {
		fprintf(stderr, "codex proto: a client could not be served: %s\n", err.text);
		client_destroy(client);
	}
}

struct proto_listen *proto_listen_create(const struct proto_options *options, const char *address, struct error *err)
{
	struct proto_listen *listen = xnew(struct proto_listen);
	listen->options = *options;
	list_init(&listen->clients);
	loop_deferred_init(&listen->sweep, options->loop, on_sweep, listen);
	listen->listener = transport_listener_create(options->loop, address, on_connect, listen, err);
	if (listen->listener)
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
	list_for_each(it, &listen->clients, link)
		proto_server_shut_down(it->server);
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
	loop_deferred_finish(&listen->sweep);
	free(listen);
}
