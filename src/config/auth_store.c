/* A file is replaced atomically, so that a full disk does not destroy the old credentials. With "keyring" there is no
 * file; with "auto" it is used where the keyring cannot be, or has nothing. */
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
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list memories = {&memories, &memories};

void auth_store_wipe(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_finish(buf);
}

static struct memory *memory_find(const char *home)
{
	struct memory *memory;
	list_for_each(memory, &memories, link)
		if (strcmp(memory->home, home) == 0)
			return memory;
	return NULL;
}

static bool memory_read(const char *home, struct buf *out)
{
	pthread_mutex_lock(&memory_lock);
	struct memory *memory = memory_find(home);
	if (memory)
		buf_append_str(out, buf_str(&memory->text));
	pthread_mutex_unlock(&memory_lock);
	return memory;
}

/* With the lock held. */
static bool memory_drop(const char *home)
{
	struct memory *memory = memory_find(home);
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
	bool is_there = memory_drop(home);
	pthread_mutex_unlock(&memory_lock);
	return is_there;
}

static void memory_write(const char *home, struct str text)
{
	struct memory *memory = xnew(struct memory);
	memory->home = xstrdup(home);
	buf_init(&memory->text, LIMIT_AUTH_FILE);
	buf_append_str(&memory->text, text);
	pthread_mutex_lock(&memory_lock);
	memory_drop(home);
	list_append(&memories, &memory->link);
	pthread_mutex_unlock(&memory_lock);
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

int auth_store_read(struct auth_place place, struct buf *out, struct error *err)
{
	if (memory_read(place.home, out))
		return 0;
	if (place.store == credentials_store_ephemeral)
		return error_set(err, ERR_not_found, "no credentials");
	if (uses_keyring(place)) {
		int status = keyring_read(place.home, out, err);
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
		memory_write(place.home, text);
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
	bool was_in_keyring = false;
	int status = uses_keyring(place) ? keyring_remove(place.home, &was_in_keyring, err) : 0;
	if (status != 0 && place.store == credentials_store_keyring)
		return error_wrap(err, "failed to delete auth from keyring");
	*ret_was_there |= was_in_keyring;
	status = unlink(path);
	if (status != 0 && errno != ENOENT && errno != ENOTDIR)
		return error_sys(err, errno, "cannot remove %s", path);
	*ret_was_there |= status == 0;
	return 0;
}
