/* A call is a state machine: it decides by the stored tokens, waits for the lock, decides again, asks the issuer, and
 * has a worker store the answer. Each call takes part in the lock on its own, so calls of one process need no other
 * order than those of several processes. */
#include "account/account.h"

#include <string.h>
#include <unistd.h>

#include "account/account_limits.h"
#include "account/account_refresh.h"
#include "account/account_store.h"
#include "account/personal_token.h"
#include "account/token_command.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/sha.h"
#include "config/config_env.h"
#include "loop/lane.h"
#include "net/http_fetch.h"

struct accounts {
	struct loop *loop;
	struct http_client *http;
	struct token_commands *commands;
	struct list calls;
	account_ask_fn ask;
	void *ask_self;
	bool is_asking;
	struct personal_owner owner;
	/* The refresh token that the issuer has refused for good; it is not sent again. */
	bool has_dead;
	uint8_t dead[SHA256_SIZE];
	struct error dead_reason;
};

enum call_state {
	CALL_DECIDING, /* the timer continues with the next step, which may have to wait for the lock */
	CALL_ASKING,   /* the client has been asked for tokens */
	CALL_LOOKING,  /* the issuer has been asked whose token it is */
	CALL_POSTING,  /* the refresh was sent */
	CALL_STORING,  /* a worker writes the new tokens */
};

struct account_call {
	struct list link;
	struct accounts *accounts;
	account_fn on_done; /* NULL: cancelled, and kept only to store the tokens */
	void *self;
	char *home, *refused, *account_id;
	char *sent; /* the refresh token of the refresh */
	struct auth_place place;
	const struct config_strings *workspaces;
	enum call_state state;
	struct loop_timer *timer;
	struct http_fetch *fetch;
	struct account_fetch *reading; /* a worker asks the keyring; NULL: none */
	struct auth auth;              /* as read last, or as refreshed */
	int lock;                      /* the descriptor of the lock; -1: not held */
	uint64_t waits_since;
	bool is_new, is_storing, is_answered;
	bool is_outdated;                        /* another login was stored, or none, while the issuer was asked */
	void (*step)(struct account_call *call); /* that follows the reading */
	struct error err;                        /* of the worker or of the client */
};

/* ---- the end ---- */

static void wipe(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

static void call_destroy(struct account_call *call)
{
	list_remove(&call->link);
	loop_timer_destroy(call->timer);
	http_fetch_cancel(call->fetch);
	account_fetch_cancel(call->reading);
	auth_finish(&call->auth);
	if (call->lock >= 0)
		close(call->lock);
	wipe(call->refused);
	wipe(call->sent);
	free(call->account_id);
	free(call->home);
	free(call);
}

static void call_end(struct account_call *call, const struct error *err)
{
	struct account_token token = {
		.access_token = str_of(call->auth.access_token),
		.account_id = str_of(call->auth.account_id),
		.is_new = call->is_new,
	};
	if (call->lock >= 0)
		close(steal_fd(&call->lock));
	if (call->on_done)
		call->on_done(err ? NULL : &token, err, call->self);
	call_destroy(call);
}

/* Ends a call whose refresh has failed: a token that has not expired yet is good enough, unless a server refused it. */
static void call_fail(struct account_call *call, const struct error *err)
{
	bool is_usable = !call->refused && account_is_alive(&call->auth, clock_unix_ms());
	call_end(call, is_usable ? NULL : err);
}

/* ---- the decision ---- */

/* False and err if the tokens are those of another account, or none. */
static bool call_check_account(struct account_call *call, struct error *err)
{
	struct auth *auth = &call->auth;
	if (auth->kind == AUTH_personal)
		personal_owner_find(&call->accounts->owner, auth);
	bool is_open = !call->account_id || (auth->kind == AUTH_personal && !auth->account_id);
	if (auth_is_account(auth) && (is_open || str_eq(str_of(call->account_id), str_of(auth->account_id))))
		return true;
	auth_finish(auth);
	error_set(err, ERR_denied,
	          "Your access token could not be refreshed because you have since logged out or signed in to another "
	          "account. Please sign in again.");
	return false;
}

static void on_read(void *self)
{
	struct account_call *call = self;
	call->reading = NULL;
	call->step(call);
}

/* Continues with a step that reads the tokens; a worker asks the keyring first, if they are there. */
static void call_read(struct account_call *call, void (*step)(struct account_call *call))
{
	call->state = CALL_DECIDING;
	call->step = step;
	call->reading = account_store_fetch(call->accounts->loop, call->place, on_read, call);
	if (!call->reading)
		step(call);
}

/* Reads the tokens again. */
static bool call_reread(struct account_call *call, struct error *err)
{
	auth_finish(&call->auth);
	return auth_find(call->place, &call->auth, err) == 0 && call_check_account(call, err);
}

static bool needs_refresh(const struct account_call *call)
{
	if (call->refused)
		return !call->auth.access_token || strcmp(call->auth.access_token, call->refused) == 0;
	return call->auth.kind == AUTH_chatgpt && account_is_stale(&call->auth, clock_unix_ms());
}

static void call_post(struct account_call *call);

static bool is_dead(const struct account_call *call)
{
	uint8_t hash[SHA256_SIZE];
	sha256(str_of(call->auth.refresh_token), hash);
	return call->accounts->has_dead && memcmp(hash, call->accounts->dead, sizeof(hash)) == 0;
}

/* Refreshes the tokens, with the lock held. */
static void call_refresh(struct account_call *call)
{
	struct error err;
	if (!call->auth.refresh_token || !call->auth.refresh_token[0]) {
		error_set(&err, ERR_denied,
		          "Your access token could not be refreshed. Please log out and sign in again.");
		call_fail(call, &err);
	} else if (is_dead(call)) {
		call_fail(call, &call->accounts->dead_reason);
	} else {
		call_post(call);
	}
}

static void call_ask(struct account_call *call)
{
	struct accounts *accounts = call->accounts;
	struct error err;
	if (!accounts->ask) {
		error_set(&err, ERR_denied,
		          "the access token of the client was refused, and no client can supply another");
		call_end(call, &err);
		return;
	}
	call->state = CALL_ASKING;
	if (accounts->is_asking)
		return;
	accounts->is_asking = true;
	accounts->ask(accounts, str_of(call->auth.account_id), accounts->ask_self);
}

/* ---- personal access tokens ---- */

/* Ends the call if the token may be used. */
static void call_end_personal(struct account_call *call)
{
	struct error err;
	bool is_allowed = !call->workspaces || auth_allows_workspace(call->workspaces, call->auth.account_id, &err);
	call_end(call, is_allowed ? NULL : &err);
}

static void on_whose(int status, struct str body, const struct error *transport, void *self)
{
	struct account_call *call = self;
	struct error err;
	call->fetch = NULL;
	if (personal_token_read(status, body, transport, &call->auth, &err) != 0) {
		call_end(call, &err);
		return;
	}
	personal_owner_keep(&call->accounts->owner, &call->auth);
	if (call_check_account(call, &err))
		call_end_personal(call);
	else
		call_end(call, &err);
}

static void call_decide_personal(struct account_call *call)
{
	struct error err;
	if (needs_refresh(call)) {
		error_set(&err, ERR_denied,
		          "the personal access token was refused. Make another one, and store it with `codex login "
		          "--with-access-token`.");
		call_end(call, &err);
	} else if (call->auth.account_id) {
		call_end_personal(call);
	} else {
		call->state = CALL_LOOKING;
		call->fetch = personal_token_ask(call->accounts->http, str_of(call->auth.access_token), on_whose, call);
	}
}

static void call_decide(struct account_call *call)
{
	struct error err;
	if (!call_reread(call, &err)) {
		call_end(call, &err);
	} else if (call->auth.kind == AUTH_personal) {
		call_decide_personal(call);
	} else if (!needs_refresh(call)) {
		call_end(call, NULL);
	} else if (call->auth.kind == AUTH_client) {
		call_ask(call);
	} else if (call->lock >= 0) {
		call_refresh(call);
	} else if ((call->lock = account_store_lock(call->home, &err)) >= 0) {
		call_read(call, call_decide); /* another process may have been faster */
	} else if (err.code == ERR_busy && clock_now_ms() - call->waits_since < LIMIT_ACCOUNT_LOCK_MS) {
		loop_timer_start(call->timer, LIMIT_ACCOUNT_LOCK_PAUSE_MS);
	} else {
		call_fail(call, &err);
	}
}

/* Ends a call for which the client was asked. */
static void call_take_answer(struct account_call *call)
{
	struct error err = call->err;
	if (!err.code)
		call->is_new = call_reread(call, &err);
	call_end(call, call->is_new ? NULL : &err);
}

static void on_timer(void *self)
{
	struct account_call *call = self;
	if (call->is_answered)
		call_take_answer(call);
	else
		call_read(call, call_decide);
}

/* ---- the refresh ---- */

static void on_store_work(void *self)
{
	struct account_call *call = self;
	call->err = (struct error){0};
	best_effort(auth_renew(call->place, &call->auth, call->sent, &call->is_outdated, &call->err));
}

static void on_stored(void *self)
{
	struct account_call *call = self;
	call->is_storing = false;
	if (!call->accounts) {
		call_destroy(call);
		return;
	}
	if (call->is_outdated) {
		call->is_new = false;
		call_decide(call);
		return;
	}
	if (call->err.code)
		error_wrap(&call->err, "the login was refreshed, but not stored");
	call_end(call, call->err.code ? &call->err : NULL);
}

/* A program that does not know the lock may have been faster. */
static void call_look_after_refusal(struct account_call *call)
{
	struct error ignored;
	bool has_other = call_reread(call, &ignored) && strcmp(call->auth.refresh_token ?: "", call->sent) != 0;
	if (has_other && !needs_refresh(call))
		call_end(call, NULL);
	else
		call_fail(call, &call->accounts->dead_reason);
}

static void on_refused(struct account_call *call, const struct error *err)
{
	struct accounts *accounts = call->accounts;
	sha256(str_of(call->sent), accounts->dead);
	accounts->has_dead = true;
	accounts->dead_reason = *err;
	call_read(call, call_look_after_refusal);
}

/* The tokens of an answer that arrives while the program ends replace spent ones; no loop is left for a worker. */
static void store_last(struct account_call *call, int status, struct str body)
{
	struct error ignored;
	if (account_refresh_read(status, body, &call->auth, clock_unix_ms(), &ignored) == ACCOUNT_REFRESHED)
		on_store_work(call);
}

static void on_answer(int status, struct str body, const struct error *transport, void *self)
{
	struct account_call *call = self;
	struct error err;
	call->fetch = NULL;
	if (!call->accounts) {
		if (!transport)
			store_last(call, status, body);
		call_destroy(call);
		return;
	}
	if (transport) {
		call_fail(call, transport);
		return;
	}
	switch (account_refresh_read(status, body, &call->auth, clock_unix_ms(), &err)) {
	case ACCOUNT_REFRESHED:
		call->is_new = call->is_storing = true;
		call->state = CALL_STORING;
		lane_run(call->accounts->loop, on_store_work, on_stored, call);
		break;
	case ACCOUNT_REFUSED:
		on_refused(call, &err);
		break;
	case ACCOUNT_FAILED:
		call_fail(call, &err);
		break;
	}
}

static void call_post(struct account_call *call)
{
	static const struct str headers[] = {{"Content-Type: application/json", 30}};
	const char *url = config_env("CODEX_REFRESH_TOKEN_URL_OVERRIDE");
	struct buf body;
	buf_init(&body, LIMIT_AUTH_FILE);
	account_refresh_write(&body, &call->auth, call->refused);
	struct http_fetch_request request = {
		.method = "POST",
		.url = url ? url : ACCOUNT_ISSUER "/oauth/token",
		.headers = headers,
		.header_count = countof(headers),
		.body = buf_str(&body),
		.max = LIMIT_ACCOUNT_ANSWER,
		.timeout_ms = LIMIT_ACCOUNT_ANSWER_MS,
		.is_farewell = true,
	};
	wipe(call->sent);
	call->sent = xstrdup(call->auth.refresh_token);
	call->state = CALL_POSTING;
	call->fetch = http_fetch_start(call->accounts->http, &request, on_answer, call);
	if (body.data)
		explicit_bzero(body.data, body.len);
	buf_finish(&body);
}

/* ---- calls ---- */

static char *copy(struct str text)
{
	return text.ptr ? str_dup(text) : NULL;
}

struct account_call *account_get(struct accounts *accounts, const struct account_request *request, account_fn on_done,
                                 void *self)
{
	struct account_call *call = xnew(struct account_call);
	*call = (struct account_call){
		.accounts = accounts,
		.on_done = on_done,
		.self = self,
		.home = xstrdup(request->place.home),
		.refused = copy(request->refused),
		.account_id = copy(request->account_id),
		.workspaces = request->workspaces,
		.lock = -1,
		.waits_since = clock_now_ms(),
	};
	call->place = (struct auth_place){call->home, request->place.store};
	call->timer = loop_timer_create(accounts->loop, on_timer, call);
	list_append(&accounts->calls, &call->link);
	loop_timer_start(call->timer, 0);
	return call;
}

void account_cancel(struct account_call *call)
{
	if (!call)
		return;
	call->on_done = NULL;
	if (call->state <= CALL_LOOKING)
		call_destroy(call);
}

/* ---- the client's tokens ---- */

void accounts_set_client(struct accounts *accounts, account_ask_fn ask, void *self)
{
	accounts->ask = ask;
	accounts->ask_self = self;
}

void accounts_client_answer(struct accounts *accounts, const struct error *err)
{
	struct account_call *call;
	accounts->is_asking = false;
	list_for_each(call, &accounts->calls, link) {
		if (call->state != CALL_ASKING)
			continue;
		call->is_answered = true;
		call->err = err ? *err : (struct error){0};
		loop_timer_start(call->timer, 0);
	}
}

/* ---- the accounts ---- */

struct accounts *accounts_create(struct loop *loop, struct http_client *http)
{
	struct accounts *accounts = xnew(struct accounts);
	accounts->loop = loop;
	accounts->http = http;
	accounts->commands = token_commands_create(loop);
	list_init(&accounts->calls);
	return accounts;
}

void accounts_destroy(struct accounts *accounts)
{
	struct account_call *call;
	if (!accounts)
		return;
	list_for_each(call, &accounts->calls, link) {
		if (call->state <= CALL_LOOKING) {
			call_destroy(call);
			continue;
		}
		list_remove(&call->link); /* the request or the worker ends first */
		loop_timer_destroy(steal(call->timer));
		call->on_done = NULL;
		call->accounts = NULL;
	}
	token_commands_destroy(accounts->commands);
	personal_owner_finish(&accounts->owner);
	free(accounts);
}

struct token_commands *accounts_commands(struct accounts *accounts)
{
	return accounts->commands;
}
