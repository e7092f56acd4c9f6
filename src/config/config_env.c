/* A variable that is set but empty counts as unset, because that is how people disable one for a single command.
 * Only this file of the library's configuration may call getenv. */
#include "config/config_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

const char *config_env(const char *name)
{
	const char *value = getenv(name);
	return value && value[0] ? value : NULL;
}

const char *const *config_env_all(void)
{
	return (const char *const *)environ;
}

const char *config_env_ca_file(void)
{
	const char *own = config_env("CODEX_CA_CERTIFICATE");
	return own ? own : config_env("SSL_CERT_FILE");
}

static bool is_socks_proxy(const char *variable)
{
	struct str name, value = str_of(variable);
	return str_next_part(&value, '=', &name) && name.len >= 6 &&
	       str_equal_fold(str_skip(name, name.len - 6), STR("_proxy")) &&
	       str_equal_fold(str_n(value.ptr, value.len < 5 ? value.len : 5), STR("socks"));
}

bool config_env_wants_whole_libcurl(void)
{
	const char *wanted = config_env("CODEX_LIBCURL");
	for (char **variable = environ; *variable; variable++)
		if (is_socks_proxy(*variable))
			return true;
	return wanted && strcmp(wanted, "whole") == 0;
}

static char *named_home(const char *path, struct error *err)
{
	auto_free char *real = realpath(path, NULL);
	if (!real)
		error_set(err, ERR_config,
		          "CODEX_HOME points to \"%s\", but that path does not exist; create the folder or unset "
		          "CODEX_HOME",
		          path);
	else if (!dir_exists(real))
		error_set(err, ERR_config, "CODEX_HOME points to \"%s\", but that path is not a directory", path);
	else
		return steal(real);
	return NULL;
}

char *config_env_home(struct error *err)
{
	const char *named = config_env("CODEX_HOME");
	if (named)
		return named_home(named, err);
	const char *home = config_env("HOME");
	if (home && home[0] == '/')
		return path_join(home, ".codex");
	error_set(err, ERR_config, "cannot determine the settings folder: set HOME or CODEX_HOME");
	return NULL;
}
