/* A file is replaced atomically, so that a full disk does not destroy the old credentials. With "keyring" there is no
 * file; with "auto" it is used where the keyring cannot be, or has nothing.
 *
 * The text of a keyring is kept. A thread may read it while another one writes: its text is then outdated, and it reads
 * again. */
#include "config/auth_store.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
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
static struct list memories = {&memories, &memories};          /* ephemeral */
static struct list keyrings = {&keyrings, &keyrings};          /* as read or written last */
static unsigned keyring_changes;                               /* by this process */
static pthread_mutex_t fetch_lock = PTHREAD_MUTEX_INITIALIZER; /* held before memory_lock */

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

static bool memory_remove(const char *home)
{
	pthread_mutex_lock(&memory_lock);
	bool is_there = memory_drop(&memories, home);
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

/* With "auto", a keyring that cannot be used is not tried again. */
static _Atomic bool lacks_keyring;

static bool uses_keyring(struct auth_place place)
{
	return place.store == credentials_store_keyring || (place.store == credentials_store_auto && !lacks_keyring);
}

/* Returns false if the file is used instead. */
static bool is_final(struct auth_place place, int status)
{
	lacks_keyring |= place.store == credentials_store_auto && status == -ERR_unsupported;
	return place.store == credentials_store_keyring || status == 0;
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

bool auth_store_is_slow(struct auth_place place)
{
	return uses_keyring(place);
}

/* One at a time, so that an older text does not replace a newer one. */
void auth_store_fetch(struct auth_place place)
{
	bool is_kept = !uses_keyring(place);
	pthread_mutex_lock(&fetch_lock);
	while (!is_kept) {
		struct buf text;
		struct error err = {0};
		unsigned changes = count_changes();
		buf_init(&text, LIMIT_AUTH_FILE);
		best_effort(keyring_read(place.home, &text, &err));
		is_kept = keyring_keep(place.home, buf_str(&text), &err, changes);
		auth_store_wipe(&text);
	}
	pthread_mutex_unlock(&fetch_lock);
}

static int read_kept(const char *home, struct buf *out, struct error *err)
{
	struct error why;
	if (!memory_read(&keyrings, home, out, &why))
		return keyring_read(home, out, err);
	return why.code ? error_set(err, why.code, "%s", why.text) : 0;
}

int auth_store_read(struct auth_place place, struct buf *out, struct error *err)
{
	struct error none;
	if (memory_read(&memories, place.home, out, &none))
		return 0;
	if (place.store == credentials_store_ephemeral)
		return error_set(err, ERR_not_found, "no credentials");
	if (uses_keyring(place)) {
		int status = read_kept(place.home, out, err);
		if (is_final(place, status))
			return status == -ERR_unsupported ? error_wrap(err, "failed to load CLI auth from keyring")
			                                  : status;
	}
	auto_free char *path = path_join(place.home, "auth.json");
	return file_read(path, out, err);
}

/* Writes to the keyring, and removes the file. */
static int write_keyring(struct auth_place place, struct str text, struct error *err)
{
	auto_free char *path = path_join(place.home, "auth.json");
	int status = keyring_write(place.home, text, err);
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
	if (is_memory || place.store == credentials_store_ephemeral) {
		pthread_mutex_lock(&memory_lock);
		memory_write(&memories, place.home, text, &(struct error){0});
		pthread_mutex_unlock(&memory_lock);
		return 0;
	}
	bool has_keyring = uses_keyring(place);
	int status = has_keyring ? write_keyring(place, text, err) : 0;
	if (!has_keyring || !is_final(place, status))
		status = write_file(place, text, err);
	if (status == 0)
		memory_remove(place.home);
	return status;
}

int auth_store_remove(struct auth_place place, bool *ret_was_there, struct error *err)
{
	auto_free char *path = path_join(place.home, "auth.json");
	*ret_was_there = memory_remove(place.home);
	if (place.store == credentials_store_ephemeral)
		return 0;
	bool was_in_keyring = false, has_keyring = uses_keyring(place);
	int status = has_keyring ? keyring_remove(place.home, &was_in_keyring, err) : 0;
	if (has_keyring && status == 0)
		keyring_empty(place.home);
	if (status != 0 && place.store == credentials_store_keyring)
		return error_wrap(err, "failed to delete auth from keyring");
	*ret_was_there |= was_in_keyring;
	status = unlink(path);
	if (status != 0 && errno != ENOENT && errno != ENOTDIR)
		return error_sys(err, errno, "cannot remove %s", path);
	*ret_was_there |= status == 0;
	return 0;
}
