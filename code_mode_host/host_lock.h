/* host_lock.h — takes from this process all that a script does not need. */
#ifndef CODE_MODE_HOST_LOCK_H
#define CODE_MODE_HOST_LOCK_H

#include <stdbool.h>

enum { HOST_MEMORY_MAX = 256 * 1024 * 1024 };

/* Limits of CPU time, files and priority. To be called before the engine is loaded. */
void host_lock_limits(void);
/* Limits memory, for engines that do not reserve more than they use. */
void host_lock_memory(void);
/* Forbids all system calls but those on memory, time, threads of this process and open descriptors, for all its
 * threads. False: the kernel has no filter; the script must not run. */
bool host_lock(void);

#endif
