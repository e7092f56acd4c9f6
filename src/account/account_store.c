/* The keyring and the lock are both of other processes, which may hang or keep them for a minute: a thread asks the
 * keyring, and a caller that does not get the lock tries again later. A fetch belongs to its thread until that has
 * ended, or to nothing once it is left: it holds only a copy of the place.
 *
 * The lock is of a file that is never removed, so that all processes lock the same one. */
#include "account/account_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "loop/lane.h"

/* ---- the keyring ---- */

struct account_fetch {
	char *home;
	enum credentials_store store;
	account_fetch_fn on_done;
	void *self;
	struct lane_job *job;
};

static void on_work(void *self)
{
	struct account_fetch *fetch = self;
	auth_store_fetch((struct auth_place){fetch->home, fetch->store});
}

static void fetch_free(void *self)
{
	struct account_fetch *fetch = self;
	free(fetch->home);
	free(fetch);
}

static void on_worked(void *self)
{
	struct account_fetch *fetch = self;
	fetch->on_done(fetch->self);
	fetch_free(fetch);
}

struct account_fetch *account_store_fetch(struct loop *loop, struct auth_place place, account_fetch_fn on_done,
                                          void *self)
{
	if (!auth_store_is_slow(place))
		return NULL;
	struct account_fetch *fetch = xnew(struct account_fetch);
	*fetch = (struct account_fetch){xstrdup(place.home), place.store, on_done, self, NULL};
	fetch->job = lane_run(loop, on_work, on_worked, fetch);
	return fetch;
}

void account_fetch_cancel(struct account_fetch *fetch)
{
	if (fetch)
		lane_leave(fetch->job, fetch_free);
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
