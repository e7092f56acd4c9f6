/* The mode is checked on the open descriptor, not on the name, so that the file that is checked is the file that is
 * read. A token file that others can access is refused, not only warned about: its token allows running commands
 * here. */
#include "net/access_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

enum { TOKEN_MIN = 16 };

static int check_file(int fd, const char *path, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_sys(err, errno, "cannot read the token file %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_config, "the token file %s is not a regular file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return error_set(err, ERR_config,
		                 "other users have access to the token file %s: run chmod 600 on it first", path);
	return 0;
}

static bool is_token(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
			return false;
	}
	return text.len >= TOKEN_MIN && text.len <= LIMIT_ACCESS_TOKEN;
}

static char *take_token(struct buf *bytes, const char *path, struct error *err)
{
	struct str text = str_trim(buf_str(bytes));
	if (is_token(text))
		return str_dup(text);
	error_set(err, ERR_config,
	          "%s has no token: expected one line of %d to %d characters without whitespace, such as "
	          "`openssl rand -hex 32` prints",
	          path, TOKEN_MIN, LIMIT_ACCESS_TOKEN);
	return NULL;
}

int access_token_read_file(const char *path, struct buf *out, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_sys(err, errno, "cannot open the token file %s", path);
	int status = check_file(fd, path, err);
	return status == 0 ? fd_read_all(fd, out, path, err) : status;
}

char *access_token_read(const char *path, struct error *err)
{
	struct buf bytes;
	buf_init(&bytes, LIMIT_ACCESS_TOKEN + 16); /* blanks around the token */
	char *token = access_token_read_file(path, &bytes, err) == 0 ? take_token(&bytes, path, err) : NULL;
	if (bytes.data)
		explicit_bzero(bytes.data, bytes.len);
	buf_finish(&bytes);
	return token;
}

bool access_token_matches(const char *token, struct str shown)
{
	return str_eq_secret(str_of(token), shown);
}

void access_token_free(char *token)
{
	if (token)
		explicit_bzero(token, strlen(token));
	free(token);
}
