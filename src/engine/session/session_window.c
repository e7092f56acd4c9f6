/* The first request does not wait for the answer: the window decides only when the history is compacted. */
#include "engine/session/session_window.h"

#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "engine/session/session_code.h"
#include "engine/session/settings.h"
#include "model/model_window.h"

struct session_window {
	struct model_window *question; /* NULL: answered, or not asked */
	struct settings *settings;     /* of the Task that caused it */
	char *sub_id;
};

void session_window_finish(struct session *session)
{
	struct session_window *window = steal(session->window);
	if (!window)
		return;
	model_window_cancel(window->question);
	settings_unref(window->settings);
	free(window->sub_id);
	free(window);
}

static void warn_of_served(struct session *session, const struct settings *settings)
{
	session_warn(session, str_of(session->window->sub_id),
	             "Model metadata for `%s` not found. Its server reports a context window of %lld tokens, which is "
	             "used.",
	             settings->model, (long long)settings->served_window);
}

static void warn_of_fallback(struct session *session, const struct settings *settings)
{
	session_warn(session, str_of(session->window->sub_id),
	             "Model metadata for `%s` not found. Defaulting to fallback metadata: a context window of %lld "
	             "tokens and all tools. Set model_context_window if that is wrong.",
	             settings->model, (long long)settings->info.context_window);
}

static void warn(struct session *session)
{
	const struct settings *settings = session->window->settings;
	if (settings->served_window)
		warn_of_served(session, settings);
	else
		warn_of_fallback(session, settings);
}

static void on_window(int64_t tokens, void *self)
{
	struct session *session = self;
	struct session_window *window = session->window;
	const struct config *config = session->env->config;
	window->question = NULL;
	if (tokens > 0)
		settings_serve_window(window->settings, config, tokens);
	if (tokens > 0 && session->settings != window->settings &&
	    strcmp(session->settings->model, window->settings->model) == 0)
		settings_serve_window(session->settings, config, tokens);
	warn(session);
}

void session_check_window(struct session *session, struct str sub_id, struct settings *settings)
{
	session_warn_code(session, sub_id, settings);
	if (settings->info.is_known || session->env->config->is_set.model_context_window)
		return;
	if (session->window && strcmp(session->window->settings->model, settings->model) == 0)
		return;
	session_window_finish(session);
	session->window = xnew(struct session_window);
	session->window->settings = settings_ref(settings);
	session->window->sub_id = str_dup(sub_id);
	if (!model_window_is_near(session->provider))
		warn(session);
	else
		session->window->question = model_window_ask(session->env->loop, session->env->http, session->provider,
		                                             str_of(settings->model), on_window, session);
}
