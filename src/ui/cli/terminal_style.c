/* NO_COLOR (no-color.org) disables colour only for "auto"; --color always overrides it. */
#include "ui/cli/terminal_style.h"

#include <string.h>
#include <unistd.h>

#include "config/config_env.h"

static const char *const sequences[] = {
	[STYLE_plain] = "\x1b[0m", [STYLE_bold] = "\x1b[1m",     [STYLE_dim] = "\x1b[2m",
	[STYLE_red] = "\x1b[31m",  [STYLE_green] = "\x1b[32m",   [STYLE_yellow] = "\x1b[33m",
	[STYLE_cyan] = "\x1b[36m", [STYLE_magenta] = "\x1b[35m",
};

bool terminal_has_color(const char *when, int fd)
{
	if (when && strcmp(when, "always") == 0)
		return true;
	if (when && strcmp(when, "never") == 0)
		return false;
	const char *no_color = config_env("NO_COLOR"), *term = config_env("TERM");
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

const char *terminal_style(bool color, enum style style)
{
	return color ? sequences[style] : "";
}
