/* Four small files contain what three git commands would print: HEAD names a ref, the ref (or packed-refs) holds the
 * commit, config the remote. In a linked work tree .git is a file that names its private folder, whose commondir
 * names the shared one. The content is not trusted: a ref must be valid before it becomes part of a path, a commit
 * must be hex. */
#include "workspace/git_info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "workspace/git_config.h"
#include "workspace/workspace_limits.h"

struct git_dirs {
	char *own;    /* the git folder of the work tree, with HEAD */
	char *common; /* the shared git folder, with refs, packed-refs and config */
};

static void git_dirs_finish(struct git_dirs *dirs)
{
	free(dirs->own);
	free(dirs->common);
}
#define auto_git_dirs __attribute__((cleanup(git_dirs_finish)))

/* True if marker is a repository. An empty folder of that name (a sandbox placeholder) is not one, for git either.
 * HEAD may be a dangling link: an unborn branch. */
static bool is_repository(const char *marker)
{
	struct stat st;
	auto_free char *head = path_join(marker, "HEAD");
	return marker_exists(marker) && (!dir_exists(marker) || lstat(head, &st) == 0);
}

char *git_info_find_root(const char *cwd)
{
	auto_free char *folder = realpath(cwd, NULL);
	while (folder) {
		auto_free char *marker = path_join(folder, ".git");
		if (is_repository(marker))
			return steal(folder);
		if (strcmp(folder, "/") == 0)
			return NULL;
		char *above = str_dup(path_dir(folder));
		free(folder);
		folder = above;
	}
	return NULL;
}

bool git_info_is_repo(const char *cwd)
{
	auto_free char *root = git_info_find_root(cwd);
	return root != NULL;
}

/* Returns the file's text without surrounding blanks, owned; NULL if it cannot be read, or has more than most bytes. */
static char *read_text(const char *folder, const char *name, size_t most)
{
	auto_free char *path = path_join(folder, name);
	auto_buf struct buf text;
	buf_init(&text, most);
	return file_read_regular(path, &text, NULL) == 0 ? str_dup(str_trim(buf_str(&text))) : NULL;
}

static bool find_dirs(const char *root, struct git_dirs *ret)
{
	auto_free char *marker = path_join(root, ".git");
	if (dir_exists(marker)) {
		ret->own = steal(marker);
	} else {
		auto_free char *text = read_text(root, ".git", LIMIT_GIT_POINTER);
		struct str target = str_of(text);
		if (!text || !str_cut_prefix(&target, "gitdir:"))
			return false;
		auto_free char *path = str_dup(str_trim(target));
		ret->own = path_join(root, path);
	}
	auto_free char *common = read_text(ret->own, "commondir", LIMIT_GIT_POINTER);
	ret->common = common ? path_join(ret->own, common) : xstrdup(ret->own);
	return true;
}

bool git_info_find_dirs(const char *root, char **ret_own, char **ret_common)
{
	struct git_dirs dirs = {0};
	bool is_found = find_dirs(root, &dirs);
	*ret_own = dirs.own;
	*ret_common = dirs.common;
	return is_found;
}

/* ---- the commit ---- */

static bool is_commit(struct str text)
{
	if (text.len != 40 && text.len != 64)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
	}
	return true;
}

static bool is_ref(struct str name)
{
	return str_has_prefix(name, "refs/") && str_find(name, STR("..")) < 0 && str_find_char(name, '\0') < 0;
}

/* Finds a ref in packed-refs, which has lines of "<commit> <ref>". */
static char *find_packed(const struct git_dirs *dirs, struct str ref)
{
	auto_free char *path = path_join(dirs->common, "packed-refs");
	auto_buf struct buf text;
	buf_init(&text, LIMIT_GIT_PACKED_REFS);
	if (file_read_regular(path, &text, NULL) != 0)
		return NULL;
	struct str rest = buf_str(&text), line;
	while (str_next_line(&rest, &line)) {
		ptrdiff_t space = str_find_char(line, ' ');
		if (space > 0 && str_eq(str_trim_end(str_skip(line, (size_t)space + 1)), ref) &&
		    is_commit(str_n(line.ptr, (size_t)space)))
			return xstrndup(line.ptr, (size_t)space);
	}
	return NULL;
}

/* Returns the content of a loose ref: that of the work tree, or else the shared one. */
static char *read_ref(const struct git_dirs *dirs, const char *ref)
{
	char *text = read_text(dirs->own, ref, LIMIT_GIT_FILE);
	return text ? text : read_text(dirs->common, ref, LIMIT_GIT_FILE);
}

/* Follows refs to refs; the result is owned, and NULL if the chain is broken. */
static char *resolve(const struct git_dirs *dirs, const char *value)
{
	auto_free char *text = xstrdup(value);
	for (int i = 0; i < LIMIT_GIT_SYMREFS && text; i++) {
		struct str name = str_of(text);
		if (is_commit(name))
			return steal(text);
		if (!str_cut_prefix(&name, "ref:") || !is_ref(str_trim(name)))
			return NULL;
		auto_free char *ref = str_dup(str_trim(name));
		char *next = read_ref(dirs, ref);
		if (!next)
			return find_packed(dirs, str_of(ref));
		free(text);
		text = next;
	}
	return NULL;
}

static char *branch_of(const char *head)
{
	struct str name = str_of(head);
	if (!str_cut_prefix(&name, "ref:"))
		return NULL;
	name = str_trim(name);
	/* git writes this HEAD in repositories with reftables, for programs that only know ref files. */
	if (!is_ref(name) || !str_cut_prefix(&name, "refs/heads/") || str_is(name, ".invalid"))
		return NULL;
	return str_dup(name);
}

/* ---- the remote ---- */

/* Removes "user:password@" from an http address. */
static char *without_password(struct str url)
{
	ptrdiff_t scheme = str_find(url, STR("://"));
	if (scheme < 0 || !str_has_prefix(url, "http"))
		return str_dup(url);
	struct str host = str_skip(url, (size_t)scheme + 3);
	ptrdiff_t slash = str_find_char(host, '/');
	ptrdiff_t at = str_rfind_char(str_n(host.ptr, slash < 0 ? host.len : (size_t)slash), '@');
	if (at < 0)
		return str_dup(url);
	host = str_skip(host, (size_t)at + 1);
	return xasprintf("%.*s://%.*s", (int)scheme, url.ptr, STR_ARG(host));
}

static char *origin_of(const struct git_dirs *dirs)
{
	auto_free char *text = read_text(dirs->common, "config", LIMIT_GIT_FILE);
	auto_buf struct buf url;
	buf_init(&url, 64 * KIB);
	if (!text || !git_config_find(str_of(text), "remote", "origin", "url", &url) || url.len == 0)
		return NULL;
	return without_password(buf_str(&url));
}

bool git_info_read(const char *cwd, struct git_info *ret)
{
	struct git_info info = {.root = git_info_find_root(cwd)};
	auto_git_dirs struct git_dirs dirs = {0};
	if (info.root && find_dirs(info.root, &dirs)) {
		auto_free char *head = read_text(dirs.own, "HEAD", LIMIT_GIT_FILE);
		info.branch = head ? branch_of(head) : NULL;
		info.commit = head ? resolve(&dirs, head) : NULL;
		info.origin_url = origin_of(&dirs);
	}
	*ret = info;
	return info.root != NULL;
}

char *git_info_branch(const char *cwd)
{
	auto_free char *root = git_info_find_root(cwd);
	auto_git_dirs struct git_dirs dirs = {0};
	if (!root || !find_dirs(root, &dirs))
		return NULL;
	auto_free char *head = read_text(dirs.own, "HEAD", LIMIT_GIT_POINTER);
	auto_free char *branch = head ? branch_of(head) : NULL;
	return branch && strlen(branch) <= LIMIT_GIT_BRANCH ? steal(branch) : NULL;
}

void git_info_finish(struct git_info *info)
{
	free(info->root);
	free(info->branch);
	free(info->commit);
	free(info->origin_url);
	*info = (struct git_info){0};
}
