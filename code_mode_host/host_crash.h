/* host_crash.h — the end of a script that the JavaScript engine cannot continue. */
#ifndef CODE_MODE_HOST_CRASH_H
#define CODE_MODE_HOST_CRASH_H

/* Ends the script with this error, and the process with a status that is not 0. Uses no memory. */
void host_fail(const char *error) __attribute__((noreturn));
/* Reports a crash of the engine as the end of the script: engines crash where memory runs out. */
void host_crash_init(void);

#endif
