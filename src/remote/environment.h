/* environment.h — a machine on which commands can run in place of this one: the address of its exec-server.
 *
 * It is immutable, except for the shell, which its server reports. Reference-counted. Borrows: loop and HTTP client.
 * Loop thread only. */
#ifndef REMOTE_ENVIRONMENT_H
#define REMOTE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "sandbox/command_run.h"

struct environment;
struct http_client;
struct loop;

#define ENVIRONMENT_LOCAL "local" /* the id of this machine, which is no such environment */

/* Called when a connection to an environment was resumed, or when that was given up. */
struct environment_watcher {
	void (*on_change)(const struct environment *environment, bool is_connected, void *self); /* NULL: none */
	void *self;
};

struct environment {
	/* read-only */
	const struct environment_watcher *watcher; /* of environments.c; NULL: none */
	struct command_place place;                /* for commands; set by environments.c */
	struct list *leaving;                      /* commands that are being ended; of environments.c */
	uint64_t number; /* of its registration, which the id alone does not identify; 0: not registered */
	struct loop *loop;
	struct http_client *http;
	struct str id;
	struct str name; /* the URL for messages: without user name, password and query */
	char *url;       /* http:// or https://; NULL: it is not registered, and commands are refused */
	struct str headers[2];
	size_t header_count;
	uint64_t connect_timeout_ms;
	char shell[64];  /* the shell of commands there; /bin/sh until the server has reported another */
	bool is_fenced;  /* the server has shown that it has a sandbox; set by those that ask it */
	size_t resuming; /* links that are being opened again; of exec_link.c */
	/* private */
	bool is_gone; /* no link could be opened again, and none has been opened since */
	int refs;
};

/* A machine on which commands can run, and their folder there. */
struct environment_place {
	struct environment *environment; /* NULL: this machine */
	struct str cwd;
};

/* Returns the id of an environment; NULL: that of this machine. */
static inline struct str environment_id(const struct environment *environment)
{
	return environment ? environment->id : STR(ENVIRONMENT_LOCAL);
}

/* The words of a registration, borrowed. */
struct environment_words {
	struct str id, url;
	struct str token;      /* for Authorization: Bearer; may be empty */
	struct str request_id; /* for X-Request-Id; may be empty */
	uint64_t connect_timeout_ms;
};

/* Copies the words. ERR_invalid: one is unusable; ERR_limit: one is longer than LIMIT_ENVIRONMENT_TEXT. */
must_check struct environment *environment_create(struct loop *loop, struct http_client *http,
                                                  const struct environment_words *words, struct error *err);
/* Creates one that only has its id, of at most LIMIT_ENVIRONMENT_TEXT bytes. */
struct environment *environment_create_absent(struct loop *loop, struct str id);
struct environment *environment_ref(struct environment *environment);
void environment_unref(struct environment *environment);

/* A link was opened, or again: the last of those that were lost notifies the watcher. */
void environment_reach(struct environment *environment, bool is_again);
/* A link could not be opened again. The first one notifies the watcher. */
void environment_lose(struct environment *environment);

/* Takes over the shell that the server reports, if it is one whose command lines are understood here. */
void environment_set_shell(struct environment *environment, struct str path);

#endif
