/* process_fds.h — both ends of a command's standard streams, while it starts.
 *
 * Owns: the descriptors, until they are taken out. All close on exec, and none of the engine's ends is below 3: libuv
 * does not accept those, and an engine that was started without its standard streams would get them. Thread: any. */
#ifndef PROCESS_PROCESS_FDS_H
#define PROCESS_PROCESS_FDS_H

struct error;
struct process_spec;

struct process_fds {
	int child[3]; /* become 0, 1 and 2 of the command; may be the same descriptor */
	int ours[3];  /* the engine's ends of these; -1: none */
};

#define PROCESS_FDS_NONE           \
	{                          \
		{-1, -1, -1},      \
		{                  \
			-1, -1, -1 \
		}                  \
	}

/* Opens a terminal of the spec's size, or pipes; /dev/null as input unless spec->stdin_open. *fds must be
 * PROCESS_FDS_NONE; after an error it may be half open. */
int process_fds_open(struct process_fds *fds, const struct process_spec *spec, struct error *err);
void process_fds_finish(struct process_fds *fds);
#define auto_process_fds __attribute__((cleanup(process_fds_finish)))

#endif
