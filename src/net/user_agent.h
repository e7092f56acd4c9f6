/* user_agent.h — the User-Agent header: "codex_exec/0.1.0 (Debian 12.0.0; x86_64) xterm-256color".
 *
 * Owns: nothing. Thread: any. Each call reads /etc/os-release: call it when a request needs it, and keep the result. */
#ifndef NET_USER_AGENT_H
#define NET_USER_AGENT_H

#include "base/buf.h"
#include "base/str.h"

struct user_agent {
	struct str originator; /* the front end: codex_exec, codex_cli_rs, … */
	struct str version;    /* the engine's version */
	struct str terminal;   /* absent: "unknown" is written */
	struct str client;     /* the program that uses the engine; may be absent */
	struct str client_version;
	const char *os_release_file; /* the file that names the system; NULL: /etc/os-release */
};

/* Appends the value; bytes that a header cannot hold become "_". */
void user_agent_write(struct buf *out, const struct user_agent *agent);

#endif
