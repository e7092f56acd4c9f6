/* Each folder with ignore files has a node that points to the nearest one above. */
#include "workspace/folder_rules.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "workspace/ignore_rules.h"
#include "workspace/workspace_limits.h"

struct folder_rules {
	const struct folder_rules *above;
	size_t at;
	struct ignore_rules *files[RULES_FILES]; /* the first takes precedence; NULL: the file does not exist */
};

const char *folder_rules_name(enum rules_file file)
{
	return file == RULES_ignore ? ".ignore" : file == RULES_gitignore ? ".gitignore" : ".git/info/exclude";
}

enum rules_file folder_rules_find(const char *name)
{
	if (strcmp(name, ".ignore") == 0)
		return RULES_ignore;
	return strcmp(name, ".gitignore") == 0 ? RULES_gitignore : RULES_FILES;
}

static struct ignore_rules *read_rules(int at, const char *name, void (*on_open)(int fd, void *self), void *self)
{
	auto_buf struct buf text = {0};
	struct stat st;
	auto_close int fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (on_open)
		on_open(fd, self);
	buf_init(&text, LIMIT_IGNORE_FILE);
	return fd_read_all(fd, &text, name, NULL) == 0 ? ignore_rules_create(buf_str(&text)) : NULL;
}

struct folder_rules *folder_rules_read(int folder, unsigned files, const struct folder_rules *above, size_t at,
                                       void (*on_open)(int fd, void *self), void *self)
{
	struct folder_rules rules = {.above = above, .at = at};
	bool has_any = false;
	for (int i = 0; i < RULES_FILES; i++) {
		if (files & 1u << i)
			rules.files[i] = read_rules(folder, folder_rules_name((enum rules_file)i), on_open, self);
		has_any |= rules.files[i] != NULL;
	}
	if (!has_any)
		return NULL;
	struct folder_rules *kept = xnew(struct folder_rules);
	*kept = rules;
	return kept;
}

void folder_rules_destroy(struct folder_rules *rules)
{
	if (!rules)
		return;
	for (int i = 0; i < RULES_FILES; i++)
		ignore_rules_destroy(rules->files[i]);
	free(rules);
}

bool folder_rules_ignore(const struct folder_rules *rules, struct str path, bool is_folder, size_t *steps)
{
	for (; rules; rules = rules->above) {
		struct str below = str_skip(path, rules->at);
		for (int i = 0; i < RULES_FILES; i++) {
			enum ignore_verdict verdict =
				rules->files[i] ? ignore_rules_match(rules->files[i], below, is_folder, steps)
						: IGNORE_SILENT;
			if (verdict != IGNORE_SILENT)
				return verdict == IGNORE_SKIP;
		}
	}
	return false;
}
