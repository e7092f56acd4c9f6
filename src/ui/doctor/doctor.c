/* Every check writes into the finding that was begun for it, so that a new check is a row and a function. */
#include "ui/doctor/doctor.h"

#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "ui/exec/exec_config.h"
#include "ui/cli/terminal_style.h"

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

void doctor_run(struct doctor *doctor)
{
	load_config(doctor);
	doctor->loop = loop_create(NULL);
	for (size_t i = 0; i < doctor_check_count; i++) {
		uint64_t started = clock_now_ms();
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

void doctor_finish(struct doctor *doctor)
{
	vec_for_each(it, &doctor->findings)
		vec_finish(&it->details);
	vec_finish(&doctor->findings);
	config_unref(doctor->config);
	arena_finish(&doctor->arena);
}

enum doctor_status doctor_status(const struct doctor *doctor)
{
	enum doctor_status worst = DOCTOR_ok;
	vec_for_each(it, &doctor->findings) {
		if (it->status > worst)
			worst = it->status;
	}
	return worst;
}

void doctor_print(const struct doctor *doctor, bool has_color, struct buf *out)
{
	const char *plain = terminal_style(has_color, STYLE_plain), *dim = terminal_style(has_color, STYLE_dim);
	vec_for_each(it, &doctor->findings) {
		buf_printf(out, "%s%s%s %s: %s\n", terminal_style(has_color, statuses[it->status].style),
		           statuses[it->status].mark, plain, it->id, it->summary);
		vec_for_each(detail, &it->details)
			buf_printf(out, "%s       %s: %s%s\n", dim, detail->name, detail->value, plain);
		if (it->advice)
			buf_printf(out, "       -> %s\n", it->advice);
	}
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

void doctor_print_json(const struct doctor *doctor, struct buf *out)
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
	jw_member_cstr(&w, "overallStatus", statuses[doctor_status(doctor)].word);
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
