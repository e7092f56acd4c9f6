/* A word that contains a slash and does not begin like a path is a repository at GitHub, as in codex 0.169, so that a
 * folder of the same name does not decide what is added. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/plugin_files.h"
#include "config/plugin_git.h"
#include "market/market_limits.h"
#include "market/market_priv.h"

/* ---- words ---- */

/* Cuts one of the characters, and the branch or tag after it, off the source. */
static const char *cut_ref(struct str *source, const char *marks, struct arena *arena)
{
	for (size_t i = 0; i < source->len; i++) {
		if (!strchr(marks, source->ptr[i]))
			continue;
		struct str ref = str_skip(*source, i + 1);
		source->len = i;
		return arena_cstr(arena, ref);
	}
	return NULL;
}

static bool is_github(struct str text)
{
	struct str owner;
	return str_next_part(&text, '/', &owner) && plugin_is_name(owner) && plugin_is_name(text);
}

static int read_folder(const char *source, const char *ref, struct arena *arena, struct market *ret, struct error *err)
{
	auto_free char *real = realpath(source, NULL);
	if (!real && !strchr(source, '/'))
		return error_set(err, ERR_invalid,
		                 "invalid marketplace source format; expected owner/repo, a git URL, or a local "
		                 "marketplace path");
	if (!real)
		return error_sys(err, errno, "cannot open %s", source);
	if (ref || ret->sparse_count)
		return error_set(err, ERR_usage, "--%s is for the URL of a git repository", ref ? "ref" : "sparse");
	ret->source = arena_cstr(arena, str_of(real));
	return 0;
}

/* git takes no option for a branch or a folder. */
static bool is_option(struct str text)
{
	return !text.len || text.ptr[0] == '-';
}

int market_source_check(const struct market *market, struct error *err)
{
	if (is_option(str_of(market->source)) || (market->ref && is_option(str_of(market->ref))))
		return error_set(err, ERR_usage, "`%s` is no source, or its branch or tag is empty or an option",
		                 market->source);
	if (market->sparse_count > LIMIT_MARKET_SPARSE)
		return error_set(err, ERR_usage, "more than %d folders to check out", LIMIT_MARKET_SPARSE);
	for (size_t i = 0; i < market->sparse_count; i++) {
		struct str path = market->sparse[i];
		if (is_option(path) || path.ptr[0] == '/' || str_find(path, STR("..")) >= 0 || str_has_nul(path))
			return error_set(err, ERR_usage, "`%.*s` is no folder of the repository", STR_ARG(path));
	}
	return 0;
}

int market_source_read(const char *source, const char *ref, struct arena *arena, struct market *ret, struct error *err)
{
	struct str text = str_of(source);
	const char *own = NULL;
	ret->is_git = plugin_is_url(source);
	if (ret->is_git)
		own = cut_ref(&text, "#", arena);
	else if (source[0] != '.' && source[0] != '/')
		own = cut_ref(&text, "@#", arena);
	bool is_short = !ret->is_git && is_github(text);
	ret->is_git |= is_short;
	if (!ret->is_git)
		return read_folder(source, ref, arena, ret, err);
	ret->source = is_short ? arena_printf(arena, "https://github.com/%.*s%s", STR_ARG(text),
	                                      str_has_suffix(text, ".git") ? "" : ".git")
	                       : arena_cstr(arena, text);
	ret->ref = ref ? ref : own;
	return market_source_check(ret, err);
}

/* ---- clones ---- */

/* Fetches the commit that the marketplace names. git takes an id of the other length for the name of a branch, which
 * the repository chooses. */
static int fetch_commit(struct plugin_clone *clone, const char *sha, struct error *err)
{
	auto_buf struct buf text;
	const char *const more[] = {sha, NULL};
	auto_free char *path = path_join(clone->folder, ".git/FETCH_HEAD");
	buf_init(&text, LIMIT_LINE);
	if (plugin_git(clone, "fetch --quiet --depth 1 --no-tags origin", more, err) != 0 ||
	    file_read(path, &text, err) != 0)
		return -(int)err->code;
	struct str found, rest = buf_str(&text);
	str_next_part(&rest, '\t', &found);
	return str_equal_fold(found, str_of(sha))
	               ? 0
	               : error_set(err, ERR_denied, "the repository has `%.*s` for the commit %s of the marketplace",
	                           STR_ARG(found), sha);
}

/* Fetches what is missing of these folders at once: git would ask for each file alone to list its size. */
static int fetch_parts(struct plugin_clone *clone, const char *revision, const char *const *paths, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	struct str line;
	size_t count = 0;
	auto_free char *list = xasprintf("rev-list --objects --missing=print %s --", revision);
	buf_init(&out, LIMIT_CLONE_LIST);
	if (plugin_git_list(clone, list, paths, &out, err) != 0)
		return -(int)err->code;
	struct str rest = buf_str(&out);
	const char **missing = arena_array(&arena, const char *, LIMIT_CLONE_PARTS + 1);
	while (str_next_line(&rest, &line)) {
		if (!str_cut_prefix(&line, "?"))
			continue;
		if (count == LIMIT_CLONE_PARTS)
			return error_set(err, ERR_limit, "the folders of the repository have more than %d files",
			                 LIMIT_CLONE_PARTS);
		missing[count++] = arena_cstr(&arena, line);
	}
	return count ? plugin_git(clone, "fetch --quiet --no-tags --no-write-fetch-head --filter=blob:none origin",
	                          missing, err)
	             : 0;
}

/* The files of other folders are not fetched, if the server can leave them out. */
int market_source_clone(const struct market *market, const char *sha, struct plugin_clone *clone, struct error *err)
{
	auto_arena struct arena arena = {0};
	const char *revision = sha ? "FETCH_HEAD" : "HEAD";
	const char **paths = market->sparse_count ? arena_array(&arena, const char *, market->sparse_count + 1) : NULL;
	for (size_t i = 0; i < market->sparse_count; i++)
		paths[i] = arena_cstr(&arena, market->sparse[i]);
	if (plugin_clone_fetch(clone, market->source, market->ref, paths ? "--filter=blob:none" : NULL, err) != 0 ||
	    (sha && fetch_commit(clone, sha, err) != 0) || (paths && fetch_parts(clone, revision, paths, err) != 0))
		return -(int)err->code;
	return plugin_checkout(clone, revision, paths, err);
}
