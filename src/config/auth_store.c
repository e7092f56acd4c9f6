/* A file is replaced atomically, so that a full disk does not destroy the old credentials. With "keyring" there is no
 * file; with "auto" it is used where the keyring cannot be, has nothing, or did not take newer tokens.
 *
 * The text of a keyring is kept. Work that reads or changes it runs on one thread (loop/lane.h). */
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
#include "base/mem.h"
#include "config/auth_memory.h"
#include "config/keyring.h"

static _Atomic enum credentials_store unsaved_store;
static pthread_mutex_t fetch_lock = PTHREAD_MUTEX_INITIALIZER;

void auth_store_wipe(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_finish(buf);
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

static void keyring_empty(const char *home)
{
	struct error none;
	error_set(&none, ERR_not_found, "no credentials");
	memory_keep_keyring(home, STR(""), &none);
}

/* True if the keyring was found without credentials, and there is a file: a program that stores them in the keyring
 * removes it. */
static bool has_file_only(struct auth_place place)
{
	auto_free char *path = path_join(place.home, "auth.json");
	struct buf text;
	struct error err = {0};
	buf_init(&text, LIMIT_AUTH_FILE);
	best_effort(memory_read(MEMORY_KEYRING, place.home, &text, &err));
	auth_store_wipe(&text);
	return place.store == credentials_store_auto && err.code == ERR_not_found && access(path, F_OK) == 0;
}

bool auth_store_is_slow(struct auth_place place)
{
	return memory_has(MEMORY_UNSAVED, place.home) ||
	       (uses_keyring(place) && !memory_has(MEMORY_LOGIN, place.home) && !has_file_only(place));
}

/* One at a time, so that an older text does not replace a newer one. Returns the status of the keyring. */
static int fetch(struct auth_place place)
{
	struct buf text;
	struct error err = {0};
	if (!uses_keyring(place))
		return 0;
	buf_init(&text, LIMIT_AUTH_FILE);
	pthread_mutex_lock(&fetch_lock);
	int status = keyring_read(place.home, &text, &err);
	memory_keep_keyring(place.home, buf_str(&text), &err);
	pthread_mutex_unlock(&fetch_lock);
	auth_store_wipe(&text);
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

int auth_store_begin(struct auth_place place, unsigned wait_ms, struct auth_change *ret, struct error *err)
{
	enum { PAUSE_MS = 10 };
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000 * 1000};
	for (unsigned waited_ms = 0; !try_begin(place, ret); waited_ms += PAUSE_MS) {
		if (waited_ms >= wait_ms)
			return error_set(err, ERR_busy, "another login or logout has not ended; try again");
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

/* The text may be there beside an error (memory_keep_keyring). */
static int read_kept(const char *home, struct buf *out, struct error *err)
{
	struct error why;
	if (!memory_read(MEMORY_KEYRING, home, out, &why))
		return keyring_read(home, out, err);
	return why.code ? error_set(err, why.code, "%s", why.text) : 0;
}

/* True for tokens of the same account that were refreshed later than those of the keyring. */
static bool is_newer(struct str file, struct str keyring)
{
	auto_arena struct arena arena = {0};
	const struct json *roots[] = {json_parse(&arena, file, NULL), json_parse(&arena, keyring, NULL)};
	struct str accounts[2] = {STR_NONE, STR_NONE};
	int64_t times[2];
	for (size_t i = 0; i < countof(roots); i++) {
		if (!clock_parse_rfc3339(json_get_str(roots[i], "last_refresh"), &times[i]))
			return false;
		json_to_str(json_path(roots[i], "tokens.account_id"), &accounts[i]);
	}
	return times[0] > times[1] && str_eq(accounts[0], accounts[1]);
}

/* Chooses between the text of the keyring, which is in out, and the file. One that does not answer still has what it
 * had before. */
static int read_auto(struct auth_place place, int status, struct buf *out, struct error *err)
{
	struct error none;
	struct buf file;
	buf_init(&file, LIMIT_AUTH_FILE);
	int file_status = read_file(place, &file, &none);
	bool is_known = status == 0 || (status == -ERR_timeout && out->len);
	bool takes_file = file_status == 0 && (!is_known || is_newer(buf_str(&file), buf_str(out)));
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

/* As auth_store_read, without the login that a client has given to this process, and without what is unsaved. */
static int read_stored(struct auth_place place, struct buf *out, struct error *err)
{
	struct error failure = {0};
	if (place.store == credentials_store_ephemeral)
		return memory_read(MEMORY_LOGIN, place.home, out, &failure)
		               ? 0
		               : error_set(err, ERR_not_found, "no credentials");
	if (!uses_keyring(place))
		return read_file(place, out, err);
	int status = read_kept(place.home, out, &failure);
	note_status(place, status);
	if (status != 0)
		error_set(err, failure.code, "%s", failure.text);
	if (place.store == credentials_store_auto)
		return read_auto(place, status, out, err);
	return status == 0 || failure.code == ERR_not_found ? status
	                                                    : error_wrap(err, "failed to load CLI auth from keyring");
}

int auth_store_read(struct auth_place place, struct buf *out, struct error *err)
{
	struct error none;
	if (memory_read(MEMORY_LOGIN, place.home, out, &none) || memory_read(MEMORY_UNSAVED, place.home, out, &none))
		return 0;
	return read_stored(place, out, err);
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
	memory_keep_keyring(place.home, text, &(struct error){0});
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
		memory_write(MEMORY_LOGIN, place.home, text);
		return 0;
	}
	if (uses_keyring(place))
		status = write_keyring(place, text, LIMIT_KEYRING_WRITE_MS, err);
	if (!uses_keyring(place)) /* or no longer */
		status = write_file(place, text, err);
	if (status == 0)
		memory_clear(place.home);
	return status;
}

/* ---- refreshed tokens ---- */

void auth_store_keep(struct auth_place place, struct str text, struct str spent)
{
	memory_append_line(MEMORY_SPENT, place.home, spent); /* first: another thread may read both */
	memory_write(MEMORY_UNSAVED, place.home, text);
	unsaved_store = place.store;
}

/* Sets ret to the refresh token of a ChatGPT login, or STR_NONE. False for a text that is not JSON. */
static bool find_token(struct arena *arena, struct str text, struct str *ret)
{
	const struct json *root = json_parse(arena, text, NULL);
	struct str mode = json_get_str(root, "auth_mode");
	bool is_login = mode.len ? str_is(mode, "chatgpt") : !json_get_str(root, "OPENAI_API_KEY").len;
	*ret = STR_NONE;
	if (is_login)
		json_to_str(json_path(root, "tokens.refresh_token"), ret);
	return root;
}

static bool has_line(struct str lines, struct str text)
{
	bool has_it = false;
	for (struct str line; text.len && !has_it && str_next_line(&lines, &line);)
		has_it = str_eq(text, line);
	return has_it;
}

/* The error is left empty if a file has the tokens that the keyring did not take. */
static int write_renewed(struct auth_place place, struct str text, bool has_answer, struct error *err)
{
	int status = -ERR_timeout;
	struct error ignored;
	if (uses_keyring(place) && has_answer)
		status = write_keyring(place, text, LIMIT_KEYRING_READ_MS, err);
	if (place.store == credentials_store_ephemeral)
		return auth_store_write(place, text, true, err);
	if (!uses_keyring(place))
		return write_file(place, text, err);
	if (status != 0 && place.store == credentials_store_auto && write_file(place, text, &ignored) == 0)
		err->code = ERR_none;
	return status;
}

/* Stores the text if what is stored is the login that it renews: it has a spent token, or is the text. A keyring that
 * does not answer may have another one. Within a change. */
static int settle(struct auth_place place, struct str text, struct str spent, struct buf *stored, bool *ret_is_outdated,
                  struct error *err)
{
	auto_arena struct arena arena = {0};
	struct str token, own;
	int keyring = fetch(place);
	bool has_answer = !uses_keyring(place) || keyring == 0 || keyring == -ERR_not_found;
	int status = read_stored(place, stored, err);
	*ret_is_outdated = status == -ERR_not_found;
	if (status != 0)
		return status;
	if (!find_token(&arena, buf_str(stored), &token) || !find_token(&arena, text, &own))
		return error_set(err, ERR_config, "what is stored is not JSON");
	bool is_spent = has_line(spent, token), is_own = token.len && str_eq(token, own);
	*ret_is_outdated = has_answer && !is_spent && !is_own;
	if (is_spent || (is_own && has_answer))
		return write_renewed(place, text, has_answer, err);
	err->code = is_own ? ERR_none : ERR_timeout;
	return -ERR_timeout;
}

int auth_store_settle(struct auth_place place, bool *ret_is_outdated, struct error *err)
{
	struct error none;
	struct buf text, spent, stored;
	int status = 0;
	buf_init(&text, LIMIT_AUTH_FILE);
	buf_init(&spent, LIMIT_AUTH_FILE);
	buf_init(&stored, LIMIT_AUTH_FILE);
	/* Otherwise a login or logout has come first. */
	*ret_is_outdated = !memory_read(MEMORY_UNSAVED, place.home, &text, &none) ||
	                   !memory_read(MEMORY_SPENT, place.home, &spent, &none);
	if (!*ret_is_outdated)
		status = settle(place, buf_str(&text), buf_str(&spent), &stored, ret_is_outdated, err);
	if (status == 0 || *ret_is_outdated)
		memory_drop_unsaved(place.home, buf_str(&text));
	auth_store_wipe(&text);
	auth_store_wipe(&spent);
	auth_store_wipe(&stored);
	return *ret_is_outdated ? 0 : status;
}

void auth_store_fetch(struct auth_place place)
{
	struct auth_change change;
	struct error ignored;
	bool is_outdated;
	if (!memory_has(MEMORY_UNSAVED, place.home)) {
		fetch(place);
	} else if (auth_store_begin(place, 0, &change, &ignored) == 0) {
		best_effort(auth_store_settle(place, &is_outdated, &ignored));
		auth_store_end(&change);
	}
}

int auth_store_flush(struct error *err)
{
	auto_free char *home = memory_find_unsaved();
	struct auth_place place = {home, unsaved_store};
	struct auth_change change;
	bool is_outdated;
	if (!home)
		return 0;
	int status = auth_store_begin(place, LIMIT_AUTH_LOCK_MS, &change, err);
	if (status != 0)
		return status;
	status = auth_store_settle(place, &is_outdated, err);
	auth_store_end(&change);
	return status != 0 && err->code ? status : 0;
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
	bool was_in_memory = memory_clear(place.home);
	int status = 0, file_status = 0;
	if (place.store != credentials_store_ephemeral) {
		status = uses_keyring(place) ? keyring_remove(place.home, &was_in_keyring, &failure) : 0;
		if (uses_keyring(place) && status == 0)
			keyring_empty(place.home);
		note_status(place, status);
		file_status = remove_file(place, &was_in_file, err);
	}
	was_in_memory |= memory_clear(place.home); /* what was kept meanwhile */
	*ret_was_there = was_in_memory || was_in_keyring || was_in_file;
	if (file_status != 0 || status == 0 || !uses_keyring(place))
		return file_status;
	error_set(err, failure.code, "%s", failure.text);
	return error_wrap(err, "failed to delete auth from keyring");
}
