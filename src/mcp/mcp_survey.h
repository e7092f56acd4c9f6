/* mcp_survey.h — asks all MCP servers of a configuration what they offer.
 *
 * The servers are those of the pool: running ones are asked, others are started and end with the survey. Owns its
 * references and results. Loop thread only. */
#ifndef MCP_MCP_SURVEY_H
#define MCP_MCP_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "oauth/oauth_store.h"

struct config;
struct loop;
struct mcp_catalog;
struct mcp_client;
struct mcp_pool;
struct mcp_server;
struct mcp_survey;

struct mcp_survey_options {
	struct config *config;
	const char *cwd;             /* the folder of servers without a configured one; copied */
	bool with_resources;         /* ask for resources and templates, too */
	struct str only;             /* the name of one server; STR_NONE: all that are enabled */
	void (*on_done)(void *self); /* called once, from the loop */
	void *self;
};

struct mcp_survey_row {
	const struct mcp_server *server;
	struct mcp_client *client;   /* NULL: its settings cannot be used */
	struct mcp_catalog *catalog; /* NULL: the server is not ready */
	const char *failure;         /* NULL: it is ready */
	enum oauth_status auth;
	struct str resources, templates; /* items as JSON, separated by commas */
};

struct mcp_survey *mcp_survey_create(struct mcp_pool *pool, struct loop *loop,
                                     const struct mcp_survey_options *options);
/* Returns the row of a server, in the order of names; false past the last one. Valid after on_done. */
bool mcp_survey_row(const struct mcp_survey *survey, size_t at, struct mcp_survey_row *ret);
/* on_done is not called any more. NULL is fine. */
void mcp_survey_destroy(struct mcp_survey *survey);

#endif
