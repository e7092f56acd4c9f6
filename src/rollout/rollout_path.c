/* The name contains time and id, so that a session can be found by reading folders only. The time is local, because
 * people browse these folders; only the order of names depends on it. */
#include "rollout/rollout_path.h"

#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/uuid.h"

enum { TIME_LEN = 19, ID_LEN = UUID_TEXT_SIZE - 1 };

char *rollout_path(const char *home, int64_t started_at_ms, struct str thread_id)
{
	time_t seconds = (time_t)(started_at_ms / 1000);
	struct tm local;
	char folder[32] = "", stamp[32] = "";
	localtime_r(&seconds, &local);
	strftime(folder, sizeof(folder), "%Y/%m/%d", &local);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H-%M-%S", &local);
	return xasprintf("%s/sessions/%s/rollout-%s-%.*s.jsonl", home, folder, stamp, STR_ARG(thread_id));
}

/* Cuts `len` bytes off the front of *rest. */
static bool take(struct str *rest, size_t len, struct str *ret)
{
	if (rest->len < len)
		return false;
	*ret = str_n(rest->ptr, len);
	*rest = str_skip(*rest, len);
	return true;
}

static bool take_id(struct str *rest, const char *before, struct str *ret)
{
	return str_cut_prefix(rest, before) && take(rest, ID_LEN, ret) && uuid_is_valid(*ret);
}

bool rollout_path_parse(struct str file_name, struct rollout_file_name *ret)
{
	struct rollout_file_name name = {.is_compressed = str_has_suffix(file_name, ".zst")};
	if (!str_cut_prefix(&file_name, "rollout-") || !take(&file_name, TIME_LEN, &name.time) ||
	    !take_id(&file_name, "-", &name.thread_id))
		return false;
	name.rollout_id = name.thread_id;
	if (str_has_prefix(file_name, "_") && !take_id(&file_name, "_", &name.rollout_id))
		return false;
	if (!str_is(file_name, name.is_compressed ? ".jsonl.zst" : ".jsonl"))
		return false;
	*ret = name;
	return true;
}

/* Cuts the last component off *path and returns it. */
static struct str take_last(struct str *path)
{
	ptrdiff_t slash = str_rfind_char(*path, '/');
	struct str last = slash < 0 ? *path : str_skip(*path, (size_t)slash + 1);
	path->len = slash < 0 ? 0 : (size_t)slash;
	return last;
}

static bool is_digits(struct str text, size_t len)
{
	uint64_t value;
	return text.len == len && str_to_u64(text, &value);
}

char *rollout_path_home(const char *path)
{
	struct str rest = str_of(path);
	take_last(&rest);
	struct str folder = take_last(&rest);
	if (str_is(folder, "archived_sessions"))
		return str_dup(rest);
	if (is_digits(folder, 2) && is_digits(take_last(&rest), 2) && is_digits(take_last(&rest), 4) &&
	    str_is(take_last(&rest), "sessions"))
		return str_dup(rest);
	return NULL;
}
