/* A feature that has no effect in this version is listed as false even if it is enabled: a script that looks for it
 * must not rely on it. */
#include "ui/cli/features_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_file.h"
#include "config/feature.h"
#include "config/toml/toml_edit.h"

enum { EXIT_FAILED = 1, NAME_WIDTH = 40, STAGE_WIDTH = 20, FEATURES_MAX = 512 };

struct features_options {
	struct cli_list overrides, enable, disable;
};

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, offsetof(struct features_options, overrides), "key=value", NULL,
         "Set a configuration value (TOML); repeatable"},
	{"enable", 0, CLI_LIST, offsetof(struct features_options, enable), "FEATURE", NULL,
         "Same as -c features.FEATURE=true; repeatable"},
	{"disable", 0, CLI_LIST, offsetof(struct features_options, disable), "FEATURE", NULL,
         "Same as -c features.FEATURE=false; repeatable"},
};

enum { WORD_list, WORD_enable, WORD_disable };

static const struct cli_word words[] = {
	[WORD_list] = {.word = "list", .doc = "List the features with their stage and state"},
	[WORD_enable] = {.word = "enable", .doc = "Turn a feature on in config.toml"},
	[WORD_disable] = {.word = "disable", .doc = "Turn a feature off in config.toml"},
};

static const struct cli_argument arguments[] = {{"[FEATURE]", "With enable and disable: the name of the feature"}};

const struct cli_command features_command = {
	.name = "codex features",
	.about = "List the features, or turn one on or off.",
	.usage = "Usage: codex features list\n"
		 "       codex features enable FEATURE\n"
		 "       codex features disable FEATURE",
	.details = "Examples:\n"
		   "  codex features list\n"
		   "  codex features disable multi_agent\n"
		   "\n"
		   "The list has all features of codex 0.169. Those without effect here are false.\n",
	.words = words,
	.word_count = countof(words),
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1,
};

static int fail(const struct error *err)
{
	fprintf(stderr, "Error: %s\n", err->text);
	return EXIT_FAILED;
}

/* ---- list ---- */

static int add_switches(char ***texts, const struct cli_list *names, const char *value, struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		if (cli_check_feature(names->items[i], err) != 0)
			return -(int)err->code;
		*(*texts)++ = xasprintf("features.%s=%s", names->items[i], value);
	}
	return 0;
}

static struct config *load(const struct features_options *options, struct error *err)
{
	size_t count = options->overrides.count + options->enable.count + options->disable.count;
	char **texts = xcalloc(count + 1, sizeof(*texts)), **end = texts;
	struct str *overrides = xcalloc(count + 1, sizeof(*overrides));
	struct config *config = NULL;
	for (size_t i = 0; i < options->overrides.count; i++)
		*end++ = xstrdup(options->overrides.items[i]);
	if (add_switches(&end, &options->enable, "true", err) == 0 &&
	    add_switches(&end, &options->disable, "false", err) == 0) {
		for (size_t i = 0; i < count; i++)
			overrides[i] = str_of(texts[i]);
		const struct config_source source = {.overrides = overrides, .override_count = count};
		config = config_load(&source, err);
	}
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
	free(overrides);
	return config;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list(const struct features_options *options)
{
	struct error err;
	const char *names[FEATURES_MAX];
	size_t count = 0;
	struct config *config = load(options, &err);
	if (!config)
		return fail(&err);
	while (count < countof(names) && (names[count] = feature_name_at(count)) != NULL)
		count++;
	qsort(names, count, sizeof(*names), compare);
	for (size_t i = 0; i < count; i++) {
		struct str name = str_of(names[i]);
		printf("%-*s %-*s %s\n", NAME_WIDTH, names[i], STAGE_WIDTH, feature_stage(name),
		       feature_is_on(config, name) ? "true" : "false");
	}
	config_unref(config);
	return 0;
}

/* ---- enable, disable ---- */

struct change {
	const char *name;
	bool is_on;
};

static int write_change(struct toml_edit *edit, void *self, struct error *err)
{
	const struct change *change = self;
	const struct str path[] = {STR("features"), str_of(change->name)};
	const struct toml value = {.kind = TOML_bool, .source = "", .boolean = change->is_on};
	return toml_edit_set(edit, path, countof(path), &value, err);
}

static int change(const char *name, bool is_on)
{
	struct error err;
	struct change change = {name, is_on};
	auto_free char *home = config_env_home(&err);
	if (!home || cli_check_feature(name, &err) != 0 || config_file_change(home, write_change, &change, &err) != 0)
		return fail(&err);
	printf("%s feature `%s` in config.toml.\n", is_on ? "Enabled" : "Disabled", name);
	return 0;
}

static int refuse(const char *text)
{
	struct error err;
	error_set(&err, ERR_usage, "%s", text);
	return cli_print_error(&features_command, &err);
}

static int run(const struct features_options *options, const struct cli_result *result)
{
	const struct cli_list *names = &result->positionals;
	if (!result->word)
		return refuse("a command is required: list, enable or disable");
	if (result->word == &words[WORD_list])
		return names->count ? refuse("`list` takes no argument") : list(options);
	if (!names->count)
		return refuse("the name of a feature is required");
	return change(names->items[0], result->word == &words[WORD_enable]);
}

int features_main(int argc, char **argv)
{
	struct features_options options = {0};
	struct cli_result result;
	int status = cli_read(&features_command, argc, argv, &options, &result);
	if (status < 0)
		status = run(&options, &result);
	cli_finish(&features_command, &options, &result);
	return status;
}
