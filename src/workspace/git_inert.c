/* The list contains harmless settings instead of dangerous ones, because every version of git adds settings that run
 * programs. The reader understands the syntax that git itself writes; rarer forms (a continued line, a value after a
 * section's bracket) count as dangerous. */
#include "workspace/git_inert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "workspace/workspace_limits.h"

/* ---- its configuration ---- */

/* A NULL key stands for any key of the section. */
/* clang-format off */
static const struct {
	const char *section, *key;
} harmless[] = {
	{"core", "repositoryformatversion"}, {"core", "filemode"}, {"core", "bare"}, {"core", "logallrefupdates"},
	{"core", "ignorecase"}, {"core", "precomposeunicode"}, {"core", "symlinks"}, {"core", "autocrlf"},
	{"core", "eol"}, {"core", "safecrlf"}, {"core", "quotepath"}, {"core", "untrackedcache"},
	{"core", "preloadindex"}, {"core", "checkstat"}, {"core", "trustctime"}, {"core", "abbrev"},
	{"core", "longpaths"}, {"core", "protectntfs"}, {"core", "protecthfs"}, {"core", "commentchar"},
	{"remote", "url"}, {"remote", "pushurl"}, {"remote", "fetch"}, {"remote", "push"}, {"remote", "tagopt"},
	{"remote", "prune"}, {"remote", "prunetags"}, {"remote", "mirror"}, {"remote", "gh-resolved"},
	{"branch", NULL}, {"user", NULL}, {"author", NULL}, {"committer", NULL}, {"init", NULL}, {"pull", NULL},
	{"push", NULL}, {"fetch", NULL}, {"rebase", NULL}, {"commit", NULL}, {"rerere", NULL}, {"color", NULL},
	{"advice", NULL}, {"gc", NULL}, {"log", NULL}, {"lfs", "repositoryformatversion"}, {"lfs", "access"},
	{"lfs", "locksverify"},
};
/* clang-format on */

static bool is_same(struct str text, const char *name)
{
	return text.len == strlen(name) && strncasecmp(text.ptr, name, text.len) == 0;
}

static bool is_harmless(struct str section, struct str key)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (is_same(section, harmless[i].section) && (!harmless[i].key || is_same(key, harmless[i].key)))
			return true;
	return false;
}

static struct str cut_name(struct str *line)
{
	size_t len = 0;
	while (len < line->len &&
	       (strchr("-.", line->ptr[len]) ? line->ptr[len] != '\0'
	                                     : (line->ptr[len] | 0x20) >= 'a' && (line->ptr[len] | 0x20) <= 'z'))
		len++;
	struct str name = str_n(line->ptr, len);
	*line = str_trim(str_skip(*line, len));
	return name;
}

/* Reads [name] or [name "part"]; nothing may follow the bracket. */
static bool read_section(struct str line, struct str *ret_section)
{
	line = str_skip(line, 1);
	*ret_section = cut_name(&line);
	if (str_has_prefix(line, "\""))
		line = str_skip(line, (size_t)(str_rfind_char(line, '"') + 1));
	return ret_section->len > 0 && str_is(line, "]");
}

/* Checks a line that is neither empty nor a comment. */
static bool is_harmless_line(struct str line, struct str *section)
{
	if (str_has_prefix(line, "["))
		return read_section(line, section);
	struct str key = cut_name(&line);
	bool is_setting = key.len > 0 && (line.len == 0 || line.ptr[0] == '=');
	return is_setting && !str_has_suffix(line, "\\") && is_harmless(*section, key);
}

static bool is_config_harmless(const char *path)
{
	auto_buf struct buf text;
	struct stat st;
	buf_init(&text, LIMIT_GIT_FILE);
	if (lstat(path, &st) != 0)
		return errno == ENOENT;
	if (file_read_regular(path, &text, NULL) != 0)
		return false;
	struct str rest = buf_str(&text), line, section = STR("");
	while (str_next_line(&rest, &line)) {
		line = str_trim(line);
		bool is_setting = line.len > 0 && line.ptr[0] != '#' && line.ptr[0] != ';';
		if (is_setting && !is_harmless_line(line, &section))
			return false;
	}
	return true;
}

/* ---- its index ---- */

enum { INDEX_HEAD = 12, ENTRY_MODE = 24, ENTRY_FLAGS = 60, ENTRY_NAME = 62, ENTRY_ALIGN = 8, GITLINK = 0160000 };
enum { FLAG_EXTENDED = 0x4000, FLAG_NAME_LENGTH = 0xfff };

static unsigned read_number(const char *at, size_t bytes)
{
	unsigned value = 0;
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | (unsigned char)at[i];
	return value;
}

/* Cuts an entry of versions 2 and 3 with SHA-1. Its name ends with one to eight NULs, up to a multiple of eight. git
 * takes the length from the flags where it fits there, so a name that ends elsewhere would let git find other
 * entries. */
static bool cut_file_entry(struct str *rest)
{
	if (rest->len < ENTRY_NAME + 1 || (read_number(rest->ptr + ENTRY_MODE, 4) & S_IFMT) == GITLINK)
		return false;
	unsigned flags = read_number(rest->ptr + ENTRY_FLAGS, 2), named = flags & FLAG_NAME_LENGTH;
	size_t name = ENTRY_NAME + (flags & FLAG_EXTENDED ? 2 : 0);
	const char *end = name < rest->len ? memchr(rest->ptr + name, '\0', rest->len - name) : NULL;
	if (!end)
		return false;
	size_t end_at = (size_t)(end - rest->ptr), length = end_at - name;
	size_t len = (end_at / ENTRY_ALIGN + 1) * ENTRY_ALIGN;
	if (len > rest->len || named != (length < FLAG_NAME_LENGTH ? length : FLAG_NAME_LENGTH))
		return false;
	*rest = str_skip(*rest, len);
	return true;
}

/* True if the index refers to a shared index, which would hide entries. */
static bool has_link(struct str extensions)
{
	return str_find(extensions, STR("link")) >= 0;
}

static bool has_only_files(const char *path)
{
	auto_buf struct buf bytes;
	struct stat st;
	buf_init(&bytes, LIMIT_GIT_INDEX);
	if (lstat(path, &st) != 0)
		return errno == ENOENT;
	if (file_read_regular(path, &bytes, NULL) != 0 || bytes.len < INDEX_HEAD)
		return false;
	struct str rest = buf_str(&bytes);
	unsigned version = read_number(rest.ptr + 4, 4), count = read_number(rest.ptr + 8, 4);
	if (!str_has_prefix(rest, "DIRC") || (version != 2 && version != 3))
		return false;
	for (rest = str_skip(rest, INDEX_HEAD); count > 0; count--)
		if (!cut_file_entry(&rest))
			return false;
	return !has_link(rest);
}

/* ---- where it is ---- */

static bool is_missing(const char *folder, const char *name)
{
	struct stat st;
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
	return length > 0 && length < PATH_MAX && lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Counts the parts by which git recognises a repository; it needs all three. */
static size_t count_parts(const char *folder)
{
	static const char *const parts[] = {"HEAD", "objects", "refs"};
	size_t count = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		count += !is_missing(folder, parts[i]);
	return count;
}

static bool is_git_folder_inert(const char *git)
{
	auto_free char *config = path_join(git, "config"), *index = path_join(git, "index");
	return is_missing(git, "hooks/post-index-change") && is_missing(git, "commondir") &&
	       is_config_harmless(config) && has_only_files(index);
}

enum finding { NOTHING_HERE, REPOSITORY, UNCLEAR };

static enum finding look(const char *folder, char git[PATH_MAX])
{
	struct stat st;
	int length = snprintf(git, PATH_MAX, "%s/.git", strcmp(folder, "/") == 0 ? "" : folder);
	if (length >= PATH_MAX || count_parts(folder) == 3) /* a bare repository */
		return UNCLEAR;
	if (lstat(git, &st) != 0)
		return errno == ENOENT ? NOTHING_HERE : UNCLEAR;
	if (!S_ISDIR(st.st_mode))
		return UNCLEAR; /* the .git file names another place */
	size_t parts = count_parts(git);
	return parts == 3 ? REPOSITORY : parts == 0 ? NOTHING_HERE : UNCLEAR;
}

bool git_is_inert(const char *folder, char ret_git[PATH_MAX])
{
	char at[PATH_MAX];
	if (!realpath(folder, at))
		return false;
	for (;;) {
		enum finding found = look(at, ret_git);
		if (found != NOTHING_HERE)
			return found == REPOSITORY && is_git_folder_inert(ret_git);
		ret_git[0] = '\0';
		if (strcmp(at, "/") == 0)
			return true;
		char *slash = strrchr(at, '/');
		slash[slash == at] = '\0';
	}
}
