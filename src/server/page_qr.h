/* page_qr.h — a link as a QR code. Owns: its modules, to be freed with page_qr_finish. Thread: any, one at a time. */
#ifndef SERVER_PAGE_QR_H
#define SERVER_PAGE_QR_H

#include <stdbool.h>
#include <stddef.h>

struct page_qr {
	size_t width;  /* modules of a row, and rows; 0: there is no code */
	char *modules; /* width * width bytes, '1' for a dark one */
};

/* False if libqrencode is missing, or the text is too long. */
bool page_qr_make(const char *text, struct page_qr *ret);
void page_qr_finish(struct page_qr *qr);

#endif
