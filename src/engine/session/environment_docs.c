/* All places are read at the same time. A change of one of them reads all again: an environment answers quickly, and
 * the model gets all of them again anyway. */
#include "engine/session/environment_docs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/session/place_docs.h"
#include "engine/session/session.h"
#include "engine/session/session_environment.h"
#include "remote/environment.h"
#include "workspace/agents_md.h"

struct environment_docs {
	struct session *session;
	struct place_docs *places[LIMIT_ENVIRONMENT_PLACES]; /* in the order of the settings; NULL: this machine */
	size_t count;
	uint64_t number;
	bool is_first;
};

/* ---- places ---- */

static size_t count_places(const struct settings *settings)
{
	return 1 + settings->further_count;
}

static struct environment_place place_at(const struct settings *settings, size_t i)
{
	if (i)
		return settings->further[i - 1];
	return (struct environment_place){settings->environment, str_of(settings_folder(settings))};
}

/* One that is not registered has no files; it becomes another environment when it is. */
static bool has_registered(const struct settings *settings)
{
	bool has = false;
	for (size_t i = 0; i < count_places(settings); i++) {
		struct environment_place place = place_at(settings, i);
		has |= place.environment && place.environment->url;
	}
	return has;
}

static bool is_about(const struct environment_docs *docs, const struct settings *settings)
{
	bool is = docs && docs->count == count_places(settings);
	for (size_t i = 0; is && i < docs->count; i++) {
		struct environment_place place = place_at(settings, i);
		is = place_docs_are_about(docs->places[i], &place);
	}
	return is;
}

static bool is_pending(const struct environment_docs *docs)
{
	bool is = false;
	for (size_t i = 0; docs && i < docs->count; i++)
		is |= place_docs_are_pending(docs->places[i]);
	return is;
}

/* ---- reading ---- */

static void on_place(void *self)
{
	struct environment_docs *docs = self;
	const struct session_env *env = docs->session->env;
	if (is_pending(docs))
		return;
	docs->is_first = false;
	env->ops->carry_on(env->self);
}

void environment_docs_destroy(struct environment_docs *docs)
{
	if (!docs)
		return;
	for (size_t i = 0; i < docs->count; i++)
		place_docs_destroy(docs->places[i]);
	free(docs);
}

static struct environment_docs *start(struct session *session, bool is_first)
{
	const struct settings *settings = session->settings;
	struct environment_docs *docs = xnew(struct environment_docs);
	docs->session = session;
	docs->is_first = is_first;
	docs->number = ++session->docs_count;
	for (; docs->count < count_places(settings); docs->count++) {
		struct environment_place place = place_at(settings, docs->count);
		if (place.environment)
			docs->places[docs->count] = place_docs_create(session, &place, on_place, docs);
	}
	return docs;
}

bool environment_docs_begin(struct session *session)
{
	if (!session || session->task)
		return false;
	session_environment_refresh(session);
	const struct settings *settings = session->settings;
	if (!has_registered(settings) || is_about(session->docs, settings))
		return is_pending(session->docs);
	bool is_first = !session->docs && !session->conversation.context.items.count;
	environment_docs_destroy(session->docs);
	session->docs = start(session, is_first);
	return is_pending(session->docs);
}

bool environment_docs_are_pending(const struct session *session)
{
	return is_pending(session->docs);
}

uint64_t environment_docs_number(const struct session *session, const struct settings *settings, uint64_t known)
{
	if (!settings_have_remote(settings))
		return 0;
	return is_about(session->docs, settings) && !is_pending(session->docs) ? session->docs->number : known;
}

bool environment_docs_are_first(const struct session *session)
{
	return is_pending(session->docs) && session->docs->is_first;
}

void environment_docs_announce(struct session *session)
{
	session->docs->is_first = false;
}

size_t environment_docs_paths(const struct session *session, size_t i, const struct str **ret)
{
	const struct environment_docs *docs = session->docs;
	*ret = NULL;
	return is_about(docs, session->settings) && docs->places[i] ? place_docs_paths(docs->places[i], ret) : 0;
}

/* ---- instructions ---- */

static void on_refused(const char *path, const char *why, void *self)
{
	session_warn(self, STR(""), "%s is left out: %s.", path, why);
}

/* Appends the global file, or at most max_bytes of this machine's project. */
static void read_here(struct session *session, const struct settings *settings, size_t max_bytes, struct buf *out,
                      bool *ret_is_cut)
{
	const struct config *config = session->env->config;
	bool is_cut = false;
	struct agents_md_options options = {
		.home = config_home(config),
		.cwd = settings->cwd,
		.max_bytes = max_bytes,
		.is_project_only = max_bytes > 0,
		.fallbacks = config->project_doc_fallback_filenames.items,
		.fallback_count = config->project_doc_fallback_filenames.count,
		.root_markers = config->project_root_markers.items,
		.root_marker_count = config->project_root_markers.count,
		.is_trusted = config_trusts_folder(config, settings->cwd),
		.on_refused = on_refused,
		.self = session,
	};
	agents_md_read(&options, out, &is_cut);
	*ret_is_cut |= is_cut;
}

/* Appends the text of a place, of at most *bytes_left. */
static void read_place(struct session *session, const struct settings *settings, size_t i, size_t *bytes_left,
                       struct buf *out, bool *ret_is_cut)
{
	const struct environment_docs *docs = is_about(session->docs, settings) ? session->docs : NULL;
	if (place_at(settings, i).environment) {
		if (docs && !is_pending(docs))
			place_docs_append(docs->places[i], bytes_left, out, ret_is_cut);
	} else if (*bytes_left) {
		read_here(session, settings, *bytes_left, out, ret_is_cut);
		*bytes_left -= out->len < *bytes_left ? out->len : *bytes_left;
	}
}

/* Several places have a line each that names them. */
static void append_place(const struct settings *settings, size_t i, bool is_named, struct str text, struct buf *out)
{
	struct environment_place place = place_at(settings, i);
	if (is_named)
		buf_printf(out, "%sfor `%.*s` with root %.*s\n\n", out->len ? "\n\n" : "",
		           STR_ARG(environment_id(place.environment)), STR_ARG(place.cwd));
	else if (out->len)
		buf_append_c(out, "\n\n--- project-doc ---\n\n");
	buf_append_str(out, text);
}

const char *environment_docs_read(struct session *session, const struct settings *settings, struct buf *out)
{
	struct buf texts[LIMIT_ENVIRONMENT_PLACES];
	size_t count = 0, last = 0, bytes_left = (size_t)session->env->config->project_doc_max_bytes;
	bool is_cut = false;
	for (size_t i = 0; i < count_places(settings); i++) {
		buf_init(&texts[i], 4 * LIMIT_AGENTS_MD);
		read_place(session, settings, i, &bytes_left, &texts[i], &is_cut);
		last = texts[i].len ? i : last;
		count += texts[i].len > 0;
	}
	read_here(session, settings, 0, out, &is_cut);
	for (size_t i = 0; i < count_places(settings); i++) {
		if (texts[i].len)
			append_place(settings, i, count > 1, buf_str(&texts[i]), out);
		buf_finish(&texts[i]);
	}
	if (is_cut)
		session_warn(session, STR(""),
		             "AGENTS.md files hold more than project_doc_max_bytes (%lld); the rest was left out.",
		             (long long)session->env->config->project_doc_max_bytes);
	return count > 1 ? NULL : last ? place_at(settings, last).cwd.ptr : settings_folder(settings);
}
