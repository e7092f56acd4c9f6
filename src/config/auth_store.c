/* A file is replaced atomically, so that a full disk does not destroy the old credentials. With "keyring" there is no
 * file; with "auto" it is used where the keyring cannot be, has nothing, or did not take newer tokens.
 *
 * The text of a keyring is kept. A thread may read it while another one writes: its text is then outdated, and it reads
 * again. */
#include "config/auth_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "config/keyring.h"

struct memory {
	struct list link;
	char *home;
	struct buf text;
	struct error err; /* of a keyring that has no text */
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list memories = {&memories, &memories};             /* ephemeral */
static struct list keyrings = {&keyrings, &keyrings};             /* as read or written last */
static struct list unsaved = {&unsaved, &unsaved};                /* what a keyring did not take */
static struct list spent_tokens = {&spent_tokens, &spent_tokens}; /* that the latter replace */
static unsigned keyring_changes;                                  /* by this process */
static pthread_mutex_t fetch_lock = PTHREAD_MUTEX_INITIALIZER;    /* held before memory_lock */

void auth_store_wipe(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_finish(buf);
}

static struct memory *memory_find(const struct list *list, const char *home)
{
	struct memory *memory;
	list_for_each(memory, list, link)
		if (strcmp(memory->home, home) == 0)
			return memory;
	return NULL;
}

/* False if nothing is in memory. Sets ret_err, with code 0 if there is a text. */
static bool memory_read(const struct list *list, const char *home, struct buf *out, struct error *ret_err)
{
	pthread_mutex_lock(&memory_lock);
	struct memory *memory = memory_find(list, home);
	if (memory) {
		buf_append_str(out, buf_str(&memory->text));
		*ret_err = memory->err;
	}
	pthread_mutex_unlock(&memory_lock);
	return memory;
}

/* With the lock held. */
static bool memory_drop(const struct list *list, const char *home)
{
	struct memory *memory = memory_find(list, home);
	if (!memory)
		return false;
	list_remove(&memory->link);
	auth_store_wipe(&memory->text);
	free(memory->home);
	free(memory);
	return true;
}

/* The texts that precede what is stored. */
static bool memory_remove(const char *home)
{
	pthread_mutex_lock(&memory_lock);
	bool is_there = memory_drop(&memories, home);
	is_there |= memory_drop(&unsaved, home);
	memory_drop(&spent_tokens, home);
	pthread_mutex_unlock(&memory_lock);
	return is_there;
}

/* With the lock held. err: code 0, or why there is no text. */
static void memory_write(struct list *list, const char *home, struct str text, const struct error *err)
{
	struct memory *memory = xnew(struct memory);
	memory->home = xstrdup(home);
	memory->err = *err;
	buf_init(&memory->text, LIMIT_AUTH_FILE);
	buf_append_str(&memory->text, text);
	memory_drop(list, home);
	list_append(list, &memory->link);
}

/* ---- the keyring ---- */

/* With "auto", a keyring that cannot be used is not tried again. One that does not answer may do so later. */
static _Atomic bool lacks_keyring;

static bool uses_keyring(struct auth_place place)
{
	return place.store == credentials_store_keyring || (place.store == credentials_store_auto && !lacks_keyring);
}

static void note_status(struct auth_place place, int status)
{
	lacks_keyring |= place.store == credentials_store_auto && status == -ERR_unsupported;
}

/* Keeps what the keyring has, unless this process has changed it since then. */
static bool keyring_keep(const char *home, struct str text, const struct error *err, unsigned changes)
{
	pthread_mutex_lock(&memory_lock);
	bool is_current = changes == keyring_changes;
	if (is_current)
		memory_write(&keyrings, home, text, err);
	pthread_mutex_unlock(&memory_lock);
	return is_current;
}

/* To be called after a change. */
static void keyring_change(const char *home, struct str text, const struct error *err)
{
	pthread_mutex_lock(&memory_lock);
	keyring_changes++;
	memory_write(&keyrings, home, text, err);
	pthread_mutex_unlock(&memory_lock);
}

static void keyring_empty(const char *home)
{
	struct error none;
	error_set(&none, ERR_not_found, "no credentials");
	keyring_change(home, STR(""), &none);
}

static unsigned count_changes(void)
{
	pthread_mutex_lock(&memory_lock);
	unsigned changes = keyring_changes;
	pthread_mutex_unlock(&memory_lock);
	return changes;
}

/* True if the keyring was found without credentials, and there is a file: a program that stores them in the keyring
 * removes it. */
static bool has_file_only(struct auth_place place)
{
	auto_free char *path = path_join(place.home, "auth.json");
	pthread_mutex_lock(&memory_lock);
	const struct memory *kept = memory_find(&keyrings, place.home);
	bool is_empty = kept && kept->err.code == ERR_not_found;
	pthread_mutex_unlock(&memory_lock);
	return place.store == credentials_store_auto && is_empty && access(path, F_OK) == 0;
}

static bool has_memory(const struct list *list, const char *home)
{
	pthread_mutex_lock(&memory_lock);
	bool is_there = memory_find(list, home);
	pthread_mutex_unlock(&memory_lock);
	return is_there;
}

bool auth_store_is_slow(struct auth_place place)
{
	return uses_keyring(place) && !has_memory(&memories, place.home) && !has_file_only(place);
}

/* One at a time, so that an older text does not replace a newer one. Returns the status of the keyring. */
static int fetch(struct auth_place place)
{
	bool is_kept = !uses_keyring(place);
	int status = 0;
	pthread_mutex_lock(&fetch_lock);
	while (!is_kept) {
		struct buf text;
		struct error err = {0};
		unsigned changes = count_changes();
		buf_init(&text, LIMIT_AUTH_FILE);
		status = keyring_read(place.home, &text, &err);
		is_kept = keyring_keep(place.home, buf_str(&text), &err, changes);
		auth_store_wipe(&text);
	}
	pthread_mutex_unlock(&fetch_lock);
	note_status(place, status);
	return status;
}

void auth_store_refetch(struct auth_place place)
{
	fetch(place);
}

/* ---- changes ---- */

static pthread_mutex_t change_lock = PTHREAD_MUTEX_INITIALIZER;

/* Without a file, such as in a folder that cannot be written, other processes are not kept out. */
static bool try_begin(struct auth_place place, struct auth_change *change)
{
	auto_free char *path = path_join(place.home, "auth-store.lock");
	if (pthread_mutex_trylock(&change_lock) != 0)
		return false;
	change->fd = place.store == credentials_store_ephemeral
	                     ? -1
	                     : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (change->fd < 0 || flock(change->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	auth_store_end(change);
	return false;
}

int auth_store_begin(struct auth_place place, struct auth_change *ret, struct error *err)
{
	enum { PAUSE_MS = 10 };
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000 * 1000};
	for (int waited_ms = 0; !try_begin(place, ret); waited_ms += PAUSE_MS) {
		if (waited_ms >= LIMIT_AUTH_LOCK_MS)
			return error_set(err, ERR_busy,
			                 "the stored credentials have been locked for %d seconds; try again",
			                 LIMIT_AUTH_LOCK_MS / 1000);
		nanosleep(&pause, NULL);
	}
	return 0;
}

void auth_store_end(struct auth_change *change)
{
	if (change->fd >= 0)
		close(change->fd);
	change->fd = -1;
	pthread_mutex_unlock(&change_lock);
}

/* ---- reading ---- */

static int read_file(struct auth_place place, struct buf *out, struct error *err)
{
	auto_free char *path = path_join(place.home, "auth.json");
	return file_read(path, out, err);
}

static int read_kept(const char *home, struct buf *out, struct error *err)
{
	struct error why;
	if (!memory_read(&keyrings, home, out, &why))
		return keyring_read(home, out, err);
	return why.code ? error_set(err, why.code, "%s", why.text) : 0;
}

static bool refresh_time(struct str text, int64_t *ret_ms)
{
	auto_arena struct arena arena = {0};
	return clock_parse_rfc3339(json_get_str(json_parse(&arena, text, NULL), "last_refresh"), ret_ms);
}

/* True for tokens that were refreshed later than those of the keyring. */
static bool is_newer(struct str file, struct str keyring)
{
	int64_t file_ms, keyring_ms;
	return refresh_time(file, &file_ms) && refresh_time(keyring, &keyring_ms) && file_ms > keyring_ms;
}

/* Chooses between the text of the keyring, which is in out if the status is 0, and the file. */
static int read_auto(struct auth_place place, int status, struct buf *out, struct error *err)
{
	struct error none;
	struct buf file;
	buf_init(&file, LIMIT_AUTH_FILE);
	int file_status = read_file(place, &file, &none);
	bool takes_file = file_status == 0 && (status != 0 || is_newer(buf_str(&file), buf_str(out)));
	if (takes_file) {
		buf_reuse(out);
		buf_append_str(out, buf_str(&file));
		status = 0;
	} else if (status != 0 && status != -ERR_timeout) {
		status = error_set(err, none.code, "%s", none.text);
	}
	auth_store_wipe(&file);
	return status;
}

int auth_store_read(struct auth_place place, struct buf *out, struct error *err)
{
	struct error failure = {0};
	if (memory_read(&memories, place.home, out, &failure))
		return 0;
	if (place.store == credentials_store_ephemeral)
		return error_set(err, ERR_not_found, "no credentials");
	if (!uses_keyring(place))
		return read_file(place, out, err);
	if (memory_read(&unsaved, place.home, out, &failure))
		return 0;
	int status = read_kept(place.home, out, &failure);
	note_status(place, status);
	if (status != 0)
		error_set(err, failure.code, "%s", failure.text);
	if (place.store == credentials_store_auto)
		return read_auto(place, status, out, err);
	return status == 0 || failure.code == ERR_not_found ? status
	                                                    : error_wrap(err, "failed to load CLI auth from keyring");
}

/* ---- writing ---- */

/* Writes to the keyring, and removes the file. */
static int write_keyring(struct auth_place place, struct str text, unsigned wait_ms, struct error *err)
{
	auto_free char *path = path_join(place.home, "auth.json");
	int status = keyring_write(place.home, text, wait_ms, err);
	note_status(place, status);
	if (status != 0)
		return error_wrap(err, "failed to write OAuth tokens to keyring");
	unlink(path);
	keyring_change(place.home, text, &(struct error){0});
	return 0;
}

static int write_file(struct auth_place place, struct str text, struct error *err)
{
	if (dir_make(place.home, 0700, err) != 0)
		return error_wrap(err, "cannot store the credentials");
	auto_free char *path = path_join(place.home, "auth.json");
	return file_write_atomic(path, text, 0600, true, err);
}

int auth_store_write(struct auth_place place, struct str text, bool is_memory, struct error *err)
{
	int status = 0;
	if (is_memory || place.store == credentials_store_ephemeral) {
		pthread_mutex_lock(&memory_lock);
		memory_write(&memories, place.home, text, &(struct error){0});
		pthread_mutex_unlock(&memory_lock);
		return 0;
	}
	if (uses_keyring(place))
		status = write_keyring(place, text, LIMIT_KEYRING_WRITE_MS, err);
	if (!uses_keyring(place)) /* or no longer */
		status = write_file(place, text, err);
	if (status == 0)
		memory_remove(place.home);
	return status;
}

/* ---- tokens that the keyring did not take ---- */

/* The spent tokens are lines: the keyring may have any of those that it did not replace. */
static void keep_unsaved(const char *home, struct str text, struct str spent)
{
	struct error none = {0};
	struct buf lines;
	buf_init(&lines, LIMIT_AUTH_FILE);
	memory_read(&spent_tokens, home, &lines, &none);
	buf_append_str(&lines, spent);
	buf_append_char(&lines, '\n');
	pthread_mutex_lock(&memory_lock);
	memory_write(&unsaved, home, text, &none);
	memory_write(&spent_tokens, home, buf_str(&lines), &none);
	pthread_mutex_unlock(&memory_lock);
	auth_store_wipe(&lines);
}

bool auth_store_keep(struct auth_place place, struct str text, struct str spent)
{
	bool can_keep = uses_keyring(place);
	if (can_keep)
		keep_unsaved(place.home, text, spent);
	return can_keep;
}

int auth_store_renew(struct auth_place place, struct str text, struct str spent, struct error *err)
{
	struct error ignored;
	if (has_memory(&memories, place.home) || !uses_keyring(place))
		return auth_store_write(place, text, false, err);
	/* A keyring that does not answer may have other credentials by now. */
	int status = fetch(place);
	if (status == 0 || status == -ERR_not_found)
		status = write_keyring(place, text, LIMIT_KEYRING_READ_MS, &ignored);
	if (!uses_keyring(place))
		return auth_store_write(place, text, false, err);
	if (status == 0) {
		memory_remove(place.home);
		return 0;
	}
	keep_unsaved(place.home, text, spent);
	if (place.store == credentials_store_auto)
		best_effort(write_file(place, text, &ignored));
	return 0;
}

/* True if the refresh token in the text that is kept of the keyring is one of these lines. */
static bool has_token(const char *home, struct str lines)
{
	auto_arena struct arena arena = {0};
	struct error none;
	struct str found = STR_NONE;
	struct buf text;
	buf_init(&text, LIMIT_AUTH_FILE);
	if (memory_read(&keyrings, home, &text, &none))
		json_to_str(json_path(json_parse(&arena, buf_str(&text), NULL), "tokens.refresh_token"), &found);
	bool has_it = false;
	for (struct str line; !has_it && str_next_line(&lines, &line);)
		has_it = str_eq(found, line);
	auth_store_wipe(&text);
	return has_it;
}

/* Within a change: gives the keyring the text, unless a logout or another login has come first. */
static void settle(struct auth_place place)
{
	struct error none;
	struct buf text, spent;
	int status = fetch(place);
	buf_init(&text, LIMIT_AUTH_FILE);
	buf_init(&spent, LIMIT_AUTH_FILE);
	bool is_there = memory_read(&unsaved, place.home, &text, &none) &&
	                memory_read(&spent_tokens, place.home, &spent, &none);
	if (is_there && status == 0 && has_token(place.home, buf_str(&spent)))
		status = write_keyring(place, buf_str(&text), LIMIT_KEYRING_READ_MS, &none);
	if (is_there && (status == 0 || status == -ERR_not_found))
		memory_remove(place.home);
	auth_store_wipe(&text);
	auth_store_wipe(&spent);
}

void auth_store_fetch(struct auth_place place)
{
	struct auth_change change;
	struct error busy;
	if (!uses_keyring(place) || !has_memory(&unsaved, place.home)) {
		fetch(place);
	} else if (auth_store_begin(place, &change, &busy) == 0) {
		settle(place);
		auth_store_end(&change);
	}
}

/* ---- removing ---- */

static int remove_file(struct auth_place place, bool *ret_was_there, struct error *err)
{
	auto_free char *path = path_join(place.home, "auth.json");
	*ret_was_there = unlink(path) == 0;
	if (*ret_was_there || errno == ENOENT || errno == ENOTDIR)
		return 0;
	return error_sys(err, errno, "cannot remove %s", path);
}

int auth_store_remove(struct auth_place place, bool *ret_was_there, struct error *err)
{
	struct error failure;
	bool was_in_keyring = false, was_in_file = false;
	bool was_in_memory = memory_remove(place.home);
	int status = 0, file_status = 0;
	if (place.store != credentials_store_ephemeral) {
		status = uses_keyring(place) ? keyring_remove(place.home, &was_in_keyring, &failure) : 0;
		if (uses_keyring(place) && status == 0)
			keyring_empty(place.home);
		note_status(place, status);
		file_status = remove_file(place, &was_in_file, err);
	}
	*ret_was_there = was_in_memory || was_in_keyring || was_in_file;
	if (file_status != 0 || status == 0 || !uses_keyring(place))
		return file_status;
	error_set(err, failure.code, "%s", failure.text);
	return error_wrap(err, "failed to delete auth from keyring");
}
