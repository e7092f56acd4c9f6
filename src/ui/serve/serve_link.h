/* serve_link.h — the links of codex serve: printed at the start, and again for each line of standard input.
 *
 * Owns: the watch of standard input, and the file that a browser opens, until its link ends. Loop thread only. */
#ifndef UI_SERVE_LINK_H
#define UI_SERVE_LINK_H

struct http_proto;
struct loop;
struct serve_links;

/* Prints a new link on standard output, and as a QR code if standard error is a terminal. */
struct serve_links *serve_links_create(struct loop *loop, struct http_proto *proto);
/* Opens the page in a browser, with a link of its own. */
void serve_links_open(struct serve_links *links);
void serve_links_destroy(struct serve_links *links); /* NULL is fine */

#endif
