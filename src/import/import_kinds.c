/* The kinds that are found by their files: settings, skills, commands, subagents and instructions; and the table of
 * all kinds. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"
#include "import/import_scope.h"
#include "skill/yaml.h"

#define SKILLS ".agents/skills"
#define COMMAND_SKILL "source-command-"

static const char *below(const struct import_scope *scope, const struct import_tree *tree, const char *name)
{
	return arena_printf(scope->arena, "%s/%s", tree->path, name);
}

static const char *join(const struct import_scope *scope, const char *prefix, struct str name, const char *suffix)
{
	return arena_printf(scope->arena, "%s%.*s%s", prefix, STR_ARG(name), suffix);
}

/* ---- settings ---- */

static struct toml *text_value(struct arena *arena, struct str text)
{
	struct toml *value = toml_new(arena, TOML_string, "", 1);
	value->text = text;
	return value;
}

struct settings_change {
	const struct import_scope *scope;
	const struct toml *config; /* what the user has; with an edit, its own */
	struct toml_edit *edit;    /* NULL: count only */
	struct buf *note;          /* of an edit */
	size_t count;
};

static bool has_key(const struct toml *node, const struct str *path, size_t count)
{
	for (size_t i = 0; i < count && node; i++)
		node = toml_find(node, path[i]);
	return node;
}

static int set(struct settings_change *change, const struct str *path, size_t count, struct str text, struct error *err)
{
	if (change->note && has_key(change->scope->user_config, path, count))
		buf_printf(change->note, "%.*s is set already and stays as it is. ", STR_ARG(path[count - 1]));
	if (has_key(change->edit ? change->edit->root : change->config, path, count))
		return 0;
	change->count++;
	return change->edit ? toml_edit_set(change->edit, path, count, text_value(change->scope->arena, text), err) : 0;
}

/* The user's local file counts before the other. */
static int take_settings(struct settings_change *change, struct error *err)
{
	int status = 0;
	for (int source = IMPORT_local; source >= IMPORT_settings && status == 0; source--) {
		const struct json *settings = change->scope->sources[source].json, *env = json_get(settings, "env");
		json_for_each(it, json_is(env, JSON_object) ? env : NULL) {
			struct str path[] = {STR("shell_environment_policy"), STR("set"), it->key};
			struct str value = json_is(it, JSON_string) ? it->text : it->span;
			bool is_scalar = it->type == JSON_string || it->type == JSON_number || it->type == JSON_bool;
			if (is_scalar && status == 0)
				status = set(change, path, countof(path), value, err);
		}
		struct str mode = STR("sandbox_mode");
		if (status == 0 && json_get_bool(json_get(settings, "sandbox"), "enabled", false))
			status = set(change, &mode, 1, STR("workspace-write"), err);
	}
	return status;
}

/* A project cannot set these keys (config_narrow.h). */
static int find_settings(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	struct settings_change change = {.scope = scope};
	if (take_settings(&change, err) == 0 && change.count && !scope->cwd)
		vec_push(names, STR("settings"));
	return import_source_check(&scope->sources[IMPORT_settings], err) != 0 ||
	                       import_source_check(&scope->sources[IMPORT_local], err) != 0
	               ? -(int)err->code
	               : 0;
}

static bool have_settings(const struct import_scope *scope, struct str name)
{
	struct error err;
	struct settings_change change = {.scope = scope, .config = scope->user_config};
	(void)name;
	return take_settings(&change, &err) == 0 && !change.count;
}

static int change_settings(struct toml_edit *edit, void *self, struct error *err)
{
	struct settings_change *change = self;
	change->edit = edit;
	return take_settings(change, err);
}

static int carry_settings(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	struct settings_change change = {.scope = scope, .note = note};
	(void)name;
	return import_change_config(scope, true, change_settings, &change, err);
}

static const char *settings_source(const struct import_scope *scope)
{
	return below(scope, &scope->theirs, ".claude/settings.json");
}

static const char *config_target(const struct import_scope *scope)
{
	return below(scope, &scope->ours, import_ours(scope, "config.toml"));
}

static const char *servers_source(const struct import_scope *scope)
{
	return scope->theirs.path;
}

static const char *hooks_source(const struct import_scope *scope)
{
	return below(scope, &scope->theirs, ".claude");
}

static const char *hooks_target(const struct import_scope *scope)
{
	return below(scope, &scope->ours, import_ours(scope, "hooks.json"));
}

static int read_text(const struct import_scope *scope, const char *path, struct arena *arena, struct str *ret,
                     struct error *err)
{
	return import_tree_read(&scope->theirs, path, LIMIT_IMPORT_FILE, arena, ret, NULL, err);
}

/* ---- skills ---- */

static int find_skills(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	struct import_names all = {0};
	int status = import_tree_list(&scope->theirs, ".claude/skills", "", scope->arena, &all, err);
	vec_for_each(it, &all)
		if (import_tree_has(&scope->theirs, join(scope, ".claude/skills/", *it, "/SKILL.md")))
			vec_push(names, *it);
	vec_finish(&all);
	return status;
}

static bool have_skill(const struct import_scope *scope, struct str name)
{
	return import_tree_has(&scope->shared, join(scope, SKILLS "/", name, ""));
}

static int carry_skill(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	unsigned left = 0;
	const struct import_file target = {SKILLS, arena_cstr(scope->arena, name), import_mode(scope), false};
	struct str ignored;
	auto_arena struct arena arena = {0};
	if (read_text(scope, join(scope, ".claude/skills/", name, "/SKILL.md"), &arena, &ignored, err) != 0)
		return -(int)err->code;
	if (import_tree_copy(&scope->theirs, join(scope, ".claude/skills/", name, ""), &scope->shared, &target, &left,
	                     err) != 0)
		return -(int)err->code;
	if (left)
		buf_printf(note, "%u links or special files are left out. ", left);
	return 0;
}

static const char *skills_source(const struct import_scope *scope)
{
	return below(scope, &scope->theirs, ".claude/skills");
}

static const char *skills_target(const struct import_scope *scope)
{
	return below(scope, &scope->shared, SKILLS);
}

/* ---- commands: prompts of the user; of a project, which has no prompts, skills ---- */

static int find_commands(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	size_t before = names->count;
	int status = import_tree_list(&scope->theirs, ".claude/commands", ".md", scope->arena, names, err);
	for (size_t i = before; scope->cwd && i < names->count; i++)
		names->items[i] = str_of(join(scope, COMMAND_SKILL, names->items[i], ""));
	return status;
}

static bool have_command(const struct import_scope *scope, struct str name)
{
	return scope->cwd ? have_skill(scope, name)
	                  : import_tree_has(&scope->ours, join(scope, "prompts/", name, ".md"));
}

static void add_pair(struct buf *out, const char *key, const char *between, struct str value)
{
	buf_printf(out, "%s%s", key, between);
	json_quote(out, value); /* the escapes of JSON are those of TOML and of YAML */
	buf_append_char(out, '\n');
}

/* Splits a file at its front matter, which it may lack. */
static struct str read_front(struct arena *arena, struct str text, const char *key, struct str *ret_body)
{
	struct str yaml;
	struct error ignored;
	*ret_body = text;
	const struct json *front =
		yaml_split_front_matter(text, &yaml, ret_body) ? yaml_read(arena, yaml, &ignored) : NULL;
	return front ? yaml_get_line(front, key, arena) : STR_NONE;
}

static int carry_command(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	struct str text, body, shown = name;
	auto_arena struct arena arena = {0};
	auto_buf struct buf out = {0};
	(void)note;
	str_cut_prefix(&shown, scope->cwd ? COMMAND_SKILL : "");
	if (read_text(scope, join(scope, ".claude/commands/", shown, ".md"), &arena, &text, err) != 0)
		return -(int)err->code;
	if (!scope->cwd)
		return import_tree_write(
			&scope->ours,
			&(struct import_file){"prompts", join(scope, "", name, ".md"), import_mode(scope), false}, text,
			err);
	buf_init(&out, 2 * LIMIT_IMPORT_FILE);
	struct str description = read_front(&arena, text, "description", &body);
	buf_append_c(&out, "---\n");
	add_pair(&out, "name", ": ", name);
	add_pair(&out, "description", ": ",
	         description.len ? description
	                         : str_of(arena_printf(scope->arena, "The command %.*s", STR_ARG(shown))));
	buf_printf(&out, "---\n\nFollow this when the user asks for the command `%.*s`.\n\n", STR_ARG(shown));
	buf_append_str(&out, body);
	const struct import_file file = {join(scope, SKILLS "/", name, ""), "SKILL.md", import_mode(scope), false};
	return import_tree_write(&scope->shared, &file, buf_str(&out), err);
}

static const char *commands_source(const struct import_scope *scope)
{
	return below(scope, &scope->theirs, ".claude/commands");
}

static const char *commands_target(const struct import_scope *scope)
{
	return scope->cwd ? skills_target(scope) : below(scope, &scope->ours, "prompts");
}

/* ---- subagents ---- */

static int find_subagents(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	return import_tree_list(&scope->theirs, ".claude/agents", ".md", scope->arena, names, err);
}

static bool have_subagent(const struct import_scope *scope, struct str name)
{
	return toml_find(toml_get(scope->user_config, "agents"), name) ||
	       toml_find(toml_get(scope->config, "agents"), name) ||
	       import_tree_has(&scope->ours, join(scope, import_ours(scope, "agents/"), name, ".toml"));
}

/* Their tools and models have other names, so a role takes over the instructions only. */
static int carry_subagent(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	struct str text, body;
	auto_arena struct arena arena = {0};
	auto_buf struct buf out = {0};
	(void)note;
	if (read_text(scope, join(scope, ".claude/agents/", name, ".md"), &arena, &text, err) != 0)
		return -(int)err->code;
	struct str description = read_front(&arena, text, "description", &body);
	if (!description.len)
		return error_set(err, ERR_invalid, "it has no description in its front matter");
	if (description.len > LIMIT_AGENT_ROLE_TEXT)
		return error_set(err, ERR_limit, "its description is larger than %d bytes", LIMIT_AGENT_ROLE_TEXT);
	if (str_find_char(name, '.') >= 0)
		return error_set(err, ERR_invalid, "the name of a role has no points");
	buf_init(&out, LIMIT_AGENT_ROLE_FILE);
	add_pair(&out, "name", " = ", name);
	add_pair(&out, "description", " = ", description);
	add_pair(&out, "developer_instructions", " = ", str_trim(body));
	if (out.over)
		return error_set(err, ERR_limit, "it is larger than a role can be: %d bytes", LIMIT_AGENT_ROLE_FILE);
	if (!toml_parse(&arena, buf_str(&out), "it", err))
		return -(int)err->code;
	const struct import_file file = {import_ours_folder(scope, "agents"), join(scope, "", name, ".toml"),
	                                 import_mode(scope), false};
	return import_tree_write(&scope->ours, &file, buf_str(&out), err);
}

static const char *subagents_source(const struct import_scope *scope)
{
	return below(scope, &scope->theirs, ".claude/agents");
}

static const char *subagents_target(const struct import_scope *scope)
{
	return below(scope, &scope->ours, import_ours(scope, "agents"));
}

/* ---- instructions ---- */

static const char *instructions_path(const struct import_scope *scope)
{
	return scope->cwd && import_tree_has(&scope->theirs, "CLAUDE.md") ? "CLAUDE.md" : ".claude/CLAUDE.md";
}

static int find_instructions(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	struct str text;
	auto_arena struct arena arena = {0};
	struct error failure;
	if (read_text(scope, instructions_path(scope), &arena, &text, &failure) != 0)
		return failure.code == ERR_not_found ? 0 : error_set(err, failure.code, "%s", failure.text);
	if (str_trim(text).len)
		vec_push(names, STR("instructions"));
	return 0;
}

static bool have_instructions(const struct import_scope *scope, struct str name)
{
	(void)name;
	return import_tree_has(&scope->ours, "AGENTS.md");
}

static int carry_instructions(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	struct str text;
	auto_arena struct arena arena = {0};
	const struct import_file file = {".", "AGENTS.md", import_mode(scope), false};
	(void)name;
	(void)note;
	return read_text(scope, instructions_path(scope), &arena, &text, err) != 0
	               ? -(int)err->code
	               : import_tree_write(&scope->ours, &file, text, err);
}

static const char *instructions_source(const struct import_scope *scope)
{
	return below(scope, &scope->theirs, instructions_path(scope));
}

static const char *instructions_target(const struct import_scope *scope)
{
	return below(scope, &scope->ours, "AGENTS.md");
}

/* ---- all ---- */

const struct import_kind import_kinds[IMPORT_KINDS] = {
	{"CONFIG", NULL, "settings", find_settings, have_settings, carry_settings, settings_source, config_target},
	{"MCP_SERVER_CONFIG", "mcpServers", "MCP servers", import_servers_find, import_servers_have,
         import_servers_carry, servers_source, config_target},
	{"HOOKS", "hooks", "hooks", import_hooks_find, import_hooks_have, import_hooks_carry, hooks_source,
         hooks_target},
	{"SKILLS", "skills", "skills", find_skills, have_skill, carry_skill, skills_source, skills_target},
	{"COMMANDS", "commands", "commands", find_commands, have_command, carry_command, commands_source,
         commands_target},
	{"SUBAGENTS", "subagents", "subagents", find_subagents, have_subagent, carry_subagent, subagents_source,
         subagents_target},
	{"AGENTS_MD", NULL, "instructions", find_instructions, have_instructions, carry_instructions,
         instructions_source, instructions_target},
};
