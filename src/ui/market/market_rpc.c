/* Parameters are decoded, and results encoded, by the records of the protocol, so that the app-server passes the text
 * on as it is. */
#include "ui/market/market_rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/plugin_git.h"
#include "market/market_limits.h"
#include "ui/market/market_rpc_priv.h"

enum { COMPLAINT_MAX = 1024 };

/* ---- the output of git ---- */

static int catch_noise(struct market_call *call, struct error *err)
{
	call->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	call->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	call->noise = tmpfile();
	if (call->out < 0 || call->err < 0 || !call->noise || dup2(fileno(call->noise), STDOUT_FILENO) < 0 ||
	    dup2(fileno(call->noise), STDERR_FILENO) < 0)
		return error_sys(err, errno, "cannot redirect the output of git");
	return 0;
}

/* Gives the process its streams again. */
static void let_noise(struct market_call *call)
{
	const int fds[] = {call->out, call->err};
	if (call->out >= 0)
		dup2(call->out, STDOUT_FILENO);
	if (call->err >= 0)
		dup2(call->err, STDERR_FILENO);
	for (size_t i = 0; i < countof(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	if (call->noise)
		fclose(call->noise);
}

/* Adds what git has printed since the last call to the error. */
static void add_noise(struct market_call *call, struct error *err)
{
	char text[COMPLAINT_MAX];
	ssize_t len = pread(fileno(call->noise), text, sizeof(text), 0);
	struct str noise = str_trim(str_n(text, len > 0 ? (size_t)len : 0));
	struct error plain = *err;
	if (noise.len)
		best_effort(error_set(err, plain.code, "%s: %.*s", plain.text, STR_ARG(noise)));
	if (ftruncate(fileno(call->noise), 0) == 0)
		rewind(call->noise);
}

/* ---- marketplaces ---- */

static int on_add(struct market_call *call, const void *self, void *result, struct error *err)
{
	bool has;
	const struct app_marketplace_add_params *params = self;
	struct app_marketplace_add_response *ret = result;
	struct market market = {.sparse = params->sparse_paths, .sparse_count = params->sparse_paths_count};
	const char *ref = params->ref_name.len ? arena_cstr(&call->arena, params->ref_name) : NULL;
	struct str source = str_trim(params->source);
	if (!source.len || str_has_nul(source) || str_has_nul(params->ref_name))
		return error_set(err, ERR_invalid, "marketplace source must not be empty");
	if (market_source_read(arena_cstr(&call->arena, source), ref, &call->arena, &market, err) != 0 ||
	    market_add(call->config, &call->arena, &market, &has, err) != 0)
		return -(int)err->code;
	ret->marketplace_name = str_of(market.name);
	ret->installed_root = str_of(market.root);
	ret->already_added = has;
	return 0;
}

static const struct market *find_market(struct market_call *call, struct str name, const char *what, struct error *err)
{
	struct error ignored;
	const struct market *market =
		market_find(config_home(call->config), config_tree(call->config), name, &call->arena, &ignored);
	if (!market)
		best_effort(
			error_set(err, ERR_not_found, "marketplace `%.*s` is not configured %s", STR_ARG(name), what));
	return market;
}

static int on_remove(struct market_call *call, const void *self, void *result, struct error *err)
{
	const struct app_marketplace_remove_params *params = self;
	struct app_marketplace_remove_response *ret = result;
	const struct market *market = find_market(call, params->marketplace_name, "or installed", err);
	if (!market || market_remove(call->config, market->name, err) != 0)
		return -(int)err->code;
	ret->marketplace_name = params->marketplace_name;
	if (market->is_git)
		ret->installed_root = str_of(market->root);
	return 0;
}

static int on_upgrade(struct market_call *call, const void *self, void *result, struct error *err)
{
	const struct market *list;
	const struct app_marketplace_upgrade_params *params = self;
	struct app_marketplace_upgrade_response *ret = result;
	struct str name = params->marketplace_name;
	const struct market *one = name.ptr ? find_market(call, name, "as a Git marketplace", err) : NULL;
	size_t count = market_list(config_home(call->config), config_tree(call->config), &call->arena, &list);
	if (name.ptr && one && !one->is_git)
		best_effort(error_set(err, ERR_invalid, "marketplace `%s` is not configured as a Git marketplace",
		                      one->name));
	if (name.ptr && (!one || !one->is_git))
		return -(int)err->code;
	ret->selected_marketplaces = arena_array(&call->arena, struct str, count + 1);
	ret->upgraded_roots = arena_array(&call->arena, struct str, count + 1);
	ret->errors = arena_array(&call->arena, struct app_marketplace_upgrade_error_info, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!list[i].is_git || (one && strcmp(one->name, list[i].name) != 0))
			continue;
		ret->selected_marketplaces[ret->selected_marketplaces_count++] = str_of(list[i].name);
		if (clock_now_ms() > call->end_ms)
			best_effort(
				error_set(err, ERR_timeout, "the request has no time left for this one: try again"));
		else if (market_upgrade(call->config, &list[i], err) == 0) {
			ret->upgraded_roots[ret->upgraded_roots_count++] = str_of(list[i].root);
			continue;
		}
		add_noise(call, err);
		ret->errors[ret->errors_count++] = (struct app_marketplace_upgrade_error_info){
			str_of(list[i].name), arena_str(&call->arena, str_of(err->text))};
	}
	return 0;
}

/* ---- the request ---- */

static const struct {
	enum app_method_tag method;
	int (*run)(struct market_call *call, const void *params, void *result, struct error *err);
} rows[] = {
	{METHOD_marketplace_add, on_add},
	{METHOD_marketplace_remove, on_remove},
	{METHOD_marketplace_upgrade, on_upgrade},
	{METHOD_plugin_list, market_on_list},
	{METHOD_plugin_installed, market_on_installed},
	{METHOD_plugin_search, market_on_search},
	{METHOD_plugin_read, market_on_read},
	{METHOD_plugin_install, market_on_install},
	{METHOD_plugin_uninstall, market_on_uninstall},
	{METHOD_plugin_reconcile, market_on_reconcile},
};

static int answer(struct market_call *call, const struct json *request, struct buf *out, struct error *err)
{
	const struct app_method *method = app_method_find(json_get_str(request, "method"));
	size_t i = 0;
	while (i < countof(rows) && &app_methods[rows[i].method] != method)
		i++;
	if (i == countof(rows))
		return error_set(err, ERR_invalid, "the request has no known method");
	void *params = arena_alloc(&call->arena, method->params->size);
	void *result = arena_alloc(&call->arena, method->result->size + 1);
	const struct json *json = json_get(request, "params");
	if (record_decode(method->params, json, &call->arena, params, err) != 0 ||
	    rows[i].run(call, params, result, err) != 0)
		return -(int)err->code;
	struct json_writer w = json_writer(out);
	record_encode(method->result, result, &w);
	return out->over ? error_set(err, ERR_limit, "the answer is larger than %d MiB", (int)(LIMIT_IMPORT_TEXT / MIB))
	                 : 0;
}

int market_rpc_serve(const struct config *config, struct error *err)
{
	auto_buf struct buf text, out;
	struct market_call call = {
		.config = config, .out = -1, .err = -1, .end_ms = clock_now_ms() + LIMIT_MARKET_CLONES_MS};
	plugin_clone_shorten();
	buf_init(&text, LIMIT_IMPORT_TEXT);
	buf_init(&out, LIMIT_IMPORT_TEXT);
	int status = fd_read_all(STDIN_FILENO, &text, "the request", err);
	const struct json *request = status == 0 ? json_parse(&call.arena, buf_str(&text), err) : NULL;
	status = request ? catch_noise(&call, err) : -(int)err->code;
	if (status == 0) {
		status = answer(&call, request, &out, err);
		if (status != 0)
			add_noise(&call, err);
	}
	let_noise(&call);
	if (status == 0)
		status = fd_write_all(STDOUT_FILENO, out.data, out.len, err);
	market_shelf_finish(&call.shelf);
	arena_finish(&call.arena);
	return status;
}
