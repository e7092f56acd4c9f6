/* A line is "hosts: files mdns4_minimal [NOTFOUND=return] dns": a data base, and the modules that are asked for it in
 * turn, with conditions in brackets between them. A word that this file does not know counts as an unknown module.
 *
 * Unknown are, among others: wins and winbind, linked to Samba, which uses LDAP and Kerberos; ldap, of which one of two
 * modules is linked to LDAP; nis and compat, which use libtirpc and so Kerberos. */
#include "base/nsswitch.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

/* The data bases that this program reads. */
static const char bases[] = " hosts passwd group initgroups services ";

/* Linked to the C library and small libraries alone: the modules of the C library itself, of systemd, of nss-mdns, and
 * that of SSSD, which asks a service. */
static const char plain[] = " files"
			    " dns"
			    " db"
			    " systemd"
			    " mymachines"
			    " myhostname"
			    " resolve"
			    " mdns mdns4 mdns6"
			    " mdns_minimal mdns4_minimal mdns6_minimal"
			    " sss ";

static bool is_one_of(const char *list, struct str word)
{
	char text[32]; /* longer than any word of a list */
	if (word.len == 0 || word.len > sizeof(text) - 3 || str_has_nul(word))
		return false;
	text[0] = text[word.len + 1] = ' ';
	memcpy(text + 1, word.ptr, word.len);
	text[word.len + 2] = '\0';
	return strstr(list, text);
}

/* Skips the bytes at the beginning that are, or are not, in the set, and returns them. */
static struct str skip_while(struct str *text, const char *set, bool is_in)
{
	size_t len = 0;
	while (len < text->len && (text->ptr[len] && strchr(set, text->ptr[len])) == is_in)
		len++;
	struct str skipped = str_n(text->ptr, len);
	*text = str_skip(*text, len);
	return skipped;
}

/* Words end where the C library ends them: it does not need the colon, nor blanks around a condition. */
static bool is_plain_line(struct str line)
{
	skip_while(&line, " \t", true);
	struct str base = skip_while(&line, " \t:", false);
	skip_while(&line, " \t:", true);
	while (is_one_of(bases, base) && line.len > 0) {
		if (line.ptr[0] == '[')
			skip_while(&line, "]", false);
		else if (!is_one_of(plain, skip_while(&line, " \t[", false)))
			return false;
		skip_while(&line, " \t\r]", true);
	}
	return true;
}

static bool is_plain_text(struct str text)
{
	struct str line;
	while (str_next_line(&text, &line))
		if (!is_plain_line(line))
			return false;
	return true;
}

bool nsswitch_is_plain(const char *path)
{
	auto_buf struct buf content;
	struct error ignored;
	buf_init(&content, LIMIT_NSSWITCH);
	if (!file_exists(path))
		return true;
	if (file_read_regular(path, &content, &ignored) != 0)
		return false;
	return is_plain_text(buf_str(&content));
}
