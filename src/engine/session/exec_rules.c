/* Files of rules are few and small, so they are read on the loop when a session is opened. A new rule is
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
	struct exec_rules *rules;
	const struct config *config;
	const char *folder; /* the folder that contains the folder of rules */
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
	int status = exec_policy_add_strict(reading->rules->policy, text, path, &dropped, err);
	if (status != 0 || !dropped)
		return status;
	config_content_hash(text, hash);
	auto_free char *project = str_dup(path_dir(reading->folder));
	char *warning =
		xasprintf("%s: rules that allow commands are ignored in a project's file (%zu); to apply them, add "
	                  "trusted_hashes = [\"%s\"] to [projects.\"%s\"] in %s/config.toml",
	                  path, dropped, hash, project, config_home(reading->config));
	vec_push(&reading->rules->warnings, warning);
	return 0;
}

static int read_file(const struct reading *reading, const char *path, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RULES_FILE);
	if (file_read_regular(path, &text, err) != 0)
		return error_wrap(err, "%s", path);
	if (config_trusts_file(reading->config, reading->folder, buf_str(&text)))
		return exec_policy_add(reading->rules->policy, buf_str(&text), path, err);
	return add_strict(reading, buf_str(&text), path, err);
}

/* Adds the administrator's rules, which were checked when the configuration was loaded. */
static int read_required(const struct reading *reading, struct error *err)
{
	auto_buf struct buf text;
	const struct config_required *required = config_required(reading->config);
	buf_init(&text, LIMIT_RULES_FILE);
	config_required_write_rules(required, &text);
	if (text.over)
		return error_set(err, ERR_limit, "the rules of requirements.toml are too long");
	return text.len ? exec_policy_add(reading->rules->policy, buf_str(&text), required->path, err) : 0;
}

static int read_folder(struct reading *reading, const char *folder, struct error *err)
{
	struct dirent **entries = NULL;
	auto_free char *path = path_join(folder, "rules");
	int status = 0, count = scandir(path, &entries, is_rules_file, alphasort);
	if (count < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : error_sys(err, errno, "%s", path);
	reading->folder = folder;
	for (int i = 0; i < count; i++) {
		auto_free char *file = path_join(path, entries[i]->d_name);
		if (status == 0)
			status = read_file(reading, file, err);
		free(entries[i]);
	}
	free(entries);
	return status;
}

int exec_rules_read(struct exec_rules *rules, const struct config *config, struct error *err)
{
	size_t count;
	int status = 0;
	const char *const *folders = config_folders(config, &count);
	struct reading reading = {.rules = rules, .config = config};
	rules->policy = exec_policy_create();
	if (config_ignores_rules(config))
		count = 1; /* the system's come first */
	for (size_t i = 0; i < count && status == 0; i++)
		status = read_folder(&reading, folders[i], err);
	if (status == 0)
		status = read_required(&reading, err);
	return status == 0 ? 0 : error_wrap(err, "cannot read the rules about commands");
}

const struct exec_policy *exec_rules_get(struct exec_rules *rules, exec_rules_warn_fn on_warning, void *self)
{
	vec_for_each(it, &rules->warnings) {
		on_warning(*it, self);
		free(*it);
	}
	vec_finish(&rules->warnings);
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
	vec_for_each(warning, &rules->warnings)
		free(*warning);
	vec_finish(&rules->warnings);
	vec_for_each(key, &rules->approved)
		free(*key);
	vec_finish(&rules->approved);
}
