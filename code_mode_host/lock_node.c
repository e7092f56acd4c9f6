/* A library that locks the process that loads it: node has no other way to install a filter. */
#include <stdlib.h>
#include <unistd.h>

#include "host_lock.h"

static void __attribute__((constructor)) lock(void)
{
	if (!host_lock())
		_exit(4);
}
