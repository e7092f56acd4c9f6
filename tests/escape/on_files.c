/* Writes where the sandbox forbids writing, in every way to reach a file. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { RACES = 30000 };

static bool write_existing(void)
{
	return can_write(in_outside("file"), 0);
}

static bool append(void)
{
	return can_write(in_outside("file"), O_APPEND);
}

static bool create(void)
{
	return can_write(in_outside("new"), O_CREAT);
}

static bool create_unnamed(void)
{
	return can_write(target.outside, O_TMPFILE);
}

static bool truncate_it(void)
{
	return truncate(in_outside("truncated"), 0) == 0;
}

static bool open_truncating(void)
{
	return open(in_outside("truncated"), O_RDONLY | O_TRUNC) >= 0;
}

static bool remove_file(void)
{
	return unlink(in_outside("removed")) == 0;
}

static bool remove_folder(void)
{
	return rmdir(in_outside("folder")) == 0;
}

static bool make_folder(void)
{
	return mkdir(in_outside("made"), 0700) == 0;
}

static bool make_pipe(void)
{
	return mkfifo(in_outside("pipe"), 0600) == 0;
}

static bool make_link(void)
{
	return symlink("file", in_outside("symlink")) == 0;
}

static bool rename_inside_it(void)
{
	return rename(in_outside("renamed"), in_outside("renamed2")) == 0;
}

static bool rename_out(void)
{
	close(open(in_workspace("moved"), O_CREAT | O_WRONLY, 0600));
	return rename(in_workspace("moved"), in_outside("moved")) == 0;
}

static bool rename_in(void)
{
	return rename(in_outside("taken"), in_workspace("taken")) == 0;
}

static bool exchange(void)
{
	close(open(in_workspace("exchanged"), O_CREAT | O_WRONLY, 0600));
	return renameat2(AT_FDCWD, in_workspace("exchanged"), AT_FDCWD, in_outside("exchanged"), RENAME_EXCHANGE) == 0;
}

static bool hard_link_in(void)
{
	return link(in_outside("file"), in_workspace("hard")) == 0 && can_write(in_workspace("hard"), 0);
}

static bool hard_link_out(void)
{
	close(open(in_workspace("linked"), O_CREAT | O_WRONLY, 0600));
	return link(in_workspace("linked"), in_outside("linked")) == 0;
}

static bool write_through_link(void)
{
	return symlink(in_outside("file"), in_workspace("link")) == 0 && can_write(in_workspace("link"), 0);
}

static bool create_through_link(void)
{
	return symlink(in_outside("dangled"), in_workspace("dangling")) == 0 &&
	       can_write(in_workspace("dangling"), O_CREAT);
}

static bool create_through_folder_link(void)
{
	return symlink(target.outside, in_workspace("folder-link")) == 0 &&
	       can_write(in_workspace("folder-link/through"), O_CREAT);
}

static bool create_by_dots(void)
{
	return can_write(in_workspace("../out/dots"), O_CREAT);
}

static bool create_by_descriptor(void)
{
	int folder = open(target.outside, O_PATH | O_DIRECTORY);
	return openat(folder, "by-descriptor", O_CREAT | O_WRONLY, 0600) >= 0;
}

static bool reopen_for_writing(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", open(in_outside("file"), O_RDONLY));
	return can_write(path, 0);
}

static bool write_mapped(void)
{
	char path[2200];
	snprintf(path, sizeof(path), "/proc/self/root%s", in_outside("file"));
	return can_write(path, 0);
}

static bool change_mode(void)
{
	return chmod(in_outside("file"), 0644) == 0;
}

static bool change_mode_of_open(void)
{
	return fchmod(open(in_outside("file"), O_RDONLY), 0644) == 0;
}

static bool change_owner(void)
{
	return chown(in_outside("file"), geteuid(), getegid()) == 0;
}

static bool change_times(void)
{
	return utimes(in_outside("file"), NULL) == 0;
}

static bool change_attribute(void)
{
	return setxattr(in_outside("file"), "user.codex", "x", 1, 0) == 0;
}

static bool write_system_settings(void)
{
	return open("/etc/passwd", O_WRONLY | O_APPEND) >= 0;
}

static bool write_program(void)
{
	return open("/bin/true", O_WRONLY | O_APPEND) >= 0;
}

/* Between a folder and a link to the outside, as fast as it goes. */
static void *flip(void *self)
{
	(void)self;
	for (;;) {
		renameat2(AT_FDCWD, in_workspace("race"), AT_FDCWD, in_workspace("race2"), RENAME_EXCHANGE);
	}
	return NULL;
}

static bool race_of_links(void)
{
	pthread_t thread;
	struct stat st;
	char target_file[2048], racing[2048];
	snprintf(target_file, sizeof(target_file), "%s", in_outside("raced"));
	snprintf(racing, sizeof(racing), "%s", in_workspace("race/raced"));
	mkdir(in_workspace("race"), 0700);
	if (symlink(target.outside, in_workspace("race2")) != 0 && errno != EEXIST)
		return false;
	pthread_create(&thread, NULL, flip, NULL);
	for (int i = 0; i < RACES && stat(target_file, &st) != 0; i++)
		close(open(racing, O_CREAT | O_WRONLY, 0600));
	return stat(target_file, &st) == 0;
}

static bool race_of_renames(void)
{
	pthread_t thread;
	struct stat st;
	char target_file[2048], source[2048], racing[2048];
	snprintf(target_file, sizeof(target_file), "%s", in_outside("renamed-raced"));
	snprintf(source, sizeof(source), "%s", in_workspace("racer"));
	snprintf(racing, sizeof(racing), "%s", in_workspace("race/renamed-raced"));
	mkdir(in_workspace("race"), 0700);
	if (symlink(target.outside, in_workspace("race2")) != 0 && errno != EEXIST)
		return false;
	pthread_create(&thread, NULL, flip, NULL);
	for (int i = 0; i < RACES && stat(target_file, &st) != 0; i++) {
		close(open(source, O_CREAT | O_WRONLY, 0600));
		rename(source, racing);
	}
	return stat(target_file, &st) == 0;
}

const struct attempt attempts_on_files[] = {
	{"write a file outside", write_existing},
	{"append to a file outside", append},
	{"make a file outside", create},
	{"make an unnamed file outside", create_unnamed},
	{"truncate a file outside", truncate_it},
	{"open a file outside truncating it", open_truncating},
	{"remove a file outside", remove_file},
	{"remove a folder outside", remove_folder},
	{"make a folder outside", make_folder},
	{"make a pipe outside", make_pipe},
	{"make a link outside", make_link},
	{"rename a file outside", rename_inside_it},
	{"move a file outside", rename_out},
	{"move a file in from outside", rename_in},
	{"exchange a file with one outside", exchange},
	{"write by a hard link to the outside", hard_link_in},
	{"hard-link a file to the outside", hard_link_out},
	{"write through a link", write_through_link},
	{"make a file through a dangling link", create_through_link},
	{"make a file through a link to a folder", create_through_folder_link},
	{"make a file by dots", create_by_dots},
	{"make a file by a folder's descriptor", create_by_descriptor},
	{"reopen a descriptor for writing", reopen_for_writing},
	{"write by way of /proc/self/root", write_mapped},
	{"change a mode outside", change_mode},
	{"change a mode by descriptor", change_mode_of_open},
	{"change an owner outside", change_owner},
	{"change times outside", change_times},
	{"change an attribute outside", change_attribute},
	{"open /etc/passwd for writing", write_system_settings},
	{"open a program for writing", write_program},
	{"race of links", race_of_links},
	{"race of renames", race_of_renames},
	{0},
};
