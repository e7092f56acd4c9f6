/* A client waits 10 seconds for its first connection; later it waits as long as it takes. */
#include "ui/fleet/fleet_call.h"

#include <stdio.h>

#include "base/limits.h"
#include "config/config_env.h"
#include "fleet/resp.h"
#include "loop/loop.h"

enum { CONNECT_MS = 10 * 1000 };

int fleet_read_address(const struct fleet_options *options, struct redis_url *ret_url, const char **ret_namespace,
                       struct error *err)
{
	const char *text = options->redis ? options->redis : config_env("CODEX_REDIS_URL");
	*ret_namespace = options->namespace ? options->namespace : "default";
	if (!text)
		return error_set(err, ERR_usage, "no Redis server: give --redis URL, or set CODEX_REDIS_URL");
	if (!fleet_name_is_valid(str_of(*ret_namespace), true))
		return error_set(err, ERR_usage,
		                 "--namespace %s: expected 1 to 64 letters, digits, dots, dashes or underscores",
		                 *ret_namespace);
	return redis_url_read(text, ret_url, err);
}

void fleet_call_end(struct fleet_call *call, int status)
{
	call->status = status;
	loop_stop(call->loop);
}

static void fail(struct fleet_call *call)
{
	fprintf(stderr, "codex fleet: %s\n", call->failure.text);
	fleet_call_end(call, 1);
}

static void on_up(void *self)
{
	struct fleet_call *call = self;
	call->was_up = true;
	loop_timer_stop(call->patience);
	call->on_up(call);
}

static void on_down(const struct error *err, void *self)
{
	struct fleet_call *call = self;
	call->failure = *err;
	if (err->code == ERR_denied)
		fail(call);
}

static void on_patience(void *self)
{
	fail(self);
}

static int run_loop(struct fleet_call *call, const char *namespace, struct error *err)
{
	static const struct fleet_store_events events = {.on_up = on_up, .on_down = on_down};
	struct fleet_store_options options = {.loop = call->loop, .url = &call->url, .namespace = namespace};
	error_set(&call->failure, ERR_connect, "%s: no connection", call->url.shown);
	call->store = fleet_store_create(&options, &events, call, err);
	if (!call->store)
		return -(int)err->code;
	call->patience = loop_timer_create(call->loop, on_patience, call);
	loop_timer_start(call->patience, CONNECT_MS);
	loop_run(call->loop);
	loop_timer_destroy(call->patience);
	fleet_store_destroy(call->store);
	return 0;
}

int fleet_call_run(struct fleet_call *call)
{
	struct error err;
	const char *namespace;
	int status = fleet_read_address(call->options, &call->url, &namespace, &err);
	if (status == 0 && !(call->loop = loop_create(&err)))
		status = -(int)err.code;
	if (status == 0) {
		status = run_loop(call, namespace, &err);
		loop_destroy(call->loop);
	}
	redis_url_finish(&call->url);
	if (status == 0)
		return call->status;
	fprintf(stderr, "codex fleet: %s\n", err.text);
	return error_exit_status(err.code);
}

void fleet_call_send(struct fleet_call *call, const struct buf *commands, unsigned replies, redis_reply_fn fn)
{
	/* after a broken connection on_up follows */
	fleet_store_command(call->store, buf_str(commands), replies, fn, call);
}

bool fleet_call_failed(struct fleet_call *call, const struct resp *reply)
{
	if (reply->type != RESP_error)
		return false;
	fprintf(stderr, "codex fleet: %s: %.*s\n", call->url.shown, STR_ARG(reply->text));
	fleet_call_end(call, 1);
	return true;
}
