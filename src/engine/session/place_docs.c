/* One request is sent after the other. The root of the project is the nearest folder with a marker, among the nearest
 * LIMIT_ENVIRONMENT_FOLDERS; without one it is the folder of the Session. */
#include "engine/session/place_docs.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "loop/loop.h"
#include "remote/environment.h"
#include "remote/remote_files.h"

struct place_docs {
	struct session *session;
	struct environment *environment;
	char *cwd;
	place_docs_fn on_end;
	void *self;
	struct loop_timer *timer;   /* until all has been read */
	struct remote_files *files; /* NULL: all has been read */
	bool is_cut;
	bool has_root; /* the root was found, and files are being read */
	size_t end;    /* the folder at which the request looks is the first bytes of cwd; 0: / */
	size_t name;   /* and the marker or file in it */
	int folders;
	size_t bytes_left, used;
	struct buf text;
	VEC(struct str) paths;
};

/* ---- folders ---- */

static char *path_of(const struct place_docs *docs, struct str name)
{
	auto_free char *folder = docs->end ? xstrndup(docs->cwd, docs->end) : xstrdup("/"), *text = str_dup(name);
	return path_join(folder, text);
}

/* Goes to the folder above; false at the root of the file system. */
static bool go_up(struct place_docs *docs)
{
	if (!docs->end)
		return false;
	while (docs->cwd[--docs->end] != '/')
		;
	return true;
}

/* Goes to the next folder on the way to cwd; false there. */
static bool go_down(struct place_docs *docs)
{
	if (!docs->cwd[docs->end] || !docs->cwd[1])
		return false;
	docs->end += 1 + strcspn(docs->cwd + docs->end + 1, "/");
	return true;
}

/* ---- requests ---- */

static struct str marker_at(const struct place_docs *docs, size_t i)
{
	const struct config *config = docs->session->env->config;
	if (config->project_root_markers.items)
		return i < config->project_root_markers.count ? config->project_root_markers.items[i] : STR_NONE;
	return i == 0 ? STR(".git") : STR_NONE;
}

static struct str name_at(const struct place_docs *docs, size_t i)
{
	const struct config *config = docs->session->env->config;
	if (i < 2)
		return i ? STR("AGENTS.md") : STR("AGENTS.override.md");
	i -= 2;
	return i < config->project_doc_fallback_filenames.count ? config->project_doc_fallback_filenames.items[i]
	                                                        : STR_NONE;
}

/* Must be the last step of its caller. */
static void finish(struct place_docs *docs)
{
	loop_timer_stop(docs->timer);
	remote_files_close(steal(docs->files));
	docs->on_end(docs->self);
}

static void read_next(struct place_docs *docs)
{
	struct str name = name_at(docs, docs->name);
	if (!name.ptr) {
		docs->name = 0;
		if (!docs->bytes_left || !go_down(docs)) {
			finish(docs);
			return;
		}
		name = name_at(docs, 0);
	}
	auto_free char *path = path_of(docs, name);
	remote_files_read(docs->files, path);
}

static void begin_reading(struct place_docs *docs)
{
	docs->has_root = true;
	docs->name = 0;
	read_next(docs);
}

static void look_next(struct place_docs *docs)
{
	struct str marker = marker_at(docs, docs->name);
	if (!marker.ptr) {
		docs->name = 0;
		marker = marker_at(docs, 0);
		if (!marker.ptr || ++docs->folders == LIMIT_ENVIRONMENT_FOLDERS || !go_up(docs)) {
			docs->end = strlen(docs->cwd);
			begin_reading(docs);
			return;
		}
	}
	auto_free char *path = path_of(docs, marker);
	remote_files_look(docs->files, path);
}

/* ---- answers ---- */

static void take_text(struct place_docs *docs, struct str content)
{
	auto_buf struct buf text;
	auto_free char *path = path_of(docs, name_at(docs, docs->name));
	buf_init(&text, 3 * content.len + 1);
	text_append_utf8_lossy(&text, content);
	bool is_cut = text.len > docs->bytes_left;
	struct str whole = str_n(text.data, is_cut ? text_floor_boundary(buf_str(&text), docs->bytes_left) : text.len);
	vec_push(&docs->paths, str_copy(str_of(path)));
	if (!str_trim(whole).len)
		return;
	if (docs->text.len)
		buf_append_c(&docs->text, "\n\n");
	buf_append_str(&docs->text, whole);
	docs->bytes_left = is_cut ? 0 : docs->bytes_left - whole.len;
	docs->used += whole.len;
	docs->is_cut |= is_cut;
}

/* The nearest files are the last to arrive: a part of them would contradict what the project says there. */
static void give_up(struct place_docs *docs, const char *why)
{
	buf_clear(&docs->text);
	docs->used = 0;
	docs->is_cut = false;
	vec_for_each(it, &docs->paths)
		str_free(it);
	docs->paths.count = 0;
	session_warn(docs->session, STR(""), "AGENTS.md files of the environment `%.*s` were not read: %s",
	             STR_ARG(docs->environment->id), why);
	finish(docs);
}

static void on_timeout(void *self)
{
	give_up(self, "its exec-server is too slow");
}

static void on_answer(struct str content, const struct error *err, void *self)
{
	struct place_docs *docs = self;
	if (err && remote_files_is_lost(docs->files)) {
		give_up(docs, err->text);
	} else if (err) { /* there is no such file, or none that can be read */
		docs->name++;
		(docs->has_root ? read_next : look_next)(docs);
	} else if (!docs->has_root) {
		begin_reading(docs);
	} else {
		take_text(docs, content);
		docs->name = SIZE_MAX; /* the other names of the folder are not read */
		read_next(docs);
	}
}

/* ---- their life ---- */

void place_docs_destroy(struct place_docs *docs)
{
	if (!docs)
		return;
	remote_files_close(docs->files);
	loop_timer_destroy(docs->timer);
	buf_finish(&docs->text);
	vec_for_each(it, &docs->paths)
		str_free(it);
	vec_finish(&docs->paths);
	environment_unref(docs->environment);
	free(docs->cwd);
	free(docs);
}

/* A client sets how long it waits for an environment. */
static uint64_t patience_of(const struct environment *environment)
{
	uint64_t ms = environment->connect_timeout_ms;
	return ms && ms < LIMIT_ENVIRONMENT_ANSWER_MS ? ms : LIMIT_ENVIRONMENT_ANSWER_MS;
}

struct place_docs *place_docs_create(struct session *session, const struct environment_place *place,
                                     place_docs_fn on_end, void *self)
{
	const struct config *config = session->env->config;
	struct error err;
	struct place_docs *docs = xnew(struct place_docs);
	docs->session = session;
	docs->environment = environment_ref(place->environment);
	docs->cwd = path_normalize(place->cwd.ptr);
	docs->on_end = on_end;
	docs->self = self;
	docs->timer = loop_timer_create(session->env->loop, on_timeout, docs);
	docs->end = strlen(docs->cwd);
	docs->bytes_left = (size_t)config->project_doc_max_bytes;
	if (docs->bytes_left > LIMIT_AGENTS_MD)
		docs->bytes_left = LIMIT_AGENTS_MD;
	buf_init(&docs->text, 2 * LIMIT_AGENTS_MD);
	if (docs->bytes_left)
		docs->files = remote_files_open(docs->environment, NULL, on_answer, docs, &err);
	if (docs->files) {
		loop_timer_start(docs->timer, patience_of(docs->environment));
		look_next(docs);
	}
	return docs;
}

bool place_docs_are_about(const struct place_docs *docs, const struct environment_place *place)
{
	if (!docs || !place->environment)
		return !docs && !place->environment;
	auto_free char *cwd = path_normalize(place->cwd.ptr);
	return docs->environment == place->environment && strcmp(docs->cwd, cwd) == 0;
}

bool place_docs_are_pending(const struct place_docs *docs)
{
	return docs && docs->files;
}

void place_docs_append(const struct place_docs *docs, size_t *bytes_left, struct buf *out, bool *ret_is_cut)
{
	bool is_cut = docs->used > *bytes_left;
	struct str text = buf_str(&docs->text);
	buf_append_str(out, is_cut ? str_n(text.ptr, text_floor_boundary(text, *bytes_left)) : text);
	*bytes_left -= is_cut ? *bytes_left : docs->used;
	*ret_is_cut |= is_cut || docs->is_cut;
}

size_t place_docs_paths(const struct place_docs *docs, const struct str **ret)
{
	*ret = docs->paths.items;
	return docs->paths.count;
}
