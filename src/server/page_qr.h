/* page_qr.h — a link as a QR code. Owns: its modules, to be freed with page_qr_finish. Thread: any, one at a time. */
#ifndef SERVER_PAGE_QR_H
#define SERVER_PAGE_QR_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct json_writer;

struct page_qr {
	size_t width;  /* modules of a row, and rows; 0: there is no code */
	char *modules; /* width * width bytes, '1' for a dark one */
};

/* False if libqrencode is missing, or the text is too long. */
bool page_qr_make(const char *text, struct page_qr *ret);
/* Writes its rows as a list of texts of 0 and 1. */
void page_qr_write(const struct page_qr *qr, struct json_writer *w);
/* Appends its rows for a terminal; returns how many columns they need. */
size_t page_qr_draw(const struct page_qr *qr, struct buf *out);
void page_qr_finish(struct page_qr *qr);

#endif
