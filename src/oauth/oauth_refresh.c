/* The decision is made twice: before the lock, so that a valid token costs none, and with it. */
#include "oauth/oauth_refresh.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/oauth_pkce.h"
#include "oauth/oauth_limits.h"
#include "oauth/oauth_metadata.h"
#include "oauth/oauth_token.h"

static bool is_valid_for(const struct oauth_credentials *login, struct str refused, int64_t ms)
{
	if (refused.ptr && str_eq(login->access_token, refused))
		return false;
	return !login->expires_at_ms || login->expires_at_ms - clock_unix_ms() > ms;
}

static int lock_store(const char *home, struct error *err)
{
	const struct timespec pause = {.tv_nsec = LIMIT_OAUTH_LOCK_PAUSE_MS * 1000 * 1000};
	auto_free char *path = path_join(home, ".credentials.lock");
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	     waited_ms += LIMIT_OAUTH_LOCK_PAUSE_MS) {
		if (waited_ms >= LIMIT_OAUTH_LOCK_MS)
			return error_set(err, ERR_busy, "another process has refreshed the login for %d seconds",
			                 LIMIT_OAUTH_LOCK_MS / 1000);
		nanosleep(&pause, NULL);
	}
	return steal_fd(&fd);
}

/* A login that codex 0.169 has stored does not name the endpoint. */
static int find_endpoint(struct oauth_fetcher *fetcher, struct oauth_credentials *login, struct error *err)
{
	struct oauth_metadata metadata;
	const char *issuer = login->issuer.ptr ? arena_cstr(fetcher->arena, login->issuer) : NULL;
	if (login->token_endpoint.ptr)
		return 0;
	if (oauth_metadata_find(fetcher, arena_cstr(fetcher->arena, login->server_url), issuer, &metadata, err) != 0)
		return -(int)err->code;
	login->token_endpoint = str_of(metadata.token_endpoint);
	return 0;
}

static int request_token(struct oauth_fetcher *fetcher, const struct oauth_refresh_options *options,
                         struct oauth_credentials *login, struct error *err)
{
	auto_buf struct buf form;
	buf_init(&form, LIMIT_OAUTH_FORM);
	struct oauth_client client = {
		.id = arena_cstr(fetcher->arena, login->client_id),
		.secret = login->client_secret.ptr ? arena_cstr(fetcher->arena, login->client_secret) : NULL,
		.is_registered = login->client_secret.ptr != NULL,
		.sends_secret_in_body = login->sends_secret_in_body,
	};
	if (!client.secret && options->client_id.ptr && str_eq(options->client_id, login->client_id))
		client.secret = options->client_secret;
	if (find_endpoint(fetcher, login, err) != 0)
		return -(int)err->code;
	oauth_append_field(&form, "grant_type", STR("refresh_token"));
	oauth_append_field(&form, "refresh_token", login->refresh_token);
	if (login->scope.len)
		oauth_append_field(&form, "scope", login->scope);
	oauth_append_field(&form, "resource", login->resource.ptr ? login->resource : login->server_url);
	return oauth_token_request(fetcher, arena_cstr(fetcher->arena, login->token_endpoint), &client, &form, login,
	                           err);
}

static int refresh(const struct oauth_refresh_options *options, struct arena *arena, struct oauth_credentials *login,
                   struct error *err)
{
	struct oauth_fetcher fetcher;
	if (!login->refresh_token.ptr)
		return error_set(err, ERR_denied, "the login has expired");
	if (oauth_fetcher_init(&fetcher, arena, err) != 0)
		return -(int)err->code;
	int status = request_token(&fetcher, options, login, err);
	oauth_fetcher_finish(&fetcher);
	return status == 0 ? oauth_store_write(options->home, login, err) : status;
}

static int read_login(const struct oauth_refresh_options *options, struct arena *arena, struct oauth_credentials *ret,
                      bool *ret_is_found, struct error *err)
{
	return oauth_store_read(options->home, options->name, options->url, arena, ret, ret_is_found, err);
}

int oauth_refresh(const struct oauth_refresh_options *options, struct arena *arena, struct oauth_credentials *ret,
                  bool *ret_is_found, struct error *err)
{
	struct oauth_credentials fresh;
	if (read_login(options, arena, ret, ret_is_found, err) != 0)
		return -(int)err->code;
	if (!*ret_is_found || is_valid_for(ret, options->refused, LIMIT_OAUTH_EARLY_MS))
		return 0;
	auto_close int lock = lock_store(options->home, err);
	if (lock < 0 || read_login(options, arena, ret, ret_is_found, err) != 0)
		return -(int)err->code;
	if (!*ret_is_found || is_valid_for(ret, options->refused, LIMIT_OAUTH_EARLY_MS))
		return 0; /* another process was faster */
	fresh = *ret;
	if (refresh(options, arena, &fresh, err) == 0)
		*ret = fresh;
	else if (!is_valid_for(ret, options->refused, 0))
		return -(int)err->code;
	return 0;
}
