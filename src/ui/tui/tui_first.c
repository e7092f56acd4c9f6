/* Questions before a session can start: whether the folder is trusted, and a missing key. The session is opened
 * after the last answer. */
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "config/toml/toml.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_form.h"
#include "ui/tui/tui_priv.h"
#include "workspace/git_info.h"

/* ---- the key ---- */

static void on_key_given(struct tui_form *form, enum form_end end, void *self);

static void ask_key(struct tui *tui, const char *why)
{
	static const struct form_use use = {.escapes = "enter save · esc to leave", .on_done = on_key_given};
	struct tui_form *form = tui_form_create(&use, STR("key"), NULL, NULL, tui);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(
		&text,
		"Paste or type your API key\n%s\n\nIt is stored in auth.json, which only you can read. Other ways: set "
		"the variable OPENAI_API_KEY, run `codex login` for ChatGPT, or `codex --oss` for a local model.\n",
		why);
	struct form_page *page = tui_form_add(form, FORM_text, STR("OpenAI"), buf_str(&text));
	page->is_secret = true;
	form->panel.is_request = false;
	tui_ask_add(tui->ask, &form->panel);
}

static void on_fetched(struct tui *tui, const struct error *unused)
{
	struct error err;
	(void)unused;
	struct model_provider *provider = model_provider_create(tui->config, NULL, &err);
	bool lacks = !provider && strcmp(tui->config->model_provider, "openai") == 0;
	model_provider_destroy(provider);
	if (lacks)
		ask_key(tui, err.text);
	else
		tui_begin(tui);
}

static void check_key(struct tui *tui)
{
	tui_credentials_fetch(tui, on_fetched);
}

static void on_trust_saved(struct tui *tui, bool is_saved)
{
	(void)is_saved; /* else the folder is not trusted */
	check_key(tui);
}

static void on_stored(struct tui *tui, const struct error *err)
{
	if (err)
		ask_key(tui, err->text);
	else
		check_key(tui);
}

static void on_key_given(struct tui_form *form, enum form_end end, void *self)
{
	struct tui *tui = self;
	if (end == FORM_sent)
		tui_credentials_store(tui, composer_text(&form->pages.items[0]->notes), on_stored);
	else
		tui_quit(tui);
}

/* ---- trust ---- */

/* Trust covers a repository as a whole. */
static char *trusted_folder(const struct tui *tui)
{
	char *root = git_info_find_root(tui->cwd);
	return root ? root : xstrdup(tui->cwd);
}

static void on_trust_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	if (chosen->at != 0) {
		check_key(tui);
		return;
	}
	auto_free char *folder = trusted_folder(tui);
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	buf_append_c(&key, "projects.");
	json_quote(&key, str_of(folder)); /* JSON's escapes are a part of TOML's */
	buf_append_c(&key, ".trust_level");
	const char *words[] = {buf_str(&key).ptr, "\"trusted\""};
	tui_save(tui, words, countof(words), on_trust_saved);
}

/* True if [projects] says something about the folder, or about one around it. */
static bool is_decided(const struct tui *tui)
{
	const struct toml *projects = config_find(tui->config, "projects");
	if (config_trusts_folder(tui->config, tui->cwd))
		return true;
	toml_for_each(entry, toml_is(projects, TOML_table) ? projects : NULL) {
		auto_free char *folder = str_dup(entry->key);
		if (toml_get(entry, "trust_level") && path_is_inside(tui->cwd, folder))
			return true;
	}
	return false;
}

void tui_first_run(struct tui *tui)
{
	static const struct tui_choice items[] = {
		{"Trust and continue", "edit files here; use its .codex/config.toml", 0},
		{"Continue without trust", "read only, ask for more", 0}};
	auto_buf struct buf title;
	auto_free char *folder = trusted_folder(tui);
	buf_init(&title, LIMIT_LINE);
	buf_printf(&title,
	           "Folder access\n%s\n\nTrust this folder? Files in it can contain instructions that mislead the "
	           "model, and "
	           "settings that start programs.\n\n",
	           folder);
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = items,
	                           .count = countof(items),
	                           .hint = "  enter select · esc continue without trust",
	                           .on_chosen = on_trust_chosen,
	                           .self = tui};
	if (is_decided(tui) || tui->options.run.bypass)
		check_key(tui);
	else
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
}
