/* exec_images.h — the files of --image. */
#ifndef UI_EXEC_IMAGES_H
#define UI_EXEC_IMAGES_H

#include "base/vec.h"
#include "protocol/record/types.h"
#include "ui/cli/cli.h"

/* Owns the paths, which are absolute. */
struct exec_images {
	struct input_local_image *items;
	size_t count;
	size_t cap;
};

/* Each value is a file, or files split by commas; relative to the process's folder, not to --cd. A file that cannot
 * be read causes a warning on stderr; the engine reports it to the model. */
void exec_images_init(struct exec_images *images, const struct cli_list *values);
void exec_images_finish(struct exec_images *images);

#endif
