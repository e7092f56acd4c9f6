/* The rules about commands in requirements.toml: checked here, and written in the form of a rules file, in which the
 * engine reads them. */
#include "base/buf.h"
#include "config/config_required.h"

static int fail_at(const struct toml *node, const char *text, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	return error_set(err, ERR_config, "%s: `rules.prefix_rules`: %s", config_place(node, where), text);
}

/* A word that the rules file could not hold as it is would make the rule match something else. */
static bool is_word(const struct toml *word)
{
	if (!toml_is(word, TOML_string) || !word->text.len)
		return false;
	size_t at = 0;
	while (at < word->text.len && (unsigned char)word->text.ptr[at] >= ' ')
		at++;
	return at == word->text.len;
}

static bool is_word_list(const struct toml *list)
{
	toml_for_each(it, list) {
		if (!is_word(it))
			return false;
	}
	return toml_is(list, TOML_array) && list->child;
}

static int check_rule(const struct toml *rule, struct error *err)
{
	const struct toml *pattern = toml_get(rule, "pattern"), *decision = toml_get(rule, "decision");
	toml_for_each(it, toml_is(pattern, TOML_array) ? pattern : NULL) {
		if (!is_word(toml_get(it, "token")) && !is_word_list(toml_get(it, "any_of")))
			return fail_at(it, "each part of `pattern` is `{ token = \"…\" }` or `{ any_of = [\"…\"] }`",
			               err);
	}
	if (!toml_is(pattern, TOML_array) || !pattern->child)
		return fail_at(rule, "`pattern` must be a list that is not empty", err);
	if (!toml_is(decision, TOML_string) ||
	    (!str_is(decision->text, "prompt") && !str_is(decision->text, "forbidden")))
		return fail_at(rule, "`decision` must be `prompt` or `forbidden`", err);
	return 0;
}

int config_required_check_rules(const struct toml *root, struct error *err)
{
	toml_for_each(rule, toml_get(toml_get(root, "rules"), "prefix_rules")) {
		if (check_rule(rule, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

/* ---- as a rules file ---- */

static void write_text(struct buf *out, struct str text)
{
	buf_append_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '"' || c == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, c == '\n' ? ' ' : c);
	}
	buf_append_char(out, '"');
}

static void write_pattern(struct buf *out, const struct toml *pattern)
{
	buf_append_char(out, '[');
	toml_for_each(it, pattern) {
		const struct toml *token = toml_get(it, "token");
		buf_append_char(out, token ? ' ' : '[');
		toml_for_each(word, token ? NULL : toml_get(it, "any_of")) {
			write_text(out, word->text);
			buf_append_char(out, ',');
		}
		if (token)
			write_text(out, token->text);
		buf_append_c(out, token ? "," : "],");
	}
	buf_append_char(out, ']');
}

void config_required_write_rules(const struct config_required *required, struct buf *out)
{
	toml_for_each(rule, required ? required->keys.rules.prefix_rules : NULL) {
		const struct toml *justification = toml_get(rule, "justification");
		buf_append_c(out, "prefix_rule(pattern = ");
		write_pattern(out, toml_get(rule, "pattern"));
		buf_append_c(out, ", decision = ");
		write_text(out, toml_get(rule, "decision")->text);
		if (justification) {
			buf_append_c(out, ", justification = ");
			write_text(out, justification->text);
		}
		buf_append_c(out, ")\n");
	}
}
