/* proto_server.h — one client of the raw queues: lines of Submissions in, lines of Events out.
 *
 * Owns: its Codex and its transport. Borrows: loop, services. Loop thread only.
 * A line that is no submission is a note on standard error and no event. At a socket, a first line that is no JSON
 * object and any line that could belong to an HTTP message end the connection instead, before anything after it is
 * carried out. When the client has said all (end of file), a running Task goes on to its end unless it waits for an
 * answer that can no longer come; then, or when the
 * client is gone, follows the same as after Op shutdown. Source: protocol-v1 1. */
#ifndef SERVER_PROTO_SERVER_H
#define SERVER_PROTO_SERVER_H

#include <stdbool.h>

struct config;
struct error;
struct loop;
struct proto_server;
struct services;

struct proto_options {
	struct loop *loop;
	struct services *services;
	struct config *config; /* a reference is taken */
	const char *cwd;
	int in, out; /* descriptors of the client, the server's from then on */
	bool no_auto_configure; /* the client sends configure_session itself */
	bool is_socket;         /* the client came to a listener: who it is, is not known */
	void (*on_heard)(void *self); /* its first line has been read, and is an object; NULL: nobody asks */
	const char *token;      /* what a client of proto_listen must show first; borrowed; NULL: nothing */
	const char *resume_path; /* the session that is configured goes on with this rollout; NULL: a new one */
	/* Runs once, when the Codex has shut down and all is sent or queued. Destroy the server then. */
	void (*on_end)(void *self);
	void *self;
};

/* NULL and err if the descriptors cannot be used. */
struct proto_server *proto_server_create(const struct proto_options *options, struct error *err);
/* As if the client had sent shutdown. */
void proto_server_shut_down(struct proto_server *server);
void proto_server_destroy(struct proto_server *server); /* NULL is fine */

#endif
