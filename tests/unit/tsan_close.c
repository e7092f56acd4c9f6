/* libuv closes descriptors with syscall(SYS_close), which ThreadSanitizer does not intercept: to it the descriptor
 * stays open, and the next one of that number, in another thread, looks like a data race. This syscall() takes the
 * place of libc's for the program and its libraries, and closes with close(), which ThreadSanitizer intercepts. */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*_Atomic libc_syscall)(long number, ...);
	long args[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_close)
		return close((int)args[0]);
	if (!libc_syscall)
		libc_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return libc_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
