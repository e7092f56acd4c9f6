/* The Session's own fields are exchanged, so that turns, compaction and counting, which know one history, work aside as
 * they do elsewhere. What belongs to that history is listed here once, in the struct, and nowhere else. */
#include "engine/session/session_aside.h"

#include "base/mem.h"
#include "engine/session/session.h"

struct session_aside {
	struct session_voice voice;
	struct context context;
	struct settings *told;
	size_t told_at, counted_items, compacted_items;
	int64_t counted_tokens;
	struct token_usage usage_last;
};

/* Who asks is offered other tools than the user's model. */
static void forget_tools(struct session *session)
{
	free(session->tools_model);
	session->tools_model = NULL;
}

void session_step_aside(struct session *session, const struct session_voice *voice)
{
	struct session_aside *aside = xnew(struct session_aside);
	*aside = (struct session_aside){
		.voice = *voice,
		.context = session->context,
		.told = session->told,
		.told_at = session->told_at,
		.counted_items = session->counted_items,
		.compacted_items = session->compacted_items,
		.counted_tokens = session->counted_tokens,
		.usage_last = session->usage_last,
	};
	context_init(&session->context);
	session->told = NULL;
	session->told_at = session->counted_items = session->compacted_items = 0;
	session->counted_tokens = 0;
	session->aside = aside;
	forget_tools(session);
}

void session_step_back(struct session *session)
{
	struct session_aside *aside = session->aside;
	if (!aside)
		return;
	context_finish(&session->context);
	settings_unref(session->told);
	session->context = aside->context;
	session->told = aside->told;
	session->told_at = aside->told_at;
	session->counted_items = aside->counted_items;
	session->compacted_items = aside->compacted_items;
	session->counted_tokens = aside->counted_tokens;
	session->usage_last = aside->usage_last;
	session->aside = NULL;
	free(aside);
	forget_tools(session);
}

const struct session_voice *session_find_voice(const struct session *session)
{
	return session->aside ? &session->aside->voice : NULL;
}
