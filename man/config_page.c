/* codex-config(5), from the rows that read config.toml. Every key has its dotted name, so that a search finds it. */
#include "pages.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/config_record.h"
#include "config_text.h"
#include "roff.h"

enum { PATH_SIZE = 256 };

static void append_tag(struct buf *out, const char *path, const char *key)
{
	roff_tag(out);
	buf_append_c(out, "\\fB");
	roff_append(out, str_of(path));
	roff_append(out, str_of(key));
	buf_append_c(out, "\\fR\n");
}

static void append_row(struct buf *out, const struct config_record *record, const struct config_row *row,
                       const char *path)
{
	auto_buf struct buf line;
	buf_init(&line, 4096);
	append_tag(out, path, row->key);
	roff_sentence(out, str_of(config_text_doc(record, row)));
	buf_append_c(&line, "Type: ");
	config_text_type(&line, path, row);
	roff_sentence(out, buf_str(&line));
	buf_clear(&line);
	config_text_default(&line, row);
	if (str_is(buf_str(&line), "–"))
		return;
	buf_append_c(out, "Default: ");
	roff_sentence(out, buf_str(&line));
}

static void append_inert(struct buf *out, const struct config_record *record, const char *path)
{
	size_t count = 0;
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		if (row->kind != CONFIG_inert)
			continue;
		if (!count++)
			buf_append_c(out, ".PP\nThese keys are accepted without effect in this version:\n");
		append_tag(out, path, row->key);
		roff_sentence(out, str_of(config_text_doc(record, row)));
		buf_printf(out, "Type: %s.\n", config_text_inert(row));
	}
}

static void append_record(struct buf *out, const struct config_record *record, const char *path, const char *title)
{
	roff_heading(out, "SS", title);
	for (size_t i = 0; i < record->count; i++) {
		if (record->rows[i].kind != CONFIG_inert)
			append_row(out, record, &record->rows[i], path);
	}
	append_inert(out, record, path);
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		char inner[PATH_SIZE], heading[PATH_SIZE + 4];
		/* Profiles have the same keys, which are not repeated; nor are providers, which are limits as well. */
		const struct config_record *below = config_row_inner(row);
		bool is_known = below == &config_provider_keys && record == &config_requirements_keys;
		if (!below || below == record || is_known)
			continue;
		const char *name = row->kind == CONFIG_named ? ".NAME" : "";
		bool is_list = row->kind == CONFIG_list;
		snprintf(heading, sizeof(heading), is_list ? "[[%s%s%s]]" : "[%s%s%s]", path, row->key, name);
		snprintf(inner, sizeof(inner), "%s%s%s.", path, row->key, name);
		append_record(out, below, inner, heading);
	}
}

/* [features] has the defaults; this table has the stage of each. */
static void append_stages(struct buf *out)
{
	static const struct {
		const char *key, *stage;
	} features[] = {
#define FEATURE(key_, is_on, stage_, doc) {#key_, #stage_},
#include "config/feature.def"
#undef FEATURE
	};
	static const char *const stages[] = {"stable", "experimental", "inert"};
	buf_append_c(out,
	             ".SH FEATURES\nThe switches of [features], which \\fB\\-\\-enable\\fR and \\fB\\-\\-disable\\fR "
	             "set as well, are stable, experimental, or inert: accepted without effect.\n");
	for (size_t k = 0; k < countof(stages); k++) {
		const char *before = "";
		buf_printf(out, ".TP\n.B %s\n", stages[k]);
		for (size_t i = 0; i < countof(features); i++) {
			if (strcmp(features[i].stage, stages[k]) != 0)
				continue;
			buf_append_c(out, before);
			roff_append(out, str_of(features[i].key));
			before = ",\n";
		}
		buf_append_c(out, ".\n");
	}
}

static void append_user_only(struct buf *out)
{
	static const char *const keys[] = {
#define USER_ONLY(key) #key,
#include "config/config.def"
	};
	buf_append_c(out, ".SH KEYS THAT PROJECT FILES CANNOT SET\n"
	                  "A project's \\fB.codex/config.toml\\fR cannot set these keys; they are ignored there:\n");
	for (size_t i = 0; i < countof(keys); i++) {
		buf_append_c(out, "\\fB");
		roff_append(out, str_of(keys[i]));
		buf_append_c(out, i + 1 < countof(keys) ? "\\fR,\n" : "\\fR.\n");
	}
}

void config_page_write(struct buf *out, struct str sections)
{
	roff_title(out, "codex\\-config", 5);
	buf_append_c(out, ".SH NAME\ncodex\\-config \\- configuration of codex: config.toml\n"
	                  ".SH SYNOPSIS\n.B $CODEX_HOME/config.toml\n.PP\n.B ~/.codex/config.toml\n.SH DESCRIPTION\n");
	roff_paragraphs(out, str_of(config_text_intro));
	buf_append_str(out, sections);
	buf_append_c(out, ".SH KEYS\n");
	append_record(out, &config_keys, "", "The file itself");
	append_record(out, &config_agent_role_keys, "agents.NAME.", "[agents.NAME]");
	append_stages(out);
	append_user_only(out);
	buf_append_c(out, ".SH REQUIREMENTS OF AN ADMINISTRATOR\n");
	roff_paragraphs(out, str_of(config_text_requirements + 1)); /* it begins with an empty line */
	append_record(out, &config_requirements_keys, "", "/etc/codex/requirements.toml");
	buf_append_c(out, ".SH SEE ALSO\n.BR codex (1),\n.BR codex\\-exec (1),\n.BR codex\\-doctor (1)\n");
}
