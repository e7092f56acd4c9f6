/* fleet_admin.h — health and metrics of a worker over HTTP: /healthz, /readyz, /metrics.
 *
 * Owns: its server. Borrows: the worker and the names. Loop thread only. */
#ifndef FLEET_FLEET_ADMIN_H
#define FLEET_FLEET_ADMIN_H

#include <stdint.h>

#include "base/error.h"

struct fleet_admin;
struct fleet_worker;
struct loop;

struct fleet_admin_options {
	struct loop *loop;
	const struct fleet_worker *worker;
	const char *address; /* IP:PORT; port 0: any free one */
	const char *token;   /* NULL: only for a loopback address */
	const char *namespace, *name;
};

must_check struct fleet_admin *fleet_admin_create(const struct fleet_admin_options *options, struct error *err);
/* "http://IP:PORT" */
const char *fleet_admin_address(const struct fleet_admin *admin);
void fleet_admin_destroy(struct fleet_admin *admin); /* NULL is fine */

#endif
