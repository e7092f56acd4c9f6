/* A library that locks the process that loads it: node has no other way to install a filter. It is linked so that it
 * stays when node, to which it is no module, closes it. */
#include <stdlib.h>
#include <unistd.h>

#include "host_crash.h"
#include "host_lock.h"

static void __attribute__((constructor)) lock(void)
{
	host_crash_init();
	if (!host_lock())
		_exit(4);
}
