/* Inode, size and change time together detect every way in which editors and programs write a file. */
#include "config/config_stamp.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static void add_file(uint64_t *stamp, const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);
	struct stat info;
	struct {
		uint64_t before, device, inode, size, seconds, nanoseconds;
	} facts = {.before = *stamp};
	if (stat(path, &info) == 0) {
		facts.device = (uint64_t)info.st_dev;
		facts.inode = (uint64_t)info.st_ino;
		facts.size = (uint64_t)info.st_size;
		facts.seconds = (uint64_t)info.st_mtim.tv_sec;
		facts.nanoseconds = (uint64_t)info.st_mtim.tv_nsec;
	}
	*stamp = str_hash(str_n((const char *)&facts, sizeof(facts)));
}

uint64_t config_stamp(const char *home, const char *cwd)
{
	uint64_t stamp = 0;
	auto_free char *dir = xstrdup(cwd);
	add_file(&stamp, "/etc/codex", "config.toml");
	add_file(&stamp, home, "config.toml");
	for (char *end = dir + strlen(dir); end; end = strrchr(dir, '/')) {
		*end = '\0';
		add_file(&stamp, dir[0] ? dir : "/", ".codex/config.toml");
	}
	return stamp;
}
