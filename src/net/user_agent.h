/* user_agent.h — who we say we are: "codex_exec/0.1.0 (Debian 12.0.0; x86_64) xterm-256color".
 *
 * Owns: nothing. Thread: any. Reads /etc/os-release when asked, so ask when a request needs it, and keep the answer.
 * Source: core 1.1. */
#ifndef NET_USER_AGENT_H
#define NET_USER_AGENT_H

#include "base/buf.h"
#include "base/str.h"

struct user_agent {
	struct str originator; /* the front end: codex_exec, codex_cli_rs, … */
	struct str version;    /* ours */
	struct str terminal;   /* absent: "unknown" */
	struct str client;     /* the program that drives us; may be absent */
	struct str client_version;
	const char *os_release_file; /* names the system; NULL: /etc/os-release */
};

/* Appends the header's value; bytes that a header cannot hold become "_". */
void user_agent_write(struct buf *out, const struct user_agent *agent);

#endif
