/* raw_syscall.h — system calls that touch no memory of this process, not even errno.
 *
 * For a child that shares our memory and runs beside us (spawn.c): errno, and what sanitizers keep of a thread, belong
 * to the thread that made it. Returns a result, or an error number below zero. Thread: any one.
 * Not every machine has it: HAS_RAW_SYSCALL is 0 then, and a child needs memory of its own. */
#ifndef PROCESS_RAW_SYSCALL_H
#define PROCESS_RAW_SYSCALL_H

#include <sys/syscall.h>

#define RAW_CODE __attribute__((no_sanitize("address", "undefined", "thread")))

/* ThreadSanitizer follows every clone as if it had memory of its own. */
#if defined(__SANITIZE_THREAD__) || !(defined(__x86_64__) || defined(__aarch64__))
#define HAS_RAW_SYSCALL 0
#else
#define HAS_RAW_SYSCALL 1
#endif

#if defined(__x86_64__)
RAW_CODE static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	long result;
	register long fourth __asm__("r10") = d;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
	                 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
RAW_CODE static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	register long call __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(first) : "r"(call), "r"(second), "r"(third), "r"(fourth) : "memory", "cc");
	return first;
}
#else
#include <errno.h>
#include <unistd.h>
static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	long result = syscall(number, a, b, c, d);
	return result < 0 ? -errno : result;
}
#endif

#endif
