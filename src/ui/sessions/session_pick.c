/* A numbered list and an input line work on all terminals; output to a pipe is a table. Sessions of subagents are
 * omitted, because they are resumed with their root, and so are sessions without a message of the user. */
#include "ui/sessions/session_pick.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_env.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_path.h"
#include "ui/cli/terminal.h"

enum { LEAST_PREFIX = 4, TABLE_ROWS = 100, TERMINAL_ROWS = 20, WIDE = 400 };

/* ---- the options of commands that work on one ---- */

int session_check_remote(const char *remote, const char *token_env, const char *session, const char *option,
                         struct error *err)
{
	if (remote && !uuid_is_valid(str_of(session)))
		return error_set(err, ERR_invalid, "with --remote, %s must be the id of a session", option);
	if (token_env && (!remote || !config_env(token_env)))
		return error_set(err, ERR_invalid, "--remote-auth-token-env: %s",
		                 remote ? "the variable is not set" : "there is no --remote");
	return 0;
}

/* Only the check: the work on a session uses no settings, and a queued message those of its session. */
static int check_config(const struct session_place *place, const char *folder, struct error *err)
{
	VEC(struct str) overrides = {0};
	for (size_t i = 0; i < place->overrides->count; i++)
		vec_push(&overrides, str_of(place->overrides->items[i]));
	struct config_source source = {.cwd = folder,
	                               .overrides = overrides.items,
	                               .override_count = overrides.count,
	                               .is_strict = true,
	                               .needs_no_key = true};
	struct config *config = config_load(&source, err);
	vec_finish(&overrides);
	config_unref(config);
	return config ? 0 : -(int)err->code;
}

int session_place_check(const struct session_place *place, char **ret_folder, struct error *err)
{
	*ret_folder = NULL;
	if (place->cd) {
		auto_free char *folder = realpath(place->cd, NULL);
		if (!folder)
			return error_sys(err, errno, "cannot work in %s", place->cd);
		if (!dir_exists(folder))
			return error_set(err, ERR_invalid, "cannot work in %s: it is not a folder", folder);
		*ret_folder = steal(folder);
	}
	return place->is_strict ? check_config(place, *ret_folder, err) : 0;
}

/* ---- by a word ---- */

struct prefix_search {
	struct str prefix;
	char *found;
	char id[UUID_TEXT_SIZE];
	bool is_ambiguous;
};

static bool on_visit(const char *path, const struct rollout_file_name *name, void *self)
{
	struct prefix_search *search = self;
	struct str id = name->thread_id;
	if (id.len < search->prefix.len || !str_equal_fold(str_n(id.ptr, search->prefix.len), search->prefix))
		return false;
	if (search->found && !str_is(id, search->id))
		search->is_ambiguous = true;
	if (!search->found) {
		search->found = xstrdup(path);
		snprintf(search->id, sizeof(search->id), "%.*s", STR_ARG(id));
	}
	return search->is_ambiguous;
}

static bool is_prefix(struct str word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (!strchr("0123456789abcdefABCDEF-", word.ptr[i]))
			return false;
	}
	return word.len >= LEAST_PREFIX;
}

/* Returns NULL without an error if no session matches. */
static char *find_prefix(const char *home, struct str prefix, struct error *err)
{
	struct prefix_search search = {.prefix = prefix};
	int status = rollout_list_walk(home, false, on_visit, &search, err);
	if (status == 0 && !search.is_ambiguous)
		status = rollout_list_walk(home, true, on_visit, &search, err);
	if (status == 0 && !search.is_ambiguous)
		return search.found;
	free(search.found);
	if (search.is_ambiguous)
		error_set(err, ERR_invalid, "several sessions have an id that begins with %.*s: give more digits",
		          STR_ARG(prefix));
	return NULL;
}

char *session_find(const char *home, const char *text, struct error *err)
{
	struct str word = str_of(text);
	struct error prefix_err = {0};
	if (uuid_is_valid(word))
		return rollout_list_find_id(home, word, err);
	char *path = rollout_list_find_name(home, word, err);
	if (path || !is_prefix(word))
		return path;
	path = find_prefix(home, word, &prefix_err);
	if (!path && prefix_err.code && err)
		*err = prefix_err;
	return path;
}

/* ---- from a list ---- */

struct changed {
	const struct rollout_listed *file;
	int64_t changed_ms;
};

struct row {
	const char *path;
	struct rollout_summary summary;
	struct str name;
};

struct picker {
	const struct session_pick *pick;
	bool is_terminal;
	size_t most;
	struct arena arena;
	struct rollout_names names;
	VEC(struct changed) files;
	VEC(struct row) rows;
	bool has_more;
};

static int by_change(const void *a, const void *b)
{
	const struct changed *left = a, *right = b;
	if (left->changed_ms != right->changed_ms)
		return left->changed_ms < right->changed_ms ? 1 : -1;
	return strcmp(right->file->path, left->file->path);
}

/* The name of a file begins with the time of the start. */
static int by_start(const void *a, const void *b)
{
	const struct changed *left = a, *right = b;
	return str_compare(path_name(right->file->path), path_name(left->file->path));
}

static void sort_files(struct picker *picker, const struct rollout_listing *listing)
{
	struct stat st;
	for (size_t i = 0; i < listing->count; i++) {
		if (stat(listing->files[i].path, &st) == 0)
			vec_push(&picker->files,
			         (struct changed){&listing->files[i],
			                          (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000});
	}
	if (picker->files.count)
		qsort(picker->files.items, picker->files.count, sizeof(*picker->files.items),
		      picker->pick->by_start ? by_start : by_change);
}

static bool is_folder(const char *wanted, struct str cwd)
{
	auto_free char *path = str_dup(cwd.ptr ? cwd : STR("")), *real = realpath(path, NULL);
	return strcmp(wanted, real ? real : path) == 0;
}

static bool passes(const struct session_pick *pick, const struct rollout_summary *summary)
{
	struct str provider = summary->meta.model_provider;
	if (summary->meta.is_subagent || !summary->preview.ptr)
		return false;
	if (pick->provider && provider.len && !str_is(provider, pick->provider))
		return false;
	return !pick->cwd || is_folder(pick->cwd, summary->meta.cwd);
}

static void read_rows(struct picker *picker)
{
	struct rollout_index *index = rollout_index_create(picker->pick->home);
	for (size_t i = 0; i < picker->files.count && !picker->has_more; i++) {
		struct row row = {0};
		const char *path = picker->files.items[i].file->path;
		if (rollout_index_summary(index, path, &picker->arena, &row.summary, NULL, NULL) != 0 ||
		    !passes(picker->pick, &row.summary))
			continue;
		picker->has_more = picker->rows.count == picker->most;
		if (picker->has_more)
			break;
		row.path = arena_cstr(&picker->arena, str_of(path));
		row.name = rollout_names_find(&picker->names, row.summary.meta.thread_id);
		vec_push(&picker->rows, row);
	}
	rollout_index_unref(index);
}

static int fill(struct picker *picker, struct error *err)
{
	struct rollout_listings *listings = rollout_listings_create(picker->pick->home);
	const struct rollout_listing *listing = rollout_listings_get(listings, picker->pick->archived, err);
	if (listing) {
		rollout_names_read(picker->pick->home, &picker->names);
		sort_files(picker, listing);
		read_rows(picker);
	}
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
	return listing ? 0 : -(int)err->code;
}

/* Appends the age in its largest unit: "5m", "3h", "12d". */
static void append_age(struct buf *out, int64_t at_ms)
{
	static const struct {
		int64_t seconds;
		char letter;
	} units[] = {{365 * 86400, 'y'}, {86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	int64_t seconds = (clock_unix_ms() - at_ms) / 1000;
	char text[32] = "now";
	for (size_t i = 0; i < countof(units); i++) {
		if (seconds < units[i].seconds)
			continue;
		snprintf(text, sizeof(text), "%lld%c", (long long)(seconds / units[i].seconds), units[i].letter);
		break;
	}
	buf_printf(out, "%4s", text);
}

/* Appends on one line the name, the folder if it is not fixed, and the first words. */
static void append_words(const struct picker *picker, const struct row *row, struct buf *out)
{
	struct str words = str_trim(row->summary.preview), line = words;
	str_next_line(&words, &line);
	if (!picker->pick->cwd) {
		terminal_text_append(out, row->summary.meta.cwd);
		buf_append_c(out, "  ");
	}
	if (row->name.len) {
		buf_append_char(out, '[');
		terminal_text_append(out, row->name);
		buf_append_c(out, "] ");
	}
	terminal_text_append(out, line);
}

/* Appends the age and the words. */
static void append_text(const struct picker *picker, const struct row *row, struct buf *line)
{
	append_age(line, row->summary.updated_at_ms);
	buf_append_c(line, "  ");
	append_words(picker, row, line);
	for (size_t i = 0; i < line->len; i++) {
		if (line->data[i] == '\n' || line->data[i] == '\t')
			line->data[i] = ' ';
	}
}

static void append_row(const struct picker *picker, size_t number, struct buf *out)
{
	const struct row *row = &picker->rows.items[number];
	size_t columns = picker->is_terminal ? terminal_columns(STDERR_FILENO) : WIDE;
	auto_buf struct buf line;
	buf_init(&line, MIB);
	if (picker->is_terminal)
		buf_printf(&line, "%3zu  ", number + 1);
	else
		buf_printf(&line, "%.*s  ", STR_ARG(row->summary.meta.thread_id));
	append_text(picker, row, &line);
	buf_append_str(out, terminal_text_cut(buf_str(&line), columns));
	buf_append_char(out, '\n');
}

static int print_rows(const struct picker *picker, int fd)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_LINE);
	for (size_t i = 0; i < picker->rows.count; i++)
		append_row(picker, i, &out);
	if (!picker->rows.count)
		fprintf(stderr, "no session to %s%s\n", picker->pick->verb,
		        picker->pick->cwd ? " began in this folder; --all shows those of all" : "");
	else if (picker->has_more)
		fprintf(stderr, "only the last %zu are listed; resume older ones by id or name\n", picker->rows.count);
	return fd_write_all(fd, buf_str(&out).ptr, out.len, NULL);
}

/* Returns the chosen path; NULL for an empty line and at the end of the input. */
static char *ask(const struct picker *picker)
{
	char line[64];
	int64_t number;
	while (picker->rows.count) {
		fprintf(stderr, "Which one to %s (1 to %zu, nothing for none)? ", picker->pick->verb,
		        picker->rows.count);
		if (!fgets(line, sizeof(line), stdin) || !str_trim(str_of(line)).len)
			break;
		if (str_to_i64(str_trim(str_of(line)), &number) && number >= 1 &&
		    (uint64_t)number <= picker->rows.count)
			return xstrdup(picker->rows.items[number - 1].path);
	}
	return NULL;
}

static void finish(struct picker *picker)
{
	arena_finish(&picker->arena);
	rollout_names_finish(&picker->names);
	vec_finish(&picker->files);
	vec_finish(&picker->rows);
}

int session_list(const struct session_pick *pick, size_t most, struct session_rows *ret, struct error *err)
{
	struct picker picker = {.pick = pick, .most = most};
	int status = fill(&picker, err);
	for (size_t i = 0; status == 0 && i < picker.rows.count; i++) {
		auto_buf struct buf line;
		buf_init(&line, MIB);
		append_text(&picker, &picker.rows.items[i], &line);
		struct str text = terminal_text_cut(buf_str(&line), WIDE);
		vec_push(&ret->items, (struct session_row){xstrdup(picker.rows.items[i].path), str_dup(text)});
	}
	ret->has_more = picker.has_more;
	finish(&picker);
	return status;
}

void session_rows_finish(struct session_rows *rows)
{
	vec_for_each(row, &rows->items) {
		free(row->path);
		free(row->text);
	}
	vec_finish(&rows->items);
}

int session_pick(const struct session_pick *pick, char **ret_path, struct error *err)
{
	struct picker picker = {.pick = pick, .is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO)};
	*ret_path = NULL;
	picker.most = picker.is_terminal ? TERMINAL_ROWS : TABLE_ROWS;
	int status = fill(&picker, err);
	if (status == 0)
		print_rows(&picker, picker.is_terminal ? STDERR_FILENO : STDOUT_FILENO);
	if (status == 0 && picker.is_terminal)
		*ret_path = ask(&picker);
	finish(&picker);
	return status;
}
