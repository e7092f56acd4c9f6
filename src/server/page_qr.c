/* libqrencode's interface has been the same since version 3, so its header is not needed to build this. The lowest
 * level of error correction makes the smallest code, and a screen has no dirt. */
#include "server/page_qr.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/library.h"
#include "base/mem.h"

struct qr_code {
	int version, width;
	unsigned char *data; /* the lowest bit is set for a dark module */
};

/* Arguments: a text, version 0 (the smallest), level of correction, 8-bit text, upper and lower case. */
enum { SMALLEST = 0, LEVEL_L = 0, MODE_8 = 2, KEEP_CASE = 1 };

enum { MARGIN = 2 }; /* light modules on each side */

static struct {
	struct qr_code *(*encode)(const char *text, int version, int level, int mode, int keeps_case);
	void (*destroy)(struct qr_code *code);
} qrencode;

static const char *const names[] = {"QRcode_encodeString", "QRcode_free"};

LIBRARY(libqrencode, qrencode, names, LIBRARY_ROW(libqrencode), .purpose = "libqrencode, which makes QR codes");

bool page_qr_make(const char *text, struct page_qr *ret)
{
	*ret = (struct page_qr){0};
	if (library_load(&libqrencode, NULL) != 0)
		return false;
	struct qr_code *code = qrencode.encode(text, SMALLEST, LEVEL_L, MODE_8, KEEP_CASE);
	if (!code)
		return false;
	ret->width = (size_t)code->width;
	ret->modules = xmalloc(ret->width * ret->width);
	for (size_t i = 0; i < ret->width * ret->width; i++)
		ret->modules[i] = code->data[i] & 1 ? '1' : '0';
	qrencode.destroy(code);
	return true;
}

/* ---- shown ---- */

void page_qr_write(const struct page_qr *qr, struct json_writer *w)
{
	jw_array(w);
	for (size_t y = 0; y < qr->width; y++)
		jw_str(w, str_n(qr->modules + y * qr->width, qr->width));
	jw_array_end(w);
}

static bool is_dark(const struct page_qr *qr, size_t x, size_t y)
{
	return x >= MARGIN && y >= MARGIN && x < qr->width + MARGIN && y < qr->width + MARGIN &&
	       qr->modules[(y - MARGIN) * qr->width + x - MARGIN] == '1';
}

/* A row of text has twice the height of a column. Two rows of modules make a row of half blocks, black on white in
 * terminals of any colour. */
size_t page_qr_draw(const struct page_qr *qr, struct buf *out)
{
	static const char *const halves[] = {" ", "\xe2\x96\x84", "\xe2\x96\x80", "\xe2\x96\x88"};
	size_t size = qr->width + 2 * MARGIN;
	for (size_t y = 0; y < size; y += 2) {
		buf_append_c(out, "\x1b[30;107m");
		for (size_t x = 0; x < size; x++)
			buf_append_c(out, halves[2 * is_dark(qr, x, y) + is_dark(qr, x, y + 1)]);
		buf_append_c(out, "\x1b[0m\n");
	}
	return size;
}

void page_qr_finish(struct page_qr *qr)
{
	free(qr->modules);
	*qr = (struct page_qr){0};
}
