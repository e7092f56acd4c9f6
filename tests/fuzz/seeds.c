/* Runs a fuzz target over the files of its corpus, and then for a while over inputs made of them, without libFuzzer: so
 * that every compiler runs every target with each test run, and not only clang. Prints TAP.
 *
 * An input that breaks the target is left beside the program, as <program>.finding. CODEX_FUZZ_SEED makes the same
 * inputs again. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "fuzz.h"

enum { SEED_MAX = 16 * 1024 * 1024, INPUT_MAX = 64 * 1024, CHANGES_MAX = 8, PIECE_MAX = 64 };

static VEC(struct buf) seeds;
static uint64_t chance;
static const uint8_t *running; /* what the target has now */
static size_t running_size;
static char finding[4096];

/* ---- what is left of a failure ---- */

static void keep_running(void)
{
	int fd = running ? open(finding, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	if (fd < 0)
		return;
	ssize_t written = write(fd, running, running_size);
	dprintf(STDERR_FILENO, "the input (%zd bytes) is in %s\n", written, finding);
	close(fd);
	running = NULL;
}

static void on_abort(int signal_number)
{
	signal(signal_number, SIG_DFL);
	keep_running();
}

/* Of the sanitizers' run time, where there is one. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void prepare_for_failure(const char *program)
{
	snprintf(finding, sizeof(finding), "%s.finding", program);
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep_running);
}

/* An exact copy: a read past its end is a read past a heap block. */
static void run(const char *bytes, size_t size)
{
	uint8_t *copy = xmalloc(size ? size : 1);
	memcpy(copy, size ? bytes : "", size);
	running = copy;
	running_size = size;
	LLVMFuzzerTestOneInput(copy, size);
	running = NULL;
	free(copy);
}

/* ---- inputs made of seeds ---- */

static size_t pick(size_t count)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return count ? (size_t)(chance >> 33) % count : 0;
}

static void insert(char *bytes, size_t *size, size_t at, const char *piece, size_t len)
{
	if (*size + len > INPUT_MAX)
		return;
	memmove(bytes + at + len, bytes + at, *size - at);
	memcpy(bytes + at, piece, len);
	*size += len;
}

static void insert_other(char *bytes, size_t *size, size_t at)
{
	const struct buf *other = &seeds.items[pick(seeds.count)];
	size_t from = pick(other->len), len = 1 + pick(PIECE_MAX);
	if (other->len)
		insert(bytes, size, at, other->data + from, len < other->len - from ? len : other->len - from);
}

static void cut(char *bytes, size_t *size, size_t at)
{
	size_t len = 1 + pick(PIECE_MAX);
	if (len > *size - at)
		len = *size - at;
	memmove(bytes + at, bytes + at + len, *size - at - len);
	*size -= len;
}

static void change(char *bytes, size_t *size)
{
	static const char telling[] = "\0\n\r\t \"'\\{}[]:,;/<>=0-9\x7f\x80\xff";
	size_t at = pick(*size), kind = pick(5);
	char any = (char)pick(256);
	if (kind == 0 && *size)
		bytes[at] ^= (char)(1 << pick(8));
	else if (kind == 1 && *size)
		bytes[at] = telling[pick(sizeof(telling))];
	else if (kind == 2)
		insert(bytes, size, at, &any, 1);
	else if (kind == 3)
		insert_other(bytes, size, at);
	else
		cut(bytes, size, at);
}

static void run_changed(void)
{
	static char bytes[INPUT_MAX];
	const struct buf *seed = &seeds.items[pick(seeds.count)];
	size_t size = seed->len < INPUT_MAX ? seed->len : INPUT_MAX;
	memcpy(bytes, size ? seed->data : "", size);
	for (size_t left = 1 + pick(CHANGES_MAX); left; left--)
		change(bytes, &size);
	run(bytes, size);
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void run_many(int64_t duration_ms)
{
	const char *given = getenv("CODEX_FUZZ_SEED");
	size_t count = 0;
	int64_t end = now_ms() + duration_ms;
	chance = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
	printf("# CODEX_FUZZ_SEED=%llu\n", (unsigned long long)chance);
	fflush(stdout);
	for (; now_ms() < end; count++)
		run_changed();
	printf("# %zu inputs\n", count);
}

/* ---- the corpus ---- */

static void read_seed(const char *path)
{
	struct error err = {0};
	struct buf bytes;
	buf_init(&bytes, SEED_MAX);
	if (file_read(path, &bytes, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	vec_push(&seeds, bytes);
	run(bytes.data, bytes.len);
}

static void forget_seeds(void)
{
	vec_for_each(seed, &seeds)
		buf_finish(seed);
	vec_finish(&seeds);
}

int main(int argc, char **argv)
{
	DIR *folder = argc >= 2 ? opendir(argv[1]) : NULL;
	if (!folder) {
		fprintf(stderr, "usage: %s FOLDER [MILLISECONDS]\n", argv[0]);
		return 2;
	}
	int count = 0;
	prepare_for_failure(argv[0]);
	for (struct dirent *entry; (entry = readdir(folder));) {
		char path[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		read_seed(path);
		printf("ok %d - %s\n", ++count, entry->d_name);
		fflush(stdout);
	}
	closedir(folder);
	if (argc > 2 && count) {
		run_many(atoll(argv[2]));
		printf("ok %d - inputs made of them\n", ++count);
	}
	forget_seeds();
	printf("1..%d\n", count);
	return count ? 0 : 1;
}
