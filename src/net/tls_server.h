/* tls_server.h — the server's side of TLS 1.2 and 1.3, between the bytes of a socket and plain text.
 *
 * OpenSSL is loaded when a server is created. Offers HTTP/2 and HTTP/1.1 to clients that negotiate (ALPN). Sessions are
 * not resumed, and renegotiation is refused. Owns nothing outside of its objects: the caller has the socket. Loop
 * thread only. */
#ifndef NET_TLS_SERVER_H
#define NET_TLS_SERVER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct tls;
struct tls_server;

struct tls_files {
	const char *certificate; /* PEM: the server's certificate, then those that sign it */
	const char *key;         /* PEM, without a passphrase */
	const char *client_ca;   /* PEM: clients must have a certificate that it signs; NULL: they need none */
};

/* NULL and err if a file cannot be used, or OpenSSL is missing (ERR_unsupported). */
must_check struct tls_server *tls_server_create(const struct tls_files *files, struct error *err);
void tls_server_destroy(struct tls_server *server); /* after its connections; NULL is fine */

enum tls_state {
	TLS_OPEN,
	TLS_ENDED,  /* the client has announced its end */
	TLS_BROKEN, /* the client does not speak TLS, or is refused: send what is in `out`, then close */
};

/* The client's side of connections to one kind of server: shows no certificate, and requires one that a known authority
 * has signed for the host. ca_file: PEM; NULL: the authorities of the system. */
must_check struct tls_server *tls_client_create(const char *ca_file, struct error *err);
/* Creates the client's side of a connection to a host, a name or an address, and appends its first message. */
struct tls *tls_dial(struct tls_server *client, const char *host, struct buf *out);
/* True when text may be sent. */
bool tls_is_ready(const struct tls *tls);

/* A connection of the server. */
struct tls *tls_create(struct tls_server *server);
/* Takes bytes of the socket. Appends the text to *plain and what must be sent to *out. */
enum tls_state tls_receive(struct tls *tls, struct str bytes, struct buf *plain, struct buf *out);
/* Appends to *out what must be sent for a text, of which the client has sent something before. */
void tls_send(struct tls *tls, struct str plain, struct buf *out);
/* Appends the announcement of the end. */
void tls_close(struct tls *tls, struct buf *out);
void tls_destroy(struct tls *tls); /* NULL is fine */

#endif
