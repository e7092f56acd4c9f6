/* Runs a fuzz target over the files of its corpus, without libFuzzer: so that every compiler runs the seeds with
 * each test run, and not only clang. Prints TAP. */
#include <dirent.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "fuzz.h"

static void run_seed(const char *path)
{
	struct error err = {0};
	struct buf bytes;
	buf_init(&bytes, 16 * 1024 * 1024);
	if (file_read(path, &bytes, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	/* An exact copy: a read past its end is a read past a heap block. */
	size_t size = bytes.len;
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	memcpy(copy, size ? bytes.data : "", size);
	buf_finish(&bytes);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	if (!folder) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	int count = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		char path[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		run_seed(path);
		printf("ok %d - %s\n", ++count, entry->d_name);
		fflush(stdout);
	}
	closedir(folder);
	printf("1..%d\n", count);
	return count ? 0 : 1;
}
