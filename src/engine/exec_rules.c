/* Files are small and few, and reading them is what the first command of a session waits for, once. What the user
 * allows for good is appended as one line in one write, so that two engines at once do not tear each other's. */
#include "engine/exec_rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "process/exec_policy.h"

struct reading {
	struct exec_policy *policy;
	exec_rules_warn_fn on_warning;
	void *self;
};

static int is_rules_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && str_has_suffix(str_of(entry->d_name), ".rules");
}

static void read_file(const struct reading *reading, const char *path)
{
	struct error err;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RULES_FILE);
	if (file_read_regular(path, &text, &err) != 0)
		error_wrap(&err, "%s", path);
	else if (exec_policy_add(reading->policy, buf_str(&text), path, &err) == 0)
		return;
	error_wrap(&err, "rules about commands are left out");
	reading->on_warning(err.text, reading->self);
}

static void read_folder(const struct reading *reading, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_rules_file, alphasort);
	for (int i = 0; i < count; i++) {
		auto_free char *path = path_join(folder, entries[i]->d_name);
		read_file(reading, path);
		free(entries[i]);
	}
	free(entries);
}

const struct exec_policy *exec_rules_get(struct exec_rules *rules, const struct config *config,
                                         exec_rules_warn_fn on_warning, void *self)
{
	if (rules->policy)
		return rules->policy;
	size_t count;
	const char *const *folders = config_folders(config, &count);
	rules->policy = exec_policy_create();
	struct reading reading = {rules->policy, on_warning, self};
	for (size_t i = 0; i < count; i++) {
		auto_free char *folder = path_join(folders[i], "rules");
		read_folder(&reading, folder);
	}
	return rules->policy;
}

static bool breaks_off(int fd)
{
	char last;
	off_t size = lseek(fd, 0, SEEK_END);
	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

/* text begins with a line's end, for a file that somebody left without one: two rules in a line would be none. */
static int append_line(const char *path, struct str text, struct error *err)
{
	auto_close int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "%s", path);
	if (!breaks_off(fd))
		text = str_skip(text, 1);
	return fd_write_all(fd, text.ptr, text.len, err);
}

int exec_rules_amend(struct exec_rules *rules, const struct config *config, const struct str *words, size_t count,
                     struct error *err)
{
	if (count == 0)
		return 0;
	auto_buf struct buf line;
	buf_init(&line, LIMIT_RULES_FILE);
	buf_append_char(&line, '\n');
	exec_policy_write_allow(&line, words, count);
	if (line.over || memchr(buf_str(&line).ptr, '\0', buf_str(&line).len)) /* it would spoil the whole file */
		return error_set(err, ERR_invalid, "these words cannot be written as a rule");
	exec_policy_allow(rules->policy, words, count);
	auto_free char *folder = path_join(config_home(config), "rules");
	auto_free char *path = path_join(folder, "default.rules");
	if (dir_make(folder, 0700, err) != 0)
		return -(int)err->code;
	return append_line(path, buf_str(&line), err);
}

void exec_rules_finish(struct exec_rules *rules)
{
	exec_policy_destroy(rules->policy);
	rules->policy = NULL;
}
