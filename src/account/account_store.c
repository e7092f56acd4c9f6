/* A fetch that was cancelled is freed when its worker has ended. */
#include "account/account_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "loop/loop.h"

/* ---- the keyring ---- */

struct account_fetch {
	char *home;
	enum credentials_store store;
	account_fetch_fn on_done; /* NULL: cancelled */
	void *self;
};

static void on_work(void *self)
{
	struct account_fetch *fetch = self;
	auth_store_fetch((struct auth_place){fetch->home, fetch->store});
}

static void on_worked(void *self)
{
	struct account_fetch *fetch = self;
	if (fetch->on_done)
		fetch->on_done(fetch->self);
	free(fetch->home);
	free(fetch);
}

struct account_fetch *account_store_fetch(struct loop *loop, struct auth_place place, account_fetch_fn on_done,
                                          void *self)
{
	if (!auth_store_is_slow(place))
		return NULL;
	struct account_fetch *fetch = xnew(struct account_fetch);
	*fetch = (struct account_fetch){xstrdup(place.home), place.store, on_done, self};
	worker_run(loop, on_work, on_worked, fetch);
	return fetch;
}

void account_fetch_cancel(struct account_fetch *fetch)
{
	if (fetch)
		fetch->on_done = NULL;
}

/* ---- the lock ---- */

int account_store_lock(const char *home, struct error *err)
{
	auto_free char *path = path_join(home, "auth.lock");
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0) {
		error_sys(err, errno, "cannot open %s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		error_set(err, ERR_busy, "another process is refreshing the login");
		return -1;
	}
	return steal_fd(&fd);
}

/* ---- the new login ---- */

/* True if the stored login is not the one that was refreshed. */
static bool is_replaced(struct auth_place place, const struct auth *auth, const char *sent)
{
	auto_auth struct auth stored = {0};
	return auth_read(place, &stored, NULL) == 0 &&
	       (stored.kind != AUTH_chatgpt || !str_eq(str_of(stored.account_id), str_of(auth->account_id)) ||
	        strcmp(stored.refresh_token ?: "", sent) != 0);
}

int account_store_replace(struct auth_place place, const struct auth *auth, const char *sent, bool *ret_is_outdated,
                          struct error *err)
{
	auth_store_fetch(place);
	*ret_is_outdated = is_replaced(place, auth, sent);
	return *ret_is_outdated ? 0 : auth_write(place, auth, err);
}
