/* The start: initialize, notifications/initialized, tools/list with all its pages. The last part is repeated when the
 * server announces a change; the old catalog stays in use until the new one is complete. */
#define LOG_MODULE "mcp"
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client_priv.h"

enum { LIST_PAUSE_MS = 1000 };

/* The revisions, the oldest first: the one place where they decide. Unknown ones count as later ones. */
static const struct revision {
	const char *date;
	bool batches, has_handshake;
} revisions[] = {
#define REVISION(date, batches, has_handshake) {date, batches, has_handshake},
#include "mcp/mcp_revision.def"
#undef REVISION
};

static const struct revision *revision_find(struct str version)
{
	for (size_t i = 0; i < countof(revisions); i++) {
		if (str_is(version, revisions[i].date))
			return &revisions[i];
	}
	return NULL;
}

bool mcp_start_batches(struct str version)
{
	const struct revision *revision = revision_find(version);
	return revision && revision->batches;
}

static bool is_spoken(struct str version)
{
	const struct revision *revision = revision_find(version);
	return !revision || revision->has_handshake;
}

static struct str revision_asked(void)
{
	size_t at = countof(revisions) - 1;
	while (at && !revisions[at].has_handshake)
		at--;
	return str_of(revisions[at].date);
}

static void notify_watchers(struct mcp_client *client)
{
	struct mcp_watcher *it;
	list_for_each(it, &client->watchers, link)
		it->on_change(it);
}

/* ---- failure ---- */

static void forget_listing(struct mcp_client *client)
{
	mcp_catalog_unref(steal(client->next));
	free(steal(client->cursor));
	client->listing = client->handshake = 0;
	client->lists_again = client->is_pausing = false;
	client->pages = 0;
}

/* Writes the sentence that the user reads. */
static void describe_failure(struct mcp_client *client, const struct error *err)
{
	bool was_asked = client->handshake != 0;
	free(client->failure);
	client->needs_login = err->code == ERR_denied;
	if (client->needs_login)
		client->failure = xstrdup(err->text);
	else if (err->code == ERR_timeout && !client->listing)
		client->failure =
			xasprintf("MCP client for `%s` timed out after %g seconds. Add or adjust `startup_timeout_sec` "
		                  "in your config.toml:\n[mcp_servers.%s]\nstartup_timeout_sec = XX",
		                  client->name, (double)client->options.startup_timeout_ms / 1000, client->name);
	else
		client->failure = xasprintf(
			"MCP client for `%s` failed to start: MCP startup failed: %s%s%s", client->name,
			was_asked && err->code == ERR_transport ? "connection closed: initialize response (" : "",
			err->text, was_asked && err->code == ERR_transport ? ")" : "");
}

/* A server that was ready is only down; the next request starts it again. The tools that an earlier process stored are
 * not offered once the server has failed to start. */
void mcp_start_failed(struct mcp_client *client, const struct error *err)
{
	struct mcp_link *link = steal(client->link);
	struct error reason;
	bool was_ready = client->state == MCP_READY;
	if (client->state != MCP_STARTING && !was_ready)
		return;
	loop_timer_stop(client->timer);
	describe_failure(client, err);
	if (was_ready)
		error_set(&reason, ERR_transport, "Transport closed: %s", err->text);
	else
		error_set(&reason, err->code, "%s", client->failure);
	client->state = was_ready ? MCP_IDLE : MCP_FAILED;
	if (client->is_stored)
		mcp_catalog_unref(steal(client->latest));
	client->is_stored = false;
	forget_listing(client);
	if (link)
		link->ops->close(link);
	mcp_requests_fail(client, &reason, !was_ready);
	notify_watchers(client);
	if (!list_empty(&client->waiting))
		loop_defer(&client->work);
}

/* ---- the list of tools ---- */

static void send_own(struct mcp_client *client, struct str json, uint64_t id)
{
	struct error err;
	if (client->link->ops->send(client->link, json, id, &err) != 0)
		mcp_start_failed(client, &err);
}

static void ask_page(struct mcp_client *client)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&out);
	client->listing = ++client->last_id;
	jw_object(&w);
	jw_member_cstr(&w, "jsonrpc", "2.0");
	jw_member_i64(&w, "id", (int64_t)client->listing);
	jw_member_cstr(&w, "method", "tools/list");
	jw_key(&w, "params");
	jw_object(&w);
	jw_key(&w, "_meta");
	jw_object(&w);
	jw_member_i64(&w, "progressToken", (int64_t)client->listing);
	jw_object_end(&w);
	if (client->cursor)
		jw_member_cstr(&w, "cursor", client->cursor);
	jw_object_end(&w);
	jw_object_end(&w);
	send_own(client, buf_str(&out), client->listing);
}

static void publish(struct mcp_client *client)
{
	bool lists_again = client->lists_again;
	loop_timer_stop(client->timer);
	if (client->state == MCP_READY)
		client->listed_ms = clock_now_ms();
	mcp_catalog_unref(client->latest);
	client->latest = steal(client->next);
	client->is_stored = false;
	client->state = MCP_READY;
	free(steal(client->failure));
	forget_listing(client);
	if (client->options.on_catalog)
		client->options.on_catalog(client->options.self, client->latest);
	notify_watchers(client);
	if (lists_again)
		mcp_start_list_again(client);
	loop_defer(&client->work);
}

/* Takes a page. Pages that never end are stopped by their number, their size, the number of tools, and time. */
static int take_page(struct mcp_client *client, const struct json *result, struct error *err)
{
	struct str cursor = json_get_str(result, "nextCursor");
	if (mcp_catalog_add_page(client->next, result, err) != 0)
		return -(int)err->code;
	if (!cursor.ptr) {
		publish(client);
		return 0;
	}
	if (client->cursor && str_is(cursor, client->cursor))
		return error_set(err, ERR_invalid, "tools/list returned a repeated pagination cursor");
	if (++client->pages == LIMIT_MCP_PAGES)
		return error_set(err, ERR_limit, "tools/list returned more than %d pages", LIMIT_MCP_PAGES);
	free(client->cursor);
	client->cursor = str_dup(cursor);
	ask_page(client);
	return 0;
}

/* A failed listing after the start leaves the old list in use. */
static void on_page(struct mcp_client *client, const struct mcp_reply *answer)
{
	struct error err;
	if (answer->err)
		err = *answer->err;
	else if (take_page(client, answer->result, &err) == 0)
		return;
	if (client->state == MCP_STARTING) {
		mcp_start_failed(client, &err);
		return;
	}
	log_debug("%s: the changed list of tools is not usable: %s", client->name, err.text);
	loop_timer_stop(client->timer);
	client->listed_ms = clock_now_ms();
	forget_listing(client);
}

/* The first change is followed at once, further ones after a pause: a server may announce changes without end. */
static bool pauses(struct mcp_client *client)
{
	uint64_t since = clock_now_ms() - client->listed_ms;
	if (!client->listed_ms || since >= LIST_PAUSE_MS)
		return false;
	client->is_pausing = true;
	loop_timer_start(client->timer, LIST_PAUSE_MS - since);
	return true;
}

void mcp_start_list_again(struct mcp_client *client)
{
	if (client->listing || client->handshake || client->state == MCP_STARTING) {
		client->lists_again = true;
		return;
	}
	if (client->state != MCP_READY || !client->latest->has_tools || client->is_pausing || pauses(client))
		return;
	client->next = mcp_catalog_copy_head(client->latest);
	loop_timer_start(client->timer, client->options.startup_timeout_ms);
	ask_page(client);
}

/* ---- the handshake ---- */

void mcp_start_begin(struct mcp_client *client)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&out);
	client->handshake = ++client->last_id;
	jw_object(&w);
	jw_member_cstr(&w, "jsonrpc", "2.0");
	jw_member_i64(&w, "id", (int64_t)client->handshake);
	jw_member_cstr(&w, "method", "initialize");
	jw_key(&w, "params");
	jw_object(&w);
	jw_member_str(&w, "protocolVersion", revision_asked());
	jw_member_raw(&w, "capabilities", STR("{\"elicitation\":{\"form\":{},\"url\":{}}}"));
	jw_key(&w, "clientInfo");
	jw_object(&w);
	jw_member_cstr(&w, "name", "codex-mcp-client");
	jw_member_cstr(&w, "title", "Codex");
	jw_member_cstr(&w, "version", CODEX_VERSION);
	jw_object_end(&w);
	jw_object_end(&w);
	jw_object_end(&w);
	send_own(client, buf_str(&out), client->handshake);
}

static int check_handshake(struct mcp_client *client, const struct mcp_reply *answer, struct error *err)
{
	if (answer->is_remote)
		return error_set(err, ERR_invalid, "JSON-RPC error: %lld: %.*s", (long long)answer->code,
		                 STR_ARG(answer->message));
	if (answer->err) {
		*err = *answer->err;
		return -(int)err->code;
	}
	client->next = mcp_catalog_create(answer->result, err);
	if (!client->next)
		return -(int)err->code;
	if (!is_spoken(client->next->version))
		return error_set(err, ERR_unsupported, "the server speaks MCP %.*s only, which this version does not",
		                 STR_ARG(client->next->version));
	return 0;
}

static void on_handshake(struct mcp_client *client, const struct mcp_reply *answer)
{
	struct error err;
	const struct mcp_link_ops *ops = client->link->ops;
	if (check_handshake(client, answer, &err) != 0) {
		mcp_start_failed(client, &err);
		return;
	}
	client->handshake = 0;
	if (ops->set_version)
		ops->set_version(client->link, client->next->version);
	mcp_client_send(client, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
	if (client->state != MCP_STARTING)
		return;
	if (client->next->has_tools)
		ask_page(client);
	else
		publish(client);
}

void mcp_start_answered(struct mcp_client *client, uint64_t id, const struct mcp_reply *answer)
{
	if (id && id == client->handshake)
		on_handshake(client, answer);
	else if (id && id == client->listing)
		on_page(client, answer);
}
