/* host_lock.h — takes from this process all that a script does not need. */
#ifndef CODE_MODE_HOST_LOCK_H
#define CODE_MODE_HOST_LOCK_H

#include <stdbool.h>

enum { HOST_MEMORY_MAX = 256 * 1024 * 1024 };
#define HOST_NO_MEMORY "RangeError: out of memory: a script may use 256 MB"

/* Limits of CPU time, files and priority. To be called before the engine is loaded. */
void host_lock_limits(void);
/* Limits further memory to HOST_MEMORY_MAX. Then forbids all system calls but those on memory, time, threads of this
 * process and open descriptors, for all its threads. False: the system cannot do that; the script must not run. */
bool host_lock(void);

#endif
