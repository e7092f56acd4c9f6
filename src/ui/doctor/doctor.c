/* Each check writes to the finding that was created for it, so that a new check needs a row and a function. */
#include "ui/doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "ui/cli/terminal.h"
#include "ui/exec/exec_options.h"

static const struct {
	const char *word, *mark;
	enum style style;
} statuses[] = {
	[DOCTOR_ok] = {"ok", "ok  ", STYLE_green},
	[DOCTOR_warning] = {"warning", "warn", STYLE_yellow},
	[DOCTOR_fail] = {"fail", "FAIL", STYLE_red},
};

static struct doctor_finding *current(struct doctor *doctor)
{
	return &doctor->findings.items[doctor->findings.count - 1];
}

static const char *format_text(struct doctor *doctor, const char *format, va_list args)
{
	auto_buf struct buf text;
	buf_init(&text, 2 * ERROR_TEXT_MAX);
	buf_vprintf(&text, format, args);
	return arena_cstr(&doctor->arena, buf_str(&text));
}

void doctor_report(struct doctor *doctor, enum doctor_status status, const char *advice, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct doctor_finding *finding = current(doctor);
	finding->status = status;
	finding->advice = advice;
	finding->summary = format_text(doctor, format, args);
	va_end(args);
}

void doctor_detail(struct doctor *doctor, const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct doctor_detail detail = {arena_cstr(&doctor->arena, str_of(name)), format_text(doctor, format, args)};
	vec_push(&current(doctor)->details, detail);
	va_end(args);
}

static void load_config(struct doctor *doctor)
{
	auto_free char *cwd = realpath(doctor->options->cwd ? doctor->options->cwd : ".", NULL);
	auto_free char *home = config_env_home(NULL);
	if (home)
		doctor->home = arena_cstr(&doctor->arena, str_of(home));
	if (cwd)
		best_effort(exec_config_load(doctor->options, cwd, &doctor->config, &doctor->config_error));
	else
		error_set(&doctor->config_error, ERR_not_found, "the current folder does not exist any more");
}

static bool is_of_network(const char *category)
{
	static const char *const categories[] = {"config", "auth", "reachability"};
	for (size_t i = 0; i < countof(categories); i++) {
		if (strcmp(category, categories[i]) == 0)
			return true;
	}
	return false;
}

static void run_checks(struct doctor *doctor)
{
	load_config(doctor);
	doctor->loop = loop_create(NULL);
	for (size_t i = 0; i < doctor_check_count; i++) {
		uint64_t started = clock_now_ms();
		if (doctor->is_network_only && !is_of_network(doctor_checks[i].category))
			continue;
		vec_push(&doctor->findings, (struct doctor_finding){.id = doctor_checks[i].id,
		                                                    .category = doctor_checks[i].category,
		                                                    .summary = ""});
		doctor_checks[i].run(doctor);
		current(doctor)->ms = clock_now_ms() - started;
	}
	process_reaper_stop();
	if (doctor->loop)
		loop_destroy(doctor->loop);
}

static void finish(struct doctor *doctor)
{
	vec_for_each(it, &doctor->findings)
		vec_finish(&it->details);
	vec_finish(&doctor->findings);
	config_unref(doctor->config);
	arena_finish(&doctor->arena);
}

static enum doctor_status worst_status(const struct doctor *doctor)
{
	enum doctor_status worst = DOCTOR_ok;
	vec_for_each(it, &doctor->findings) {
		if (it->status > worst)
			worst = it->status;
	}
	return worst;
}

static void print_counts(const struct doctor *doctor, struct buf *out)
{
	size_t counts[countof(statuses)] = {0};
	vec_for_each(it, &doctor->findings)
		counts[it->status]++;
	buf_printf(out, "%zu ok, %zu warnings, %zu failed\n", counts[DOCTOR_ok], counts[DOCTOR_warning],
	           counts[DOCTOR_fail]);
}

/* Replaces each character outside of ASCII by one question mark. */
static void make_ascii(struct buf *text)
{
	size_t kept = 0;
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];
		if ((c & 0xc0) != 0x80)
			text->data[kept++] = c < 0x80 ? (char)c : '?';
	}
	buf_truncate(text, kept);
}

static void print_text(const struct doctor *doctor, bool is_summary, bool has_color, struct buf *out)
{
	const char *plain = terminal_style(has_color, STYLE_plain), *dim = terminal_style(has_color, STYLE_dim);
	vec_for_each(it, &doctor->findings) {
		buf_printf(out, "%s%s%s %s: %s\n", terminal_style(has_color, statuses[it->status].style),
		           statuses[it->status].mark, plain, it->id, it->summary);
		if (is_summary)
			continue;
		vec_for_each(detail, &it->details)
			buf_printf(out, "%s       %s: %s%s\n", dim, detail->name, detail->value, plain);
		if (it->advice)
			buf_printf(out, "       -> %s\n", it->advice);
	}
	if (is_summary)
		print_counts(doctor, out);
}

static void write_finding(struct json_writer *w, const struct doctor_finding *it)
{
	jw_key(w, it->id);
	jw_object(w);
	jw_member_cstr(w, "id", it->id);
	jw_member_cstr(w, "category", it->category);
	jw_member_cstr(w, "status", statuses[it->status].word);
	jw_member_cstr(w, "summary", it->summary);
	jw_key(w, "details");
	jw_object(w);
	vec_for_each(detail, &it->details) {
		jw_key_str(w, str_of(detail->name));
		jw_cstr(w, detail->value);
	}
	jw_object_end(w);
	jw_member_cstr(w, "remediation", it->advice);
	jw_member_i64(w, "durationMs", (int64_t)it->ms);
	jw_object_end(w);
}

static void print_json(const struct doctor *doctor, struct buf *out)
{
	auto_buf struct buf compact;
	char now[64];
	buf_init(&compact, out->max);
	snprintf(now, sizeof(now), "%lld", (long long)time(NULL));
	struct json_writer w = json_writer(&compact);
	jw_object(&w);
	jw_member_i64(&w, "schemaVersion", 1);
	jw_key(&w, "generatedAt");
	jw_strf(&w, "%ss since unix epoch", now);
	jw_member_cstr(&w, "overallStatus", statuses[worst_status(doctor)].word);
	jw_member_cstr(&w, "codexVersion", CODEX_VERSION);
	jw_key(&w, "checks");
	jw_object(&w);
	vec_for_each(it, &doctor->findings)
		write_finding(&w, it);
	jw_object_end(&w);
	jw_object_end(&w);
	json_indent(out, buf_str(&compact));
	buf_append_char(out, '\n');
}

/* ---- the command ---- */

struct doctor_options {
	struct exec_options exec;
	bool is_json, asks_network, has_no_color, rebuilds_index, is_summary, shows_all, is_ascii, is_network_only;
};

#define COMMON(field) (offsetof(struct doctor_options, exec) + offsetof(struct exec_options, field))

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, COMMON(overrides), "key=value", NULL, "Set a configuration value; repeatable"},
	{"enable", 0, CLI_LIST, COMMON(enable), "FEATURE", NULL, "Same as -c features.FEATURE=true; repeatable"},
	{"disable", 0, CLI_LIST, COMMON(disable), "FEATURE", NULL, "Same as -c features.FEATURE=false; repeatable"},
	{"profile", 'p', CLI_TEXT, COMMON(profile), "NAME", NULL, "Use the configuration profile NAME"},
	{"cd", 'C', CLI_TEXT, COMMON(cwd), "DIR", NULL, "Check the settings for this folder"},
	{"json", 0, CLI_FLAG, offsetof(struct doctor_options, is_json), NULL, NULL, "Print JSON"},
	{"summary", 0, CLI_FLAG, offsetof(struct doctor_options, is_summary), NULL, NULL,
         "Print one line for each check and the number of results, without details"},
	{"all", 0, CLI_FLAG, offsetof(struct doctor_options, shows_all), NULL, NULL, NULL},
	{"ascii", 0, CLI_FLAG, offsetof(struct doctor_options, is_ascii), NULL, NULL,
         "Print ASCII only: other characters as ?"},
	{"network-only", 0, CLI_FLAG, offsetof(struct doctor_options, is_network_only), NULL, NULL,
         "Check the configuration, the credentials and the provider only, and connect to it"},
	{"network", 0, CLI_FLAG, offsetof(struct doctor_options, asks_network), NULL, NULL,
         "Also connect to the provider"},
	{"rebuild-index", 0, CLI_FLAG, offsetof(struct doctor_options, rebuilds_index), NULL, NULL,
         "Rebuild the index of sessions from their files"},
	{"no-color", 0, CLI_FLAG, offsetof(struct doctor_options, has_no_color), NULL, NULL, "Print without colour"},
};

const struct cli_command doctor_command = {
	.name = "codex doctor",
	.about = "Check the installation and the system: what works, what does not, and what to do.",
	.usage = "Usage: codex doctor [OPTIONS]",
	.details = "It changes nothing without --rebuild-index, and connects to no server without\n"
		   "--network.\n",
	.options = rows,
	.option_count = countof(rows),
};

static int examine(const struct doctor_options *options)
{
	struct doctor doctor = {.options = &options->exec,
	                        .asks_network = options->asks_network || options->is_network_only,
	                        .is_network_only = options->is_network_only,
	                        .rebuilds_index = options->rebuilds_index};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	run_checks(&doctor);
	if (options->is_json)
		print_json(&doctor, &text);
	else
		print_text(&doctor, options->is_summary,
		           terminal_has_color(options->has_no_color ? "never" : NULL, STDOUT_FILENO), &text);
	if (options->is_ascii && !options->is_json)
		make_ascii(&text);
	int status = worst_status(&doctor) == DOCTOR_fail;
	finish(&doctor);
	return fd_write_all(STDOUT_FILENO, buf_str(&text).ptr, text.len, NULL) == 0 ? status : 1;
}

int doctor_main(int argc, char **argv)
{
	struct doctor_options options = {0};
	struct cli_result words;
	int status = cli_read(&doctor_command, argc, argv, &options, &words);
	if (status < 0)
		status = examine(&options);
	cli_finish(&doctor_command, &options, &words);
	return status;
}
