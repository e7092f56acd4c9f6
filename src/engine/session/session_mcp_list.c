/* Tools have the names under which the model calls them: NAMESPACE__NAME. */
#include "engine/session/session_mcp_list.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "config/mcp_server.h"
#include "engine/session/session.h"
#include "engine/session/session_mcp.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_survey.h"
#include "tool/mcp/mcp_offer.h"

struct mcp_list {
	struct list link;
	struct session *session;
	char *sub_id;
	struct mcp_survey *survey;
};

static void list_destroy(struct mcp_list *list)
{
	list_remove(&list->link);
	mcp_survey_destroy(list->survey);
	free(list->sub_id);
	free(list);
}

static void write_tools(const struct mcp_survey *survey, struct json_writer *w)
{
	auto_arena struct arena arena = {0};
	struct mcp_survey_row row;
	size_t count = 0, tools = 0;
	struct mcp_offer_source *sources = arena_array(&arena, struct mcp_offer_source, LIMIT_MCP_SERVERS);
	for (size_t i = 0; mcp_survey_row(survey, i, &row); i++) {
		if (row.catalog)
			sources[count++] = (struct mcp_offer_source){row.server, row.client, row.catalog};
	}
	struct mcp_offer *offer = mcp_offer_create(sources, count);
	const struct mcp_offered *offered = mcp_offer_tools(offer, &tools);
	jw_object(w);
	for (size_t i = 0; i < tools; i++) {
		jw_key_str(w, str_of(arena_printf(&arena, "%.*s__%.*s", STR_ARG(offered[i].namespace),
		                                  STR_ARG(offered[i].name))));
		jw_raw(w, offered[i].tool->json);
	}
	jw_object_end(w);
	mcp_offer_destroy(offer);
}

enum list_part { PART_resources, PART_templates, PART_auth };

static void write_part(struct json_writer *w, const struct mcp_survey_row *row, enum list_part part)
{
	jw_key_str(w, row->server->name);
	if (part == PART_auth) {
		jw_cstr(w, oauth_status_name(row->auth));
		return;
	}
	struct str items = part == PART_resources ? row->resources : row->templates;
	jw_array(w);
	if (items.len)
		jw_raw(w, items);
	jw_array_end(w);
}

static void write_by_server(const struct mcp_survey *survey, enum list_part part, struct json_writer *w)
{
	struct mcp_survey_row row;
	jw_object(w);
	for (size_t i = 0; mcp_survey_row(survey, i, &row); i++) {
		bool has_items = part == PART_resources ? row.resources.len : row.templates.len;
		if (part == PART_auth || has_items)
			write_part(w, &row, part);
	}
	jw_object_end(w);
}

static void on_done(void *self)
{
	struct mcp_list *list = self;
	auto_buf struct buf tools;
	struct buf parts[PART_auth + 1];
	buf_init(&tools, LIMIT_MCP_LIST * 2);
	struct json_writer w = json_writer(&tools);
	write_tools(list->survey, &w);
	for (int part = 0; part <= PART_auth; part++) {
		buf_init(&parts[part], LIMIT_MCP_LIST * 2);
		w = json_writer(&parts[part]);
		write_by_server(list->survey, part, &w);
	}
	struct ev_mcp_list_tools event = {
		.tools = tools.over ? STR("{}") : buf_str(&tools),
		.resources = buf_str(&parts[PART_resources]),
		.resource_templates = buf_str(&parts[PART_templates]),
		.auth_statuses = buf_str(&parts[PART_auth]),
	};
	session_emit(list->session, str_of(list->sub_id), EV_mcp_list_tools_response, &event);
	for (int part = 0; part <= PART_auth; part++)
		buf_finish(&parts[part]);
	list_destroy(list);
}

void session_mcp_list(struct session *session, struct str sub_id)
{
	struct mcp_list *list = xnew(struct mcp_list);
	*list = (struct mcp_list){.session = session, .sub_id = str_dup(sub_id)};
	list_init(&list->link);
	list_append(&session->mcp_lists, &list->link);
	const struct mcp_survey_options options = {
		.config = session_mcp_config(session->mcp),
		.cwd = session->settings->cwd,
		.with_resources = true,
		.on_done = on_done,
		.self = list,
	};
	list->survey = mcp_survey_create(session->env->mcp, session->env->loop, &options);
}

void session_mcp_lists_destroy(struct session *session)
{
	struct mcp_list *it;
	list_for_each(it, &session->mcp_lists, link)
		list_destroy(it);
}
