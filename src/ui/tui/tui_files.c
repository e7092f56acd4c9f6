/* The worker's half (struct seeker) and the loop's half alternate: while a worker runs a slice, the loop touches only
 * the stop flag, and new letters wait for its end. */
#include "ui/tui/tui_files.h"

#include "base/mem.h"
#include "loop/loop.h"

struct seeker {
	struct tui_files *owner; /* NULL after the owner was destroyed */
	struct file_search *search;
	atomic_bool stop;
	bool is_complete;
};

struct tui_files {
	struct loop *loop;
	struct seeker *seeker;
	char *letters;
	bool is_asked; /* the letters have changed since the last slice */
	bool is_running;
	void (*on_change)(void *self);
	void *self;
};

static void seeker_destroy(struct seeker *seeker)
{
	file_search_destroy(seeker->search);
	free(seeker);
}

struct tui_files *tui_files_create(struct loop *loop, const char *folder, void (*on_change)(void *self), void *self)
{
	struct tui_files *files = xnew(struct tui_files);
	struct file_search_root root = {STR(""), folder};
	files->loop = loop;
	files->letters = xstrdup("");
	files->on_change = on_change;
	files->self = self;
	files->seeker = xnew(struct seeker);
	files->seeker->owner = files;
	files->seeker->search = file_search_create(&root, 1);
	return files;
}

void tui_files_destroy(struct tui_files *files)
{
	if (!files)
		return;
	files->seeker->owner = NULL;
	atomic_store(&files->seeker->stop, true);
	if (!files->is_running)
		seeker_destroy(files->seeker);
	free(files->letters);
	free(files);
}

static void on_work(void *self)
{
	struct seeker *seeker = self;
	seeker->is_complete = file_search_step(seeker->search, &seeker->stop);
}

static void on_slice(void *self);

static void run_on(struct tui_files *files)
{
	if (files->is_asked)
		file_search_set_query(files->seeker->search, str_of(files->letters));
	files->is_asked = false;
	files->is_running = true;
	atomic_store(&files->seeker->stop, false);
	worker_run(files->loop, on_work, on_slice, files->seeker);
}

static void on_slice(void *self)
{
	struct seeker *seeker = self;
	struct tui_files *files = seeker->owner;
	if (!files) {
		seeker_destroy(seeker);
		return;
	}
	files->is_running = false;
	if (!files->is_asked)
		files->on_change(files->self);
	if (files->is_asked || !seeker->is_complete)
		run_on(files);
}

void tui_files_ask(struct tui_files *files, struct str letters)
{
	free(files->letters);
	files->letters = str_dup(letters);
	files->is_asked = true;
	if (files->is_running)
		atomic_store(&files->seeker->stop, true);
	else
		run_on(files);
}

size_t tui_files_results(struct tui_files *files, const struct file_search_result **ret)
{
	size_t count = 0;
	if (!files->is_running)
		file_search_results(files->seeker->search, ret, &count);
	return count;
}
