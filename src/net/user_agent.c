/* /etc/os-release is read directly: running lsb_release, as codex 0.169 does, starts eight processes. */
#include "net/user_agent.h"

#include <sys/utsname.h>

#include "base/file.h"
#include "base/limits.h"

/* Returns the value of KEY=value or KEY="value"; STR_NONE if absent. */
static struct str os_release_get(struct str text, const char *key)
{
	struct str line;
	while (str_next_line(&text, &line)) {
		if (!str_cut_prefix(&line, key) || !str_cut_prefix(&line, "="))
			continue;
		line = str_trim(line);
		if (line.len >= 2 && (line.ptr[0] == '"' || line.ptr[0] == '\'') &&
		    line.ptr[line.len - 1] == line.ptr[0])
			line = str_n(line.ptr + 1, line.len - 2);
		return line;
	}
	return STR_NONE;
}

/* Writes "12" as "12.0.0", because readers of this header expect three numbers. */
static void write_version(struct buf *out, struct str version)
{
	size_t dots = 0;
	for (size_t i = 0; i < version.len; i++)
		dots += version.ptr[i] == '.';
	buf_append_str(out, version);
	for (; dots < 2; dots++)
		buf_append_c(out, ".0");
}

static void write_os(struct buf *out, struct str os_release)
{
	struct str name = os_release_get(os_release, "NAME"), version = os_release_get(os_release, "VERSION_ID");
	ptrdiff_t suffix = str_find(name, STR(" GNU/Linux"));
	if (suffix > 0)
		name.len = (size_t)suffix;
	buf_append_str(out, name.len ? name : STR("Linux"));
	if (!version.len)
		return;
	buf_append_char(out, ' ');
	write_version(out, version);
}

static void write_system(struct buf *out, const char *os_release_file)
{
	auto_buf struct buf os_release;
	struct utsname machine;
	buf_init(&os_release, LIMIT_OS_RELEASE);
	if (file_read(os_release_file ? os_release_file : "/etc/os-release", &os_release, NULL) < 0)
		buf_clear(&os_release);
	write_os(out, buf_str(&os_release));
	buf_printf(out, "; %s", uname(&machine) == 0 ? machine.machine : "unknown");
}

static void make_sendable(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '_';
	}
}

void user_agent_write(struct buf *out, const struct user_agent *agent)
{
	size_t start = out->len;
	buf_append_str(out, agent->originator);
	buf_append_char(out, '/');
	buf_append_str(out, agent->version);
	buf_append_c(out, " (");
	write_system(out, agent->os_release_file);
	buf_append_c(out, ") ");
	buf_append_str(out, agent->terminal.len ? agent->terminal : STR("unknown"));
	if (agent->client.len) {
		buf_append_c(out, " (");
		buf_append_str(out, agent->client);
		buf_append_c(out, "; ");
		buf_append_str(out, agent->client_version);
		buf_append_char(out, ')');
	}
	make_sendable(out->data + start, out->len - start);
}
