/* The policy becomes entries of a file system that can be read as a whole and written in part, as codex 0.169 sends
 * them: project_roots are the workspaceRoots, which is the working folder of the session. Its .git, .agents, .codex
 * and .aws stay read-only, as codex 0.169 asks of its server; here .aws is not in the list (sandbox_plan.c). */
#include "remote/remote_start.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "remote/environment.h"
#include "sandbox/sandbox.h"

int remote_check(const struct environment *environment, const struct sandbox_policy *policy, struct error *err)
{
	if (!environment->url)
		return error_set(err, ERR_not_found,
		                 "the commands of this session run in the environment `%.*s`, which is not registered "
		                 "here; register it with environment/add of the app-server, or select another one with "
		                 "`environments`",
		                 STR_ARG(environment->id));
	if (policy && policy->mode == sandbox_mode_external_sandbox)
		return error_set(
			err, ERR_unsupported,
			"the sandbox policy externalSandbox is about this machine, and the environment `%.*s` is "
			"another",
			STR_ARG(environment->id));
	return 0;
}

/* ---- the sandbox ---- */

void remote_write_uri(struct json_writer *w, const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
	auto_buf struct buf uri;
	buf_init(&uri, 3 * strlen(path) + 16);
	buf_append_c(&uri, "file://");
	for (; *path; path++) {
		if (strchr(plain, *path))
			buf_append_char(&uri, *path);
		else
			buf_printf(&uri, "%%%02X", (unsigned char)*path);
	}
	jw_str(w, buf_str(&uri));
}

static void write_special(struct json_writer *w, const char *kind, const char *sub, const char *access)
{
	jw_object(w);
	jw_key(w, "path");
	jw_object(w);
	jw_member_cstr(w, "type", "special");
	jw_key(w, "value");
	jw_object(w);
	jw_member_cstr(w, "kind", kind);
	if (sub)
		jw_member_cstr(w, "subpath", sub);
	jw_object_end(w);
	jw_object_end(w);
	jw_member_cstr(w, "access", access);
	if (sub)
		jw_member_cstr(w, "missing_path_behavior", "skip");
	jw_object_end(w);
}

static void write_root(struct json_writer *w, const char *root)
{
	jw_object(w);
	jw_key(w, "path");
	jw_object(w);
	jw_member_cstr(w, "type", "path");
	jw_key(w, "path");
	remote_write_uri(w, root);
	jw_object_end(w);
	jw_member_cstr(w, "access", "write");
	jw_object_end(w);
}

static const char *const kept[] = {".git", ".agents", ".codex", ".aws"};

static void write_entries(struct json_writer *w, const struct sandbox_policy *policy)
{
	write_special(w, "root", NULL, "read");
	if (policy->mode != sandbox_mode_workspace_write)
		return;
	if (!policy->exclude_cwd)
		write_special(w, "project_roots", NULL, "write");
	if (!policy->exclude_slash_tmp)
		write_special(w, "slash_tmp", NULL, "write");
	if (!policy->exclude_tmpdir)
		write_special(w, "tmpdir", NULL, "write");
	for (size_t i = 0; i < policy->writable_root_count; i++)
		write_root(w, policy->writable_roots[i]);
	for (size_t i = 0; i < countof(kept) && !policy->exclude_cwd; i++)
		write_special(w, "project_roots", kept[i], "read");
}

void remote_write_sandbox(struct json_writer *w, const struct sandbox_policy *policy)
{
	if (!sandbox_is_needed(policy->mode)) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_key(w, "permissions");
	jw_object(w);
	jw_member_cstr(w, "type", "managed");
	jw_key(w, "file_system");
	jw_object(w);
	jw_member_cstr(w, "type", "restricted");
	jw_key(w, "entries");
	jw_array(w);
	write_entries(w, policy);
	jw_array_end(w);
	jw_object_end(w);
	jw_member_cstr(w, "network", policy->network_access ? "enabled" : "restricted");
	jw_object_end(w);
	jw_key(w, "cwd");
	remote_write_uri(w, policy->cwd);
	jw_key(w, "workspaceRoots");
	jw_array(w);
	remote_write_uri(w, policy->cwd);
	jw_array_end(w);
	jw_member_cstr(w, "windowsSandboxLevel", "disabled");
	jw_member_cstr(w, "windowsSandboxProxySettingsMode", "reconcile");
	jw_member_bool(w, "useLegacyLandlock", false);
	jw_object_end(w);
}

static bool is_kept(const char *root, const char *path)
{
	for (size_t i = 0; i < countof(kept); i++) {
		auto_free char *inner = path_join(root, kept[i]);
		if (path_is_inside(path, inner))
			return true;
	}
	return false;
}

bool remote_can_write(const struct sandbox_policy *policy, const char *path)
{
	bool can_write =
		path_is_inside(path, policy->cwd) || (!policy->exclude_slash_tmp && path_is_inside(path, "/tmp"));
	for (size_t i = 0; i < policy->writable_root_count; i++)
		can_write |= path_is_inside(path, policy->writable_roots[i]);
	return !sandbox_is_needed(policy->mode) ||
	       (policy->mode == sandbox_mode_workspace_write && can_write && !is_kept(policy->cwd, path));
}

/* ---- the command ---- */

static void write_env(struct json_writer *w, const char *const *env)
{
	jw_object(w);
	for (; env && *env; env++) {
		const char *end = strchr(*env, '=');
		if (!end)
			continue;
		jw_key_str(w, str_n(*env, (size_t)(end - *env)));
		jw_cstr(w, end + 1);
	}
	jw_object_end(w);
}

int remote_start_write(struct buf *out, const char *id, const struct command_run_spec *spec, struct error *err)
{
	const struct process_spec *process = &spec->process;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "processId", id);
	jw_key(&w, "argv");
	jw_array(&w);
	for (const char *const *it = process->argv; *it; it++)
		jw_cstr(&w, *it);
	jw_array_end(&w);
	jw_key(&w, "cwd");
	remote_write_uri(&w, process->cwd);
	if (spec->inherit.len)
		jw_member_raw(&w, "envPolicy", spec->inherit);
	jw_key(&w, "env");
	write_env(&w, process->env);
	jw_member_bool(&w, "tty", process->terminal != NULL);
	jw_member_bool(&w, "pipeStdin", process->stdin_open && !process->terminal);
	jw_member_raw(&w, "arg0", STR("null"));
	jw_key(&w, "sandbox");
	remote_write_sandbox(&w, spec->policy);
	jw_member_bool(&w, "enforceManagedNetwork", false);
	jw_member_raw(&w, "managedNetwork", STR("null"));
	jw_object_end(&w);
	return out->over ? error_set(err, ERR_limit, "the command has more than %zu bytes as JSON", out->max) : 0;
}

int remote_start_write_probe(struct buf *out, const struct sandbox_policy *policy, struct error *err)
{
	static const char *const nothing[] = {"/bin/sh", "-c", ":", NULL};
	struct command_run_spec probe = {.process = {.argv = nothing, .cwd = policy->cwd}, .policy = policy};
	return remote_start_write(out, "probe", &probe, err);
}

bool remote_start_has_sandbox(const struct json *result)
{
	struct str type = json_get_str(result, "sandboxType");
	return type.len && !str_is(type, "none");
}
