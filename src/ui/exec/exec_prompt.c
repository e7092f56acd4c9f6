/* Standard input is read to its end before the loop starts, because nothing can happen without a prompt. PowerShell
 * pipes UTF-16, so a byte order mark selects the encoding. */
#include "ui/exec/exec_prompt.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"

static void append_char(struct buf *out, uint32_t point)
{
	char bytes[4];
	buf_append(out, bytes, text_put_utf8(bytes, point));
}

static int append_utf16(struct buf *out, struct str bytes, bool big_endian, struct error *err)
{
	const unsigned char *p = (const unsigned char *)bytes.ptr;
	uint32_t high = 0;
	for (size_t i = 0; i + 1 < bytes.len; i += 2) {
		uint32_t unit = big_endian ? (uint32_t)p[i] << 8 | p[i + 1] : (uint32_t)p[i + 1] << 8 | p[i];
		bool is_low = unit >= 0xdc00 && unit < 0xe000;
		if (is_low != (high != 0))
			return error_set(err, ERR_invalid, "the prompt on stdin is not valid UTF-16");
		if (unit >= 0xd800 && unit < 0xdc00) {
			high = unit;
			continue;
		}
		append_char(out, is_low ? 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00) : unit);
		high = 0;
	}
	return high || bytes.len % 2
	               ? error_set(err, ERR_invalid, "the prompt on stdin is cut off in a UTF-16 character")
	               : 0;
}

static int append_decoded(struct buf *out, struct str bytes, struct error *err)
{
	if (bytes.len >= 4 && (memcmp(bytes.ptr, "\xff\xfe\0\0", 4) == 0 || memcmp(bytes.ptr, "\0\0\xfe\xff", 4) == 0))
		return error_set(err, ERR_invalid,
		                 "the prompt on stdin is UTF-32; convert it to UTF-8, for example with iconv");
	if (str_cut_prefix(&bytes, "\xff\xfe"))
		return append_utf16(out, bytes, false, err);
	if (str_cut_prefix(&bytes, "\xfe\xff"))
		return append_utf16(out, bytes, true, err);
	str_cut_prefix(&bytes, "\xef\xbb\xbf");
	if (!text_is_utf8(bytes))
		return error_set(err, ERR_invalid,
		                 "the prompt on stdin is not UTF-8; convert it, for example with iconv");
	buf_append_str(out, bytes);
	return 0;
}

static int read_stdin(struct buf *out, struct error *err)
{
	auto_buf struct buf raw;
	buf_init(&raw, LIMIT_PROMPT);
	int status = fd_read_all(STDIN_FILENO, &raw, "the prompt on stdin", err);
	return status == 0 ? append_decoded(out, buf_str(&raw), err) : status;
}

/* True for a pipe or file with content; an inherited, silent stdin must not delay the run. */
static bool stdin_has_more(void)
{
	struct stat st;
	if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st) != 0)
		return false;
	return S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode);
}

static int append_stdin_block(struct buf *out, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT * 2);
	fputs("Reading additional input from stdin...\n", stderr);
	int status = read_stdin(&text, err);
	if (status == 0 && str_trim(buf_str(&text)).len) {
		buf_append_c(out, "\n\n<stdin>\n");
		buf_append_str(out, buf_str(&text));
		buf_append_c(out, str_has_suffix(buf_str(&text), "\n") ? "</stdin>" : "\n</stdin>");
	}
	return status;
}

static int take_words(const char *argument, struct buf *out, struct error *err)
{
	struct str text = str_of(argument);
	if (!text_is_utf8(text))
		return error_set(err, ERR_invalid, "the prompt is not UTF-8; convert it, for example with iconv");
	buf_append_str(out, text);
	return 0;
}

static int check_words(const struct buf *out, struct error *err)
{
	return str_trim(buf_str(out)).len ? 0
	                                  : error_set(err, ERR_invalid, "No prompt provided: the argument is empty.");
}

static int take_argument(const char *argument, struct buf *out, struct error *err)
{
	int status = take_words(argument, out, err);
	if (status == 0 && stdin_has_more())
		status = append_stdin_block(out, err);
	return status == 0 ? check_words(out, err) : status;
}

static int take_stdin(struct buf *out, struct error *err)
{
	int status = read_stdin(out, err);
	if (status == 0 && !str_trim(buf_str(out)).len)
		return error_set(err, ERR_invalid, "No prompt provided via stdin.");
	return status;
}

int exec_prompt_read(const char *argument, struct buf *out, struct error *err)
{
	bool is_dash = argument && strcmp(argument, "-") == 0;
	if (!argument && isatty(STDIN_FILENO))
		return error_set(
			err, ERR_invalid,
			"No prompt provided. Either specify one as an argument or pipe the prompt into stdin.");
	if (!argument)
		fputs("Reading prompt from stdin...\n", stderr);
	int status = argument && !is_dash ? take_argument(argument, out, err) : take_stdin(out, err);
	if (status == 0 && out->over)
		return error_set(err, ERR_limit, "the prompt is larger than %zu MiB", out->max / MIB);
	return status;
}

int exec_prompt_read_alone(const char *argument, struct buf *out, struct error *err)
{
	if (strcmp(argument, "-") == 0)
		return exec_prompt_read(argument, out, err);
	return take_words(argument, out, err) == 0 ? check_words(out, err) : -(int)err->code;
}

/* getline has no maximum, but a terminal's line has one (4 KiB), and a longer prompt than permitted is refused. */
int exec_prompt_ask(struct buf *out, struct error *err)
{
	char part[4 * KIB];
	fputs("Prompt: ", stderr);
	while (fgets(part, sizeof(part), stdin)) {
		buf_append_c(out, part);
		if (strchr(part, '\n'))
			break;
	}
	buf_truncate(out, str_trim_end(buf_str(out)).len);
	if (!text_is_utf8(buf_str(out)))
		return error_set(err, ERR_invalid, "the prompt is not UTF-8");
	return check_words(out, err);
}

int exec_prompt_check(const struct buf *prompt, struct error *err)
{
	size_t count = text_char_count(buf_str(prompt));
	if (count <= LIMIT_INPUT_CHARS)
		return 0;
	return error_set(err, ERR_limit,
	                 "Input exceeds the maximum length of %d characters: the prompt has %zu (input_too_large).\n"
	                 "Put the text into a file of the working folder and name that file in the prompt.",
	                 LIMIT_INPUT_CHARS, count);
}

/* ---- unread input ---- */

static bool stdin_is_pipe(void)
{
	struct stat st;
	return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* Waits for input; false if none arrives before until_ms or within the permitted silence. */
static bool stdin_wait(uint64_t until_ms)
{
	struct pollfd poll_fd = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t now_ms = clock_now_ms();
	if (now_ms >= until_ms)
		return false;
	uint64_t left_ms = until_ms - now_ms;
	int wait_ms = left_ms < LIMIT_DRAIN_SILENCE_MS ? (int)left_ms : LIMIT_DRAIN_SILENCE_MS;
	return poll(&poll_fd, 1, wait_ms) > 0;
}

void exec_prompt_drain(void)
{
	char dropped[64 * KIB];
	size_t total = 0;
	if (!stdin_is_pipe())
		return;
	uint64_t until_ms = clock_now_ms() + LIMIT_DRAIN_MS;
	while (total < LIMIT_DRAIN && stdin_wait(until_ms)) {
		ssize_t got = read(STDIN_FILENO, dropped, sizeof(dropped));
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return;
		total += got > 0 ? (size_t)got : 0;
	}
}

/* ---- images ---- */

/* Returns an absolute form of path that does not depend on the working folder. */
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
		if (file_exists(values->items[i])) { /* a name may contain a comma */
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
