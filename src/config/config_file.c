/* The lock is a flock of the folder, because the file itself is replaced. */
#include "config/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/toml/toml_edit.h"

enum { NEW_FILE_MODE = 0600, LOCK_PAUSE_MS = 5 };

int config_file_lock(const char *folder, struct error *err)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000 * 1000};
	auto_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", folder);
	for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; waited_ms += LOCK_PAUSE_MS) {
		if (waited_ms >= LIMIT_CONFIG_LOCK_MS)
			return error_set(err, ERR_busy, "another process has locked %s for %d seconds; try again",
			                 folder, LIMIT_CONFIG_LOCK_MS / 1000);
		nanosleep(&pause, NULL);
	}
	return steal_fd(&fd);
}

/* Loads the user's settings with this text, without the project and options. */
static int check(const char *home, struct str text, struct error *err)
{
	const struct config_source source = {
		.codex_home = home, .cwd = "/", .user_text = &text, .ignore_project = true};
	struct config *config = config_load(&source, err);
	config_unref(config);
	return config ? 0 : -(int)err->code;
}

static int change_text(const char *home, const char *path, struct str before, config_file_change_fn change, void *self,
                       struct error *err)
{
	struct toml_edit edit;
	struct stat info;
	int status = toml_edit_init(&edit, before, path, err);
	if (status == 0)
		status = change(&edit, self, err);
	if (status == 0 && !str_eq(buf_str(&edit.text), before)) {
		status = check(home, buf_str(&edit.text), err);
		mode_t mode = stat(path, &info) == 0 ? info.st_mode & 0777 : NEW_FILE_MODE;
		if (status == 0)
			status = file_write_atomic(path, buf_str(&edit.text), mode, true, err);
	}
	toml_edit_finish(&edit);
	return status;
}

int config_file_change(const char *home, config_file_change_fn change, void *self, struct error *err)
{
	struct error failure = {0};
	auto_buf struct buf before;
	auto_free char *path = path_join(home, "config.toml");
	auto_free char *real = realpath(path, NULL);
	const char *target = real ? real : path;
	auto_free char *folder = str_dup(path_dir(target));
	buf_init(&before, LIMIT_CONFIG_FILE);
	if (dir_make(folder, 0700, err) != 0)
		return -(int)err->code;
	auto_close int lock = config_file_lock(folder, err);
	if (lock < 0)
		return -(int)err->code;
	if (file_read_regular(target, &before, &failure) != 0 && failure.code != ERR_not_found)
		return error_set(err, failure.code, "%s", failure.text);
	return change_text(home, target, buf_str(&before), change, self, err);
}
