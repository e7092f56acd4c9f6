/* Choices of the user that new sessions keep: they are written to config.toml, by a worker, and the configuration is
 * read again. */
#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"
#include "loop/loop.h"
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
	struct toml *value = toml_parse_value(&arena, str_of(text), "the value", err);
	struct toml *root = value ? toml_parse_key(&arena, str_of(key), value, err) : NULL;
	return root ? toml_edit_set(edit, path, path_of(root, value, path), value, err) : -(int)err->code;
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

static void reload(struct tui *tui)
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

static void on_done(void *self)
{
	struct saving *saving = self;
	struct tui *tui = saving->tui;
	if (tui) {
		tui->saving = NULL;
		if (saving->status != 0)
			tui_cells_fail(tui->cells, str_of(saving->err.text));
		else
			reload(tui);
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

void tui_save(struct tui *tui, const char *const *words, size_t count, void (*on_saved)(struct tui *tui, bool is_saved))
{
	struct saving *saving = xnew(struct saving);
	tui_save_leave(tui);
	saving->tui = tui;
	saving->home = xstrdup(config_home(tui->config));
	for (size_t i = 0; i < count; i++)
		vec_push(&saving->words, xstrdup(words[i]));
	saving->on_saved = on_saved;
	tui->saving = saving;
	worker_run(tui->loop, on_work, on_done, saving);
}

void tui_save_leave(struct tui *tui)
{
	if (tui->saving)
		tui->saving->tui = NULL;
	tui->saving = NULL;
}
