/* A word that contains a slash and does not begin like a path is a repository at GitHub, as in codex 0.169, so that a
 * folder of the same name does not decide what is added. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/plugin_files.h"
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

/* The files of other folders are not fetched, if the server can leave them out. */
static int clone_part(const struct market *market, const char *folder, struct error *err)
{
	auto_arena struct arena arena = {0};
	const char *words[LIMIT_MARKET_SPARSE + 3] = {"sparse-checkout", "set"};
	const char *const clone[] = {
		"clone",
		"--quiet",
		"--no-checkout",
		"--depth",
		"1",
		"--filter=blob:none",
		"--sparse",
		"--no-recurse-submodules",
		market->ref ? arena_printf(&arena, "--branch=%s", market->ref) : "--single-branch",
		"--",
		market->source,
		folder,
		NULL,
	};
	for (size_t i = 0; i < market->sparse_count; i++)
		words[2 + i] = arena_cstr(&arena, market->sparse[i]);
	if (plugin_git(NULL, clone, err) != 0 || plugin_git(folder, words, err) != 0)
		return -(int)err->code;
	return plugin_checkout(folder, err);
}

int market_source_clone(const struct market *market, const char *folder, struct error *err)
{
	return market->sparse_count ? clone_part(market, folder, err)
	                            : plugin_clone(market->source, market->ref, folder, err);
}
