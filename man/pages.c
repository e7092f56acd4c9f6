/* codex-pages — prints a manual page: codex-pages PAGE [SECTIONS], where SECTIONS is a file with further sections. PAGE
 * is also "sbom", the bill of materials, and "third-party", the list of licences.
 *
 * It is used by the build and not installed: the text that only the pages need is not in the program. */
#include "pages.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "main/command.h"

static int write_page(struct buf *out, const char *page, struct str sections)
{
	const struct cli_command *command = command_page_find(&codex_command, page);
	if (strcmp(page, "codex-config") == 0)
		config_page_write(out, sections);
	else if (strcmp(page, "sbom") == 0)
		sbom_page_write(out);
	else if (strcmp(page, "third-party") == 0)
		licences_page_write(out);
	else if (command)
		command_page_write(out, command, sections);
	return out->len && !out->over ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct error err;
	auto_buf struct buf page, sections;
	buf_init(&page, MIB);
	buf_init(&sections, MIB);
	if (argc < 2 || argc > 3) {
		fputs("usage: codex-pages PAGE [SECTIONS]\n", stderr);
		return 2;
	}
	if (argc > 2 && file_read(argv[2], &sections, &err) != 0) {
		fprintf(stderr, "codex-pages: %s\n", err.text);
		return 1;
	}
	if (write_page(&page, argv[1], buf_str(&sections)) != 0) {
		fprintf(stderr, "codex-pages: %s: no command has this page\n", argv[1]);
		return 1;
	}
	return fd_write_all(STDOUT_FILENO, page.data, page.len, NULL) == 0 ? 0 : 1;
}
