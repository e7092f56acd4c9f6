/* A linked library is loaded at every start, even for --version and for each sandbox helper (libcurl and its
 * dependencies: 4 ms, 8 MB). dlopen at first use avoids that, and lets the program run where the library is missing. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

static int bind(struct library *library, void *handle)
{
	for (size_t i = 0; i < library->count; i++) {
		void *function = dlsym(handle, library->names[i]);
		if (!function)
			return error_set(&library->failure, ERR_unsupported,
			                 "%s, is too old here (it lacks %s): upgrade %s", library->purpose,
			                 library->names[i], library->package);
		memcpy((char *)library->functions + i * sizeof(function), &function, sizeof(function));
	}
	return 0;
}

static void load(struct library *library)
{
	void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		error_set(&library->failure, ERR_unsupported, "%s, cannot be loaded: install %s (%s)", library->purpose,
		          library->package, dlerror());
		return;
	}
	if (bind(library, handle) == 0 && library->on_loaded)
		library->on_loaded(&library->failure);
}

int library_load(struct library *library, struct error *err)
{
	pthread_mutex_lock(&library->mutex);
	if (!library->is_tried)
		load(library);
	library->is_tried = true;
	pthread_mutex_unlock(&library->mutex);
	if (library->failure.code == ERR_none)
		return 0;
	if (err)
		*err = library->failure;
	return -(int)library->failure.code;
}
