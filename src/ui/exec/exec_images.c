/* The engine reports a missing file to the model, which may answer that it sees no image. The warning here tells the
 * user why. */
#include "ui/exec/exec_images.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* As path is, but not depending on where we are. */
static char *make_absolute(const char *path)
{
	auto_free char *cwd = getcwd(NULL, 0);
	return cwd ? path_join(cwd, path) : xstrdup(path);
}

static void add(struct exec_images *images, struct str name)
{
	auto_free char *path = str_dup(name);
	char *full = make_absolute(path);
	if (access(full, R_OK) != 0)
		fprintf(stderr, "warning: --image %s: %s\n", path, strerror(errno));
	else if (!file_is_regular(full))
		fprintf(stderr, "warning: --image %s: not a file\n", path);
	vec_push(images, (struct input_local_image){.path = str_of(full)});
}

void exec_images_init(struct exec_images *images, const struct cli_list *values)
{
	*images = (struct exec_images){0};
	for (size_t i = 0; i < values->count; i++) {
		struct str rest = str_of(values->items[i]), name;
		if (file_exists(values->items[i])) { /* a name may hold a comma */
			add(images, rest);
			continue;
		}
		while (str_next_part(&rest, ',', &name))
			add(images, name);
	}
}

void exec_images_finish(struct exec_images *images)
{
	vec_for_each(image, images)
		str_free(&image->path);
	vec_finish(images);
}
