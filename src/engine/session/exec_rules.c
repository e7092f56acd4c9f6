/* Files of rules are few and small, so they are read on the loop before the first command of a session. A new rule is
 * appended as one line in one write, so that the lines of two engines do not mix. */
#include "engine/session/exec_rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_required.h"
#include "config/config_narrow.h"
#include "command/exec_policy.h"

struct reading {
	struct exec_policy *policy;
	const struct config *config;
	const char *folder; /* the folder that contains the folder of rules */
	exec_rules_warn_fn on_warning;
	void *self;
};

static int is_rules_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && str_has_suffix(str_of(entry->d_name), ".rules");
}

/* Adds a project's file without rules that allow, because a sandboxed command could have written it to escape from
 * the sandbox. */
static int add_strict(const struct reading *reading, struct str text, const char *path, struct error *err)
{
	size_t dropped;
	char hash[CONFIG_HASH_SIZE];
	int status = exec_policy_add_strict(reading->policy, text, path, &dropped, err);
	if (status != 0 || !dropped)
		return status;
	config_content_hash(text, hash);
	auto_free char *project = str_dup(path_dir(reading->folder));
	auto_free char *warning =
		xasprintf("%s: rules that allow commands are ignored in a project's file (%zu); to apply them, add "
	                  "trusted_hashes = [\"%s\"] to [projects.\"%s\"] in %s/config.toml",
	                  path, dropped, hash, project, config_home(reading->config));
	reading->on_warning(warning, reading->self);
	return 0;
}

static void read_file(const struct reading *reading, const char *path)
{
	struct error err;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RULES_FILE);
	int status = file_read_regular(path, &text, &err);
	if (status != 0)
		error_wrap(&err, "%s", path);
	else if (config_trusts_file(reading->config, reading->folder, buf_str(&text)))
		status = exec_policy_add(reading->policy, buf_str(&text), path, &err);
	else
		status = add_strict(reading, buf_str(&text), path, &err);
	if (status == 0)
		return;
	error_wrap(&err, "rules about commands were ignored");
	reading->on_warning(err.text, reading->self);
}

/* Adds the administrator's rules, which were checked when the configuration was loaded. */
static void read_required(const struct reading *reading)
{
	struct error err;
	auto_buf struct buf text;
	const struct config_required *required = config_required(reading->config);
	buf_init(&text, LIMIT_RULES_FILE);
	config_required_write_rules(required, &text);
	if (!text.len)
		return;
	if (!text.over && exec_policy_add(reading->policy, buf_str(&text), required->path, &err) == 0)
		return;
	reading->on_warning(text.over ? "the rules of requirements.toml are too long" : err.text, reading->self);
}

static void read_folder(struct reading *reading, const char *folder)
{
	struct dirent **entries = NULL;
	auto_free char *rules = path_join(folder, "rules");
	int count = scandir(rules, &entries, is_rules_file, alphasort);
	reading->folder = folder;
	for (int i = 0; i < count; i++) {
		auto_free char *path = path_join(rules, entries[i]->d_name);
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
	struct reading reading = {.policy = rules->policy, .config = config, .on_warning = on_warning, .self = self};
	if (config_ignores_rules(config))
		count = 1; /* the system's come first */
	for (size_t i = 0; i < count; i++)
		read_folder(&reading, folders[i]);
	read_required(&reading);
	return rules->policy;
}

/* text begins with a line end, which is skipped unless the file's last line lacks one. */
static int append_line(const char *path, struct str text, struct error *err)
{
	auto_close int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "%s", path);
	if (!fd_breaks_off(fd))
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
	/* these would make the file unreadable */
	if (line.over || memchr(buf_str(&line).ptr, '\0', buf_str(&line).len))
		return error_set(err, ERR_invalid, "this prefix cannot be written as a rule");
	exec_policy_allow(rules->policy, words, count);
	auto_free char *folder = path_join(config_home(config), "rules");
	auto_free char *path = path_join(folder, "default.rules");
	if (dir_make(folder, 0700, err) != 0)
		return -(int)err->code;
	return append_line(path, buf_str(&line), err);
}

bool exec_rules_is_approved(const struct exec_rules *rules, struct str key)
{
	vec_for_each(it, &rules->approved) {
		if (str_is(key, *it))
			return true;
	}
	return false;
}

void exec_rules_approve(struct exec_rules *rules, struct str key)
{
	if (!exec_rules_is_approved(rules, key))
		vec_push(&rules->approved, str_dup(key));
}

void exec_rules_finish(struct exec_rules *rules)
{
	exec_policy_destroy(rules->policy);
	rules->policy = NULL;
	vec_for_each(key, &rules->approved)
		free(*key);
	vec_finish(&rules->approved);
}
