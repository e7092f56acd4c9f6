/* gnutls.h — keeps GnuTLS from initializing itself.
 *
 * libcurl loads GnuTLS as a dependency of protocols that this program does not use. GnuTLS initializes itself when it
 * is loaded, which takes 0.6 ms and 1 MB, unless the program defines this function (GNUTLS_SKIP_GLOBAL_INIT of its
 * manual). A libcurl that uses GnuTLS for TLS initializes it explicitly. The library does not do this, because its
 * users may need GnuTLS. Included once by each program. */
#ifndef MAIN_GNUTLS_H
#define MAIN_GNUTLS_H

#pragma GCC visibility push(default)
int on_gnutls_load(void) __asm__("_gnutls_global_init_skip");
#pragma GCC visibility pop

int on_gnutls_load(void)
{
	return 1;
}

#endif
