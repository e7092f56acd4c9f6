/* raw_syscall.h — system calls that write to no memory of this process, not even errno.
 *
 * For a child that shares the engine's memory while the engine runs (spawn.c): errno and the state of sanitizers
 * belong to the thread that created the child. Returns the result, or an error number below zero. Thread: any. Where
 * HAS_RAW_SYSCALL is 0 such calls do not exist, and a child needs memory of its own. */
#ifndef PROCESS_RAW_SYSCALL_H
#define PROCESS_RAW_SYSCALL_H

#include <sys/syscall.h>

#define RAW_CODE __attribute__((no_sanitize("address", "undefined", "thread")))

/* ThreadSanitizer treats each clone as if its memory were not shared. */
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
