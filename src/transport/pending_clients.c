/* The kernel gives each new descriptor the lowest free number, so a high number means that the lower ones are in
 * use, and the process's descriptors need not be counted. For this to stay true, a connection with a high number
 * moves to the number that an evicted connection has freed. */
#include "transport/pending_clients.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"

struct pending_clients {
	struct list pending; /* in the order of arrival */
	size_t open;         /* pending or admitted */
	size_t limit;
	bool is_destroyed; /* destroyed by its owner; freed after the last client has ended */
};

struct pending_client {
	struct list link;
	struct pending_clients *clients;
	pending_client_evict_fn evict;
	void *self;
};

struct pending_clients *pending_clients_create(size_t limit)
{
	struct pending_clients *clients = xnew(struct pending_clients);
	list_init(&clients->pending);
	clients->limit = limit;
	return clients;
}

static void free_unused(struct pending_clients *clients)
{
	if (clients->is_destroyed && !clients->open)
		free(clients);
}

void pending_clients_destroy(struct pending_clients *clients)
{
	if (!clients)
		return;
	clients->is_destroyed = true;
	free_unused(clients);
}

/* True if a descriptor with this number leaves fewer than the reserve for other uses. */
static bool is_reserved(int fd)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	rlim_t reserve = limit.rlim_cur / 4;
	if (reserve > LIMIT_RESERVED_DESCRIPTORS)
		reserve = LIMIT_RESERVED_DESCRIPTORS;
	return (rlim_t)fd >= limit.rlim_cur - reserve;
}

static int move_down(int fd)
{
	int lower = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (lower < 0 || lower > fd) {
		if (lower >= 0)
			close(lower);
		return fd;
	}
	close(fd);
	return lower;
}

int pending_clients_make_room(struct pending_clients *clients, int fd)
{
	struct pending_client *oldest;
	while (clients->open >= clients->limit || is_reserved(fd)) {
		oldest = list_first(&clients->pending, struct pending_client, link);
		if (!oldest) {
			close(fd);
			return -1;
		}
		oldest->evict(oldest->self);
		fd = move_down(fd);
	}
	return fd;
}

struct pending_client *pending_client_create(struct pending_clients *clients, pending_client_evict_fn evict, void *self)
{
	struct pending_client *client = xnew(struct pending_client);
	client->clients = clients;
	pending_client_hand_over(client, evict, self);
	list_append(&clients->pending, &client->link);
	clients->open++;
	return client;
}

void pending_client_hand_over(struct pending_client *client, pending_client_evict_fn evict, void *self)
{
	client->evict = evict;
	client->self = self;
}

void pending_client_admit(struct pending_client *client)
{
	if (client)
		list_remove(&client->link);
}

void pending_client_destroy(struct pending_client *client)
{
	if (!client)
		return;
	list_remove(&client->link);
	client->clients->open--;
	free_unused(client->clients);
	free(client);
}
