/* The software bill of materials (CycloneDX 1.5) and the list of licences of all programs, from dependency.def and a
 * table of the host of scripts, which shares no code with the engine. Without date and serial
 * number, so that two builds are equal. The version of a library that the program does not contain is not known here:
 * it is that of the machine on which the program runs. */
#include "pages.h"

#include <uv.h>

#include "base/json.h"
#include "base/mem.h"

enum use {
	USE_loaded,
	USE_linked,
	USE_included,
};

static const char *const use_names[] = {[USE_loaded] = "loaded", [USE_linked] = "linked", [USE_included] = "included"};

struct dependency {
	const char *name, *soname, *licence, *homepage, *purpose;
	enum use use;
};

/* codex-code-mode-host and its module codex-code-mode-lock.so. */
#define HOST "codex-code-mode-host"
static const char *const programs[] = {"codex", "codex-fleet", HOST};

static const struct dependency host_dependencies[] = {
	{"JavaScriptCore", "libjavascriptcoregtk-4.1.so.0", "LGPL-2.1-or-later", "https://webkitgtk.org",
         "scripts of code mode, if node is not there", USE_loaded},
#ifdef WITH_QUICKJS
	{"QuickJS", "libquickjs", "MIT", "https://bellard.org/quickjs", "scripts of code mode", USE_included},
#endif
};

static const struct dependency dependencies[] = {
#define LINKED(name, soname, package, licence, homepage, function, purpose) \
	{#name, soname, licence, homepage, purpose, USE_linked},
#define LOADED(name, soname, package, licence, homepage, function, purpose, priority) \
	{#name, soname, licence, homepage, purpose, USE_loaded},
#include "base/dependency.def"
#undef LINKED
#undef LOADED
};

static bool is_libuv(const struct dependency *it)
{
	return strcmp(it->name, "libuv") == 0;
}

/* The portable programs contain libuv. */
static enum use use_of(const struct dependency *it)
{
#ifdef CODEX_PORTABLE
	if (is_libuv(it))
		return USE_included;
#endif
	return it->use;
}

static void write_property(struct json_writer *w, const char *name, const char *value)
{
	jw_object(w);
	jw_member_cstr(w, "name", name);
	jw_member_cstr(w, "value", value);
	jw_object_end(w);
}

static void write_licence(struct json_writer *w, const char *licence)
{
	jw_key(w, "licenses");
	jw_array(w);
	jw_object(w);
	jw_key(w, "license");
	jw_object(w);
	jw_member_cstr(w, "id", licence);
	jw_object_end(w);
	jw_object_end(w);
	jw_array_end(w);
}

static void write_component(struct json_writer *w, const struct dependency *it)
{
	jw_object(w);
	jw_member_cstr(w, "type", "library");
	jw_member_cstr(w, "bom-ref", it->name);
	jw_member_cstr(w, "name", it->name);
	if (use_of(it) == USE_included && is_libuv(it))
		jw_member_cstr(w, "version", uv_version_string());
	jw_member_cstr(w, "description", it->purpose);
	jw_member_cstr(w, "scope", it->use == USE_linked ? "required" : "optional");
	write_licence(w, it->licence);
	jw_key(w, "externalReferences");
	jw_array(w);
	jw_object(w);
	jw_member_cstr(w, "type", "website");
	jw_member_cstr(w, "url", it->homepage);
	jw_object_end(w);
	jw_array_end(w);
	jw_key(w, "properties");
	jw_array(w);
	if (use_of(it) != USE_included)
		write_property(w, "codex:soname", it->soname);
	write_property(w, "codex:use", use_names[use_of(it)]);
	jw_array_end(w);
	jw_object_end(w);
}

static void write_program(struct json_writer *w, const char *name)
{
	jw_object(w);
	jw_member_cstr(w, "type", "application");
	jw_member_cstr(w, "bom-ref", name);
	jw_member_cstr(w, "name", name);
	jw_member_cstr(w, "version", CODEX_VERSION);
	write_licence(w, "Apache-2.0");
	jw_object_end(w);
}

static void write_components(struct json_writer *w)
{
	jw_key(w, "components");
	jw_array(w);
	for (size_t i = 0; i < countof(dependencies); i++)
		write_component(w, &dependencies[i]);
	for (size_t i = 0; i < countof(host_dependencies); i++)
		write_component(w, &host_dependencies[i]);
	for (size_t i = 1; i < countof(programs); i++)
		write_program(w, programs[i]);
	jw_array_end(w);
}

/* The host of scripts needs the C library alone of what the engine uses. */
static void write_uses(struct json_writer *w, const char *program)
{
	bool is_host = strcmp(program, HOST) == 0;
	jw_object(w);
	jw_member_cstr(w, "ref", program);
	jw_key(w, "dependsOn");
	jw_array(w);
	for (size_t i = 0; i < countof(dependencies); i++) {
		if (!is_host || (dependencies[i].use == USE_linked && !is_libuv(&dependencies[i])))
			jw_cstr(w, dependencies[i].name);
	}
	for (size_t i = 0; is_host && i < countof(host_dependencies); i++)
		jw_cstr(w, host_dependencies[i].name);
	jw_array_end(w);
	jw_object_end(w);
}

void sbom_page_write(struct buf *out)
{
	auto_buf struct buf compact;
	buf_init(&compact, out->max);
	struct json_writer w = json_writer(&compact);
	jw_object(&w);
	jw_member_cstr(&w, "bomFormat", "CycloneDX");
	jw_member_cstr(&w, "specVersion", "1.5");
	jw_member_i64(&w, "version", 1);
	jw_key(&w, "metadata");
	jw_object(&w);
	jw_key(&w, "component");
	write_program(&w, programs[0]);
	jw_object_end(&w);
	write_components(&w);
	jw_key(&w, "dependencies");
	jw_array(&w);
	for (size_t i = 0; i < countof(programs); i++)
		write_uses(&w, programs[i]);
	jw_array_end(&w);
	jw_object_end(&w);
	json_indent(out, buf_str(&compact));
	buf_append_char(out, '\n');
}

static void append_entry(struct buf *out, const struct dependency *it)
{
	buf_printf(out, "\n%s (%s)\n  licence:  %s\n  homepage: %s\n  purpose:  %s\n  use:      %s\n", it->name,
	           it->soname, it->licence, it->homepage, it->purpose, use_names[use_of(it)]);
}

void licences_page_write(struct buf *out)
{
	buf_append_c(
		out,
		"Codex in C " CODEX_VERSION " is licensed under the Apache License 2.0 (SPDX: Apache-2.0).\n"
		"\n"
		"Its source contains no code of others. The programs codex and codex-fleet use these libraries, each\n"
		"under its own licence. \"included\" is part of the programs, \"linked\" is needed at start, "
		"\"loaded\"\n"
		"is opened by name when it is first used.\n");
	for (size_t i = 0; i < countof(dependencies); i++)
		append_entry(out, &dependencies[i]);
	buf_append_c(out, "\nThe program " HOST " uses the C library and:\n");
	for (size_t i = 0; i < countof(host_dependencies); i++)
		append_entry(out, &host_dependencies[i]);
}
