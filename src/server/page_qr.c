/* libqrencode's interface has been the same since version 3, so its header is not needed to build this. */
#include "server/page_qr.h"

#include "base/library.h"
#include "base/mem.h"

struct qr_code {
	int version, width;
	unsigned char *data; /* the lowest bit is set for a dark module */
};

/* Arguments: a text, version 0 (the smallest), level of correction, 8-bit text, upper and lower case. */
enum { SMALLEST = 0, LEVEL_L = 0, MODE_8 = 2, KEEP_CASE = 1 };

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

void page_qr_finish(struct page_qr *qr)
{
	free(qr->modules);
	*qr = (struct page_qr){0};
}
