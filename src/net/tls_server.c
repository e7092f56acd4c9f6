/* OpenSSL reads from and writes to memory, so that the loop alone has the socket. */
#include "net/tls_server.h"

#include <stdint.h>

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"

static struct openssl {
#define TLS(result, name, parameters) result(*name) parameters;
#include "net/tls_server.def"
#undef TLS
} openssl;

static const char *const names[] = {
#define TLS(result, name, parameters) #name,
#include "net/tls_server.def"
#undef TLS
};

LIBRARY(libssl, openssl, names, LIBRARY_ROW(libssl), .purpose = "OpenSSL, which implements https://");

/* Constants of OpenSSL's interface. */
enum {
	PEM = 1,
	VERIFY_PEER = 1,
	VERIFY = 1 | 2 /* a certificate must be shown */,
	ALERT_FATAL = 2,
	NEGOTIATED = 1,
	ERROR_WANT_READ = 2,
	ERROR_ENDED = 6
};
enum {
	CTRL_MODE = 33,
	MODE_RELEASE_BUFFERS = 0x10,
	CTRL_CACHE_MODE = 44,
	CACHE_OFF = 0,
	CTRL_MIN_VERSION = 123,
	VERSION_1_2 = 0x0303,
	CTRL_SERVER_NAME = 55
};
static const uint64_t no_ticket = 1U << 14, no_renegotiation = 1U << 30;

enum { CHUNK = 16 * KIB }; /* the longest record */

struct tls_server {
	void *context;
};

struct tls {
	void *ssl;
	void *in, *out; /* owned by ssl */
	bool is_broken;
};

/* ---- the server ---- */

static int ask_no_passphrase(char *to, int size, int is_write, void *self)
{
	(void)to, (void)size, (void)is_write, (void)self;
	return -1;
}

static int select_protocol(void *ssl, const unsigned char **ret, unsigned char *ret_len, const unsigned char *offered,
                           unsigned offered_len, void *self)
{
	static const unsigned char known[] = "\x02h2\x08http/1.1";
	unsigned char *chosen;
	(void)ssl, (void)self;
	int result = openssl.SSL_select_next_proto(&chosen, ret_len, known, sizeof(known) - 1, offered, offered_len);
	*ret = chosen;
	return result == NEGOTIATED ? 0 : ALERT_FATAL;
}

static int fail(struct error *err, const char *file)
{
	char reason[160];
	openssl.ERR_error_string_n(openssl.ERR_get_error(), reason, sizeof(reason));
	openssl.ERR_clear_error();
	return error_set(err, ERR_invalid, "cannot use %s: %s", file, reason);
}

static int read_files(void *context, const struct tls_files *files, struct error *err)
{
	if (openssl.SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
		return fail(err, files->certificate);
	if (openssl.SSL_CTX_use_PrivateKey_file(context, files->key, PEM) != 1)
		return fail(err, files->key);
	if (openssl.SSL_CTX_check_private_key(context) != 1)
		return fail(err, files->key);
	if (!files->client_ca)
		return 0;
	void *authorities = openssl.SSL_load_client_CA_file(files->client_ca);
	if (!authorities || openssl.SSL_CTX_load_verify_locations(context, files->client_ca, NULL) != 1)
		return fail(err, files->client_ca);
	openssl.SSL_CTX_set_client_CA_list(context, authorities);
	openssl.SSL_CTX_set_verify(context, VERIFY, NULL);
	return 0;
}

static void configure(void *context)
{
	openssl.SSL_CTX_ctrl(context, CTRL_MIN_VERSION, VERSION_1_2, NULL);
	openssl.SSL_CTX_ctrl(context, CTRL_MODE, MODE_RELEASE_BUFFERS, NULL);
	openssl.SSL_CTX_ctrl(context, CTRL_CACHE_MODE, CACHE_OFF, NULL);
	openssl.SSL_CTX_set_options(context, no_ticket | no_renegotiation);
	openssl.SSL_CTX_set_num_tickets(context, 0);
	openssl.SSL_CTX_set_default_passwd_cb(context, ask_no_passphrase);
	openssl.SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
}

struct tls_server *tls_server_create(const struct tls_files *files, struct error *err)
{
	if (library_load(&libssl, err) != 0)
		return NULL;
	openssl.ERR_clear_error();
	void *context = openssl.SSL_CTX_new(openssl.TLS_server_method());
	if (!context) {
		fail(err, "OpenSSL");
		return NULL;
	}
	struct tls_server *server = xnew(struct tls_server);
	server->context = context;
	configure(context);
	if (read_files(context, files, err) == 0)
		return server;
	tls_server_destroy(server);
	return NULL;
}

struct tls_server *tls_client_create(const char *ca_file, struct error *err)
{
	if (library_load(&libssl, err) != 0)
		return NULL;
	openssl.ERR_clear_error();
	void *context = openssl.SSL_CTX_new(openssl.TLS_client_method());
	int is_read = !context  ? 0
	              : ca_file ? openssl.SSL_CTX_load_verify_locations(context, ca_file, NULL)
	                        : openssl.SSL_CTX_set_default_verify_paths(context);
	if (is_read != 1) {
		fail(err, ca_file ? ca_file : "OpenSSL");
		openssl.SSL_CTX_free(context);
		return NULL;
	}
	struct tls_server *client = xnew(struct tls_server);
	client->context = context;
	openssl.SSL_CTX_ctrl(context, CTRL_MIN_VERSION, VERSION_1_2, NULL);
	openssl.SSL_CTX_ctrl(context, CTRL_MODE, MODE_RELEASE_BUFFERS, NULL);
	openssl.SSL_CTX_set_verify(context, VERIFY_PEER, NULL);
	return client;
}

void tls_server_destroy(struct tls_server *server)
{
	if (!server)
		return;
	openssl.SSL_CTX_free(server->context);
	free(server);
}

/* ---- a connection ---- */

static struct tls *create(struct tls_server *server)
{
	struct tls *tls = xnew(struct tls);
	tls->ssl = openssl.SSL_new(server->context);
	tls->in = openssl.BIO_new(openssl.BIO_s_mem());
	tls->out = openssl.BIO_new(openssl.BIO_s_mem());
	tls->is_broken = !tls->ssl || !tls->in || !tls->out;
	if (!tls->is_broken)
		openssl.SSL_set_bio(tls->ssl, tls->in, tls->out);
	return tls;
}

struct tls *tls_create(struct tls_server *server)
{
	struct tls *tls = create(server);
	if (!tls->is_broken)
		openssl.SSL_set_accept_state(tls->ssl);
	return tls;
}

static void take_output(struct tls *tls, struct buf *out)
{
	for (;;) {
		char *to = buf_reserve(out, CHUNK);
		int len = to ? openssl.BIO_read(tls->out, to, CHUNK) : 0;
		if (len <= 0)
			return;
		out->len += (size_t)len;
	}
}

struct tls *tls_dial(struct tls_server *client, const char *host, struct buf *out)
{
	struct tls *tls = create(client);
	if (tls->is_broken)
		return tls;
	if (openssl.X509_VERIFY_PARAM_set1_ip_asc(openssl.SSL_get0_param(tls->ssl), host) != 1) {
		openssl.SSL_ctrl(tls->ssl, CTRL_SERVER_NAME, 0, (void *)(uintptr_t)host);
		tls->is_broken = openssl.SSL_set1_host(tls->ssl, host) != 1;
	}
	openssl.SSL_set_connect_state(tls->ssl);
	openssl.ERR_clear_error();
	openssl.SSL_do_handshake(tls->ssl);
	take_output(tls, out);
	return tls;
}

bool tls_is_ready(const struct tls *tls)
{
	return !tls->is_broken && openssl.SSL_is_init_finished(tls->ssl);
}

enum tls_state tls_receive(struct tls *tls, struct str bytes, struct buf *plain, struct buf *out)
{
	int len;
	if (tls->is_broken)
		return TLS_BROKEN;
	openssl.ERR_clear_error();
	openssl.BIO_write(tls->in, bytes.ptr, (int)bytes.len);
	do {
		char *to = buf_reserve(plain, CHUNK);
		len = to ? openssl.SSL_read(tls->ssl, to, CHUNK) : 0;
		plain->len += len > 0 ? (size_t)len : 0;
	} while (len > 0);
	int error = openssl.SSL_get_error(tls->ssl, len);
	take_output(tls, out);
	tls->is_broken = plain->over || (error != ERROR_WANT_READ && error != ERROR_ENDED);
	return tls->is_broken ? TLS_BROKEN : error == ERROR_ENDED ? TLS_ENDED : TLS_OPEN;
}

void tls_send(struct tls *tls, struct str plain, struct buf *out)
{
	while (plain.len && !tls->is_broken) {
		size_t len = plain.len < CHUNK ? plain.len : CHUNK;
		openssl.ERR_clear_error();
		tls->is_broken = openssl.SSL_write(tls->ssl, plain.ptr, (int)len) != (int)len;
		plain = str_skip(plain, len);
	}
	take_output(tls, out);
}

void tls_close(struct tls *tls, struct buf *out)
{
	if (!tls->is_broken)
		openssl.SSL_shutdown(tls->ssl);
	openssl.ERR_clear_error();
	take_output(tls, out);
}

void tls_destroy(struct tls *tls)
{
	if (!tls)
		return;
	openssl.SSL_free(tls->ssl);
	free(tls);
}
