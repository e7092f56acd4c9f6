/* The text is stored with a newline before its first line and one after its last, so that patch_seek can find whole
 * lines by searching for bytes, without special cases at both ends. */
#include "patch/patch_content.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"

enum { BEFORE = 1, AFTER = 1 };

/* Takes ownership of the block; its text of len bytes starts at BEFORE and has room for AFTER. */
static void lay_out(struct patch_content *content, char *block, size_t len)
{
	char *text = block + BEFORE;
	block[0] = '\n';
	text[len] = '\n';
	bool is_open = len && text[len - 1] != '\n';
	content->block = block;
	content->text = str_n(text, len);
	content->body = str_n(text, len + is_open);
	ptrdiff_t end = str_find_char(content->text, '\n');
	content->is_crlf = end > 0 && text[end - 1] == '\r';
}

void patch_content_finish(struct patch_content *content)
{
	free(content->block);
	*content = (struct patch_content){0};
}

static int fail_read(const char *path, const char *what, int sys, struct patch_error *err)
{
	int status = patch_error_sys(err, sys, "%s %s", what, path);
	if (err)
		err->cause = PATCH_CAUSE_IN_BOTH;
	return status;
}

/* Opens regular files only: reading a FIFO or a device could block. */
static int open_regular(const char *path, const char *what, struct stat *ret_st, struct patch_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, ret_st) != 0) {
		int status = fail_read(path, what, errno, err);
		if (fd >= 0)
			close(fd);
		return status;
	}
	if (S_ISREG(ret_st->st_mode))
		return fd;
	close(fd);
	return patch_error_set(err, ERR_invalid, "%s %s: path `%s` is not a file", what, path, path);
}

/* Returns the number of bytes read, fewer than len only at the end of the file; or -1 and errno. */
static ssize_t read_up_to(int fd, char *at, size_t len)
{
	size_t done = 0;
	while (done < len) {
		ssize_t got = read(fd, at + done, len - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Advises the kernel to use huge pages: one page fault instead of 512 for every 2 MB of a large file. */
static void prefer_huge_pages(char *block, size_t len)
{
	enum { HUGE_PAGE = 2 * MIB };
	uintptr_t start = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)block + len) & ~(uintptr_t)(HUGE_PAGE - 1);
	if (end > start)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

/* Reads to the end; the claimed size is only a hint. NULL and errno on failure (EFBIG: too large). */
static char *read_block(int fd, size_t claimed, size_t *ret_len)
{
	size_t room = claimed < LIMIT_PATCH_FILE ? claimed + 1 : LIMIT_PATCH_FILE + 1, len = 0;
	auto_free char *block = xmalloc(BEFORE + room + AFTER);
	prefer_huge_pages(block, room);
	for (;;) {
		ssize_t got = read_up_to(fd, block + BEFORE + len, room - len);
		if (got < 0)
			return NULL;
		len += (size_t)got;
		if (len < room)
			break;
		if (room > LIMIT_PATCH_FILE) {
			errno = EFBIG;
			return NULL;
		}
		room = room * 2 < LIMIT_PATCH_FILE ? room * 2 : LIMIT_PATCH_FILE + 1;
		block = xrealloc(block, BEFORE + room + AFTER);
	}
	*ret_len = len;
	return steal(block);
}

int patch_content_read(struct patch_content *ret, const char *path, const char *what, struct patch_error *err)
{
	struct patch_content content = {0};
	int opened = open_regular(path, what, &content.st, err);
	if (opened < 0)
		return opened;
	auto_close int fd = opened;
	size_t len;
	char *block = read_block(fd, (size_t)content.st.st_size, &len);
	if (!block && errno == EFBIG)
		return patch_error_set(err, ERR_limit, "%s %s: it is larger than %d bytes", what, path,
		                       LIMIT_PATCH_FILE);
	if (!block)
		return fail_read(path, what, errno, err);
	lay_out(&content, block, len);
	*ret = content;
	return 0;
}

void patch_content_edit(struct patch_content *ret, struct str old, const struct edits *edits)
{
	size_t len = edits_new_len(edits, old);
	char *block = xmalloc(BEFORE + len + AFTER);
	edits_apply(edits, old, block + BEFORE);
	struct patch_content content = {0};
	lay_out(&content, block, len);
	*ret = content;
}

void patch_content_copy(struct patch_content *ret, struct str text)
{
	patch_content_edit(ret, text, &(struct edits){0});
}

int patch_content_check(const struct patch_content *content, const char *path, const char *what,
                        struct patch_error *err)
{
	struct str text = content->text;
	size_t good = text_utf8_prefix(text);
	if (good == text.len)
		return 0;
	struct str bad = str_skip(text, good);
	size_t len = text_ill_formed_len(bad);
	unsigned char lead = (unsigned char)bad.ptr[0];
	if (len == bad.len && lead >= 0xc2 && lead <= 0xf4)
		return patch_error_set(err, ERR_invalid, "%s %s: incomplete utf-8 byte sequence from index %zu", what,
		                       path, good);
	return patch_error_set(err, ERR_invalid, "%s %s: invalid utf-8 sequence of %zu bytes from index %zu", what,
	                       path, len, good);
}
