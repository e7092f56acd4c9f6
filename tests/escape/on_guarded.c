/* .git, .codex and .agents in the workspace: what is there is not changed, what is not there is not made. */
#include "escape.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RACES = 30000 };

static bool write_config(void)
{
	return can_write(in_workspace(".git/config"), O_APPEND);
}

static bool truncate_config(void)
{
	return truncate(in_workspace(".git/config"), 0) == 0;
}

static bool make_hook(void)
{
	return can_write(in_workspace(".git/hooks/pre-commit"), O_CREAT);
}

static bool change_hook(void)
{
	return chmod(in_workspace(".git/hooks/sample"), 0755) == 0;
}

static bool remove_config(void)
{
	return unlink(in_workspace(".git/gone")) == 0;
}

static bool write_by_hard_link(void)
{
	return link(in_workspace(".git/config"), in_workspace("config")) == 0 && can_write(in_workspace("config"), 0);
}

static bool write_by_link(void)
{
	return symlink(".git", in_workspace("git")) == 0 && can_write(in_workspace("git/linked"), O_CREAT);
}

static bool write_by_proc(void)
{
	if (chdir(target.workspace) != 0)
		return false;
	return can_write("/proc/self/cwd/.git/by-proc", O_CREAT);
}

static bool write_by_descriptor(void)
{
	int folder = open(in_workspace(".git"), O_PATH | O_DIRECTORY);
	return openat(folder, "by-descriptor", O_CREAT | O_WRONLY, 0600) >= 0;
}

static bool move_in(void)
{
	close(open(in_workspace("move-in"), O_CREAT | O_WRONLY, 0600));
	return rename(in_workspace("move-in"), in_workspace(".git/moved-in")) == 0;
}

static bool exchange_folders(void)
{
	mkdir(in_workspace("other"), 0700);
	if (renameat2(AT_FDCWD, in_workspace(".git"), AT_FDCWD, in_workspace("other"), RENAME_EXCHANGE) != 0)
		return false;
	renameat2(AT_FDCWD, in_workspace(".git"), AT_FDCWD, in_workspace("other"), RENAME_EXCHANGE);
	return true;
}

static bool move_away(void)
{
	if (rename(in_workspace(".git"), in_workspace("away")) != 0)
		return false;
	rename(in_workspace("away"), in_workspace(".git"));
	return true;
}

/* The folder above has a name, too. */
static bool move_workspace(void)
{
	char moved[2048];
	snprintf(moved, sizeof(moved), "%s-moved", target.workspace);
	if (rename(target.workspace, moved) != 0)
		return false;
	rename(moved, target.workspace);
	return true;
}

static bool unmount_guard(void)
{
	return was_heard(umount2(in_workspace(".git"), MNT_DETACH));
}

static bool make_missing_folder(void)
{
	return mkdir(in_workspace(".codex/rules"), 0700) == 0 || mkdir(in_workspace(".codex"), 0700) == 0;
}

static bool make_missing_file(void)
{
	return can_write(in_workspace(".agents"), O_CREAT);
}

static bool make_missing_link(void)
{
	return symlink("other", in_workspace("sub/.git")) == 0 && symlink("other", in_workspace("deep-root/.git")) == 0;
}

static bool rename_to_missing(void)
{
	mkdir(in_workspace("prepared"), 0700);
	if (rename(in_workspace("prepared"), in_workspace("deep-root/.codex")) != 0)
		return false;
	rmdir(in_workspace("deep-root/.codex"));
	return true;
}

static bool exchange_with_missing(void)
{
	const char *ours = in_workspace("prepared2"), *theirs = in_workspace("deep-root/.agents");
	mkdir(ours, 0700);
	return renameat2(AT_FDCWD, ours, AT_FDCWD, theirs, RENAME_EXCHANGE) == 0 || rename(ours, theirs) == 0;
}

static void *flip(void *self)
{
	(void)self;
	for (;;)
		renameat2(AT_FDCWD, in_workspace("git-race"), AT_FDCWD, in_workspace("git-race2"), RENAME_EXCHANGE);
	return NULL;
}

static bool race_of_links(void)
{
	pthread_t thread;
	struct stat st;
	char target_file[2048], racing[2048];
	snprintf(target_file, sizeof(target_file), "%s", in_workspace(".git/raced"));
	snprintf(racing, sizeof(racing), "%s", in_workspace("git-race/raced"));
	mkdir(in_workspace("git-race"), 0700);
	if (symlink(".git", in_workspace("git-race2")) != 0)
		return false;
	pthread_create(&thread, NULL, flip, NULL);
	for (int i = 0; i < RACES && stat(target_file, &st) != 0; i++)
		close(open(racing, O_CREAT | O_WRONLY, 0600));
	return stat(target_file, &st) == 0;
}

const struct attempt attempts_on_guarded[] = {
	{"write .git/config", write_config},
	{"truncate .git/config", truncate_config},
	{"make a hook", make_hook},
	{"make a hook executable", change_hook},
	{"remove a file of .git", remove_config},
	{"write .git by a hard link", write_by_hard_link},
	{"write .git by a link", write_by_link},
	{"write .git by /proc", write_by_proc},
	{"write .git by its descriptor", write_by_descriptor},
	{"move a file into .git", move_in},
	{"exchange .git with a folder", exchange_folders},
	{"move .git away", move_away},
	{"move the workspace away", move_workspace},
	{"unmount the guard of .git", unmount_guard},
	{"race of links into .git", race_of_links},
	{"make .codex where none was", make_missing_folder},
	{"make .agents where none was", make_missing_file},
	{"make .git a link where none was", make_missing_link},
	{"rename a folder to .codex", rename_to_missing},
	{"exchange a folder with .agents", exchange_with_missing},
	{0},
};
