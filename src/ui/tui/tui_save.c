/* Choices of the user that new sessions keep: settings in config.toml, which is read again afterwards, and the stored
 * key or login. A worker reads and writes them. */
#include <string.h>

#include "account/login.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/config_layer.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"
#include "loop/lane.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

enum { PATH_MAX_KEYS = 8 };

struct saving {
	struct tui *tui; /* NULL: the terminal was left, or there is a later choice */
	char *home;
	VEC(char *) words; /* keys and values, in turn */
	void (*on_saved)(struct tui *tui, bool is_saved);
	struct error err;
	int status;
};

/* Returns the number of keys that lead to the value. */
static size_t path_of(const struct toml *root, const struct toml *value, struct str path[PATH_MAX_KEYS])
{
	size_t count = 0;
	for (const struct toml *node = root; node != value && node->child && count < PATH_MAX_KEYS;) {
		node = node->child;
		path[count++] = node->key;
	}
	return count;
}

static int set(struct toml_edit *edit, const char *key, const char *text, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct str path[PATH_MAX_KEYS];
	struct toml *value = toml_parse_value(&arena, str_of(*text ? text : "0"), "the value", err);
	struct toml *root = value ? toml_parse_key(&arena, str_of(key), value, err) : NULL;
	if (!root)
		return -(int)err->code;
	size_t count = path_of(root, value, path);
	return *text ? toml_edit_set(edit, path, count, value, err) : toml_edit_remove(edit, path, count, err);
}

static int change(struct toml_edit *edit, void *self, struct error *err)
{
	struct saving *saving = self;
	int status = 0;
	for (size_t i = 0; status == 0 && i + 1 < saving->words.count; i += 2)
		status = set(edit, saving->words.items[i], saving->words.items[i + 1], err);
	return status;
}

static void on_work(void *self)
{
	struct saving *saving = self;
	saving->status = config_file_change(saving->home, change, saving, &saving->err);
}

void tui_reload(struct tui *tui)
{
	struct error err;
	struct config *config;
	if (exec_config_load(&tui->options.run, tui->cwd, &config, &err) != 0) {
		tui_cells_fail(tui->cells, str_of(err.text));
		return;
	}
	config_unref(tui->config);
	tui->config = config;
}

static void on_worked(void *self)
{
	struct saving *saving = self;
	struct tui *tui = saving->tui;
	if (tui) {
		tui->saving = NULL;
		if (saving->status != 0)
			tui_cells_fail(tui->cells, str_of(saving->err.text));
		else
			tui_reload(tui);
		if (saving->on_saved)
			saving->on_saved(tui, saving->status == 0);
		tui_frame_change(tui->frame);
	}
	vec_for_each(word, &saving->words)
		free(*word);
	vec_finish(&saving->words);
	free(saving->home);
	free(saving);
}

const struct toml *tui_user_settings(const struct tui *tui)
{
	size_t count;
	const struct config_layer *layers = config_layers(tui->config, &count);
	for (size_t i = 0; i < count; i++) {
		if (layers[i].kind == CONFIG_LAYER_user)
			return layers[i].root;
	}
	return NULL;
}

static void leave_saving(struct tui *tui)
{
	if (tui->saving)
		tui->saving->tui = NULL;
	tui->saving = NULL;
}

void tui_save(struct tui *tui, const char *const *words, size_t count, void (*on_saved)(struct tui *tui, bool is_saved))
{
	struct saving *saving = xnew(struct saving);
	leave_saving(tui);
	saving->tui = tui;
	saving->home = xstrdup(config_home(tui->config));
	for (size_t i = 0; i < count; i++)
		vec_push(&saving->words, xstrdup(words[i]));
	saving->on_saved = on_saved;
	tui->saving = saving;
	worker_run(tui->loop, on_work, on_worked, saving);
}

/* ---- the stored key or login: a keyring may hang, or ask the user for a password ---- */

struct crediting {
	struct tui *tui; /* NULL: the terminal was left meanwhile */
	struct lane_job *job;
	struct config *config; /* holds a reference */
	char *key;             /* to store; a refresh token that was removed; or NULL */
	bool removes, was_there;
	struct error err;
	void (*on_done)(struct tui *tui, const struct error *err);
};

static void on_credit_work(void *self)
{
	struct crediting *work = self;
	struct auth_place place = auth_place_of(work->config);
	if (work->removes)
		best_effort(auth_remove(place, &work->key, &work->was_there, &work->err));
	else if (work->key)
		best_effort(auth_write_api_key(place, str_of(work->key), &work->err));
	else
		auth_store_fetch(place);
}

static void crediting_free(void *self)
{
	struct crediting *work = self;
	config_unref(work->config);
	if (work->key)
		explicit_bzero(work->key, strlen(work->key));
	free(work->key);
	free(work);
}

static void on_revoked(int status, struct str body, const struct error *err, void *self)
{
	(void)status;
	(void)body;
	(void)err;
	(void)self;
}

static void on_credited(void *self)
{
	struct crediting *work = self;
	struct tui *tui = work->tui;
	if (tui) {
		tui->crediting = NULL;
		if (work->removes && work->key)
			login_revoke(services_http(tui->services), NULL, str_of(work->key), on_revoked, NULL);
		if (work->err.code == ERR_none && work->removes && !work->was_there)
			error_set(&work->err, ERR_not_found, "no credentials");
		work->on_done(tui, work->err.code ? &work->err : NULL);
		tui_frame_change(tui->frame);
	}
	crediting_free(work);
}

static void start(struct tui *tui, char *key, bool removes, void (*on_done)(struct tui *tui, const struct error *err))
{
	struct crediting *work = xnew(struct crediting);
	work->tui = tui;
	work->config = config_ref(tui->config);
	work->key = key;
	work->removes = removes;
	work->on_done = on_done;
	tui->crediting = work;
	work->job = lane_run(tui->loop, on_credit_work, on_credited, work);
}

void tui_credentials_fetch(struct tui *tui, void (*on_done)(struct tui *tui, const struct error *err))
{
	if (auth_store_is_slow(auth_place_of(tui->config)))
		start(tui, NULL, false, on_done);
	else
		on_done(tui, NULL);
}

void tui_credentials_store(struct tui *tui, struct str key, void (*on_done)(struct tui *tui, const struct error *err))
{
	start(tui, str_dup(key), false, on_done);
}

static void on_removed(struct tui *tui, const struct error *err)
{
	if (!err)
		tui_cells_note(tui->cells, STR("Logged out: the stored key or login was removed"));
	else if (err->code == ERR_not_found)
		tui_cells_note(tui->cells, STR("Nothing to remove: no key or login is stored"));
	else
		tui_cells_fail(tui->cells, str_of(err->text));
}

void on_slash_logout(struct tui *tui, struct str text)
{
	(void)text;
	if (tui->crediting)
		tui_cells_fail(tui->cells, STR("The keyring has not answered yet."));
	else
		start(tui, NULL, true, on_removed);
}

/* ---- the end ---- */

void tui_save_leave(struct tui *tui)
{
	struct crediting *work = steal(tui->crediting);
	leave_saving(tui);
	if (work && (work->removes || work->key))
		work->tui = NULL; /* the change is made first */
	else if (work)
		lane_leave(work->job, crediting_free);
}
