/* stand_in.h — opens libcurl without libraries that it is linked to and never uses in this program.
 *
 * On Debian 12 these are six of its thirteen libraries: those for LDAP, RTMP, SSH, Kerberos and public suffixes. With
 * their own they are half of the time and of the memory that loading libcurl takes. Before it is loaded, an object with
 * the name of each such library and the symbols that libcurl takes from it is loaded from memory; the dynamic linker
 * takes it for the library. Everything else, and every machine on which one step fails, loads the libraries.
 *
 * The objects keep their names until the process ends, so only a program may do this, not a library: its user may use
 * LDAP. Thread: stand_in_allow before other threads exist; stand_in_open any, one at a time. */
#ifndef BASE_STAND_IN_H
#define BASE_STAND_IN_H

#include <stdbool.h>

/* Called by a program that uses none of the libraries of stand_in.def, before it loads libraries. Nothing is left out
 * if the file (NSSWITCH_FILE) names modules that may use one of them. The path is kept. */
void stand_in_allow(const char *nsswitch);

/* As dlopen(file, RTLD_LAZY | RTLD_LOCAL) for the library with this name in the folder of the C library, or NULL if
 * that is not allowed or not possible; nothing is loaded then. */
void *stand_in_open(const char *file);

/* libcurl starts OpenSSL when it is initialised, which takes 0.7 ms and 2 MB. If it was opened by stand_in_open, this
 * function does so instead, with libcurl's options; OpenSSL starts itself with its defaults if a connection precedes
 * it. False if OpenSSL does not start, as its error says then.
 */
bool stand_in_start_tls(void);

#endif
