/* host.h — calls that each operating system has in another form; host.c has those of Linux.
 *
 * Any thread. Descriptors are owned by the caller and close-on-exec. Functions that return int or bool leave the reason
 * of a failure in errno. docs/porting.md lists the other files that only Linux compiles. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

void host_random(void *ret, size_t len); /* unpredictable bytes; cannot fail */

/* ---- descriptors ---- */

int host_pipe(int ret_ends[2]);                      /* 0, or -1 */
int host_socket(int family, int type, int protocol); /* blocking; or -1 */
int host_socket_nonblocking(int family, int type);   /* or -1 */
int host_accept(int listener);                       /* a connection, non-blocking; or -1 */
bool host_peer_pid(int fd, pid_t *ret);              /* the process at the other end of a Unix socket */
bool host_peer_is_own(int fd);                       /* that process has this user, and no more confinement than this */
void host_close_on_exec(int first);                  /* for this descriptor and all above it */
bool host_fd_path(int fd, char *ret, size_t ret_size); /* the path of an open file, which may have moved */

/* ---- files ---- */

struct host_status {
	mode_t mode;
	int64_t created_ms; /* 0: the file system does not record it */
	int64_t changed_ms;
};
int host_status_read(const char *path, bool follows_links, struct host_status *ret); /* 0, or -1 */

/* Renames unless there is a file at `to` (EEXIST). 0, or -1; EINVAL or ENOSYS: the file system cannot do this. */
int host_rename_new(const char *from, const char *to);
bool host_is_proc_file(int fd); /* its content is about processes, not data of a disk */
bool host_is_local(long type);  /* only this machine writes to file systems of this f_type */

/* ---- this process ---- */

/* Returns the path by which this program can be executed, even after its file was replaced. */
const char *host_program(void);
/* Returns the path of the program's file; " (deleted)" is added if it was replaced. False: the path is unknown. */
bool host_program_path(char *ret, size_t ret_size);
bool host_memory(int64_t *ret_bytes); /* resident */
void host_adopt_orphans(void);        /* descendants whose parent has ended become children of this process */
bool host_has_proc(void);             /* /proc is mounted */
/* True in a chroot whose root is not a mount point: user name spaces are forbidden there. */
bool host_is_chroot(void);

/* ---- the process ---- */

/* Makes sure that no file that is opened later gets the descriptor of a standard stream. First of all in main. */
void host_keep_standard_streams(void);
void host_configure_memory(void);

#endif
