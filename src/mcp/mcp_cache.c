/* A file is one object: the members of the server's answer to initialize, and `tools` as in its answers to tools/list.
 */
#define LOG_MODULE "mcp"
#include "mcp/mcp_cache.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha.h"
#include "loop/loop.h"
#include "mcp/mcp_catalog.h"

enum { MAX_AGE_S = 24 * 60 * 60 };

#define CACHE_FOLDER "cache/mcp"

struct write_job {
	char *folder, *path;
	struct buf bytes;
};

/* The settings contain secrets, which the hash hides. */
static char *entry_path(const char *home, struct str key)
{
	char name[SHA256_TEXT_SIZE];
	sha256_text(key, name);
	return xasprintf("%s/" CACHE_FOLDER "/%s.json", home, name);
}

static bool is_recent(const struct stat *entry)
{
	time_t now = time(NULL);
	return entry->st_mtime <= now && now - entry->st_mtime < MAX_AGE_S;
}

/* ---- reading ---- */

static struct mcp_catalog *catalog_parse(struct str bytes, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, bytes, err);
	struct mcp_catalog *catalog = json ? mcp_catalog_create(json, err) : NULL;
	if (catalog && catalog->has_tools && mcp_catalog_add_page(catalog, json, err) != 0) {
		mcp_catalog_unref(catalog);
		return NULL;
	}
	return catalog;
}

struct mcp_catalog *mcp_cache_read(const char *home, struct str key)
{
	struct stat entry;
	struct error err;
	struct mcp_catalog *catalog = NULL;
	auto_buf struct buf bytes;
	char *path = entry_path(home, key);
	buf_init(&bytes, LIMIT_MCP_OFFER);
	if (stat(path, &entry) == 0 && is_recent(&entry)) {
		if (file_read_regular(path, &bytes, &err) == 0)
			catalog = catalog_parse(buf_str(&bytes), &err);
		if (!catalog)
			log_debug("%s is not used: %s", path, err.text);
	}
	free(path);
	return catalog;
}

/* ---- writing ---- */

static void remove_old(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *it;
	struct stat entry;
	while (dir && (it = readdir(dir))) {
		if (fstatat(dirfd(dir), it->d_name, &entry, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(entry.st_mode) &&
		    !is_recent(&entry))
			unlinkat(dirfd(dir), it->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

static void run_write(void *self)
{
	struct error err;
	const struct write_job *job = self;
	if (dir_make(job->folder, 0700, &err) != 0 ||
	    file_write_atomic(job->path, buf_str(&job->bytes), 0600, false, &err) != 0)
		log_debug("the tools of an MCP server are not kept: %s", err.text);
	else
		remove_old(job->folder);
}

static void job_destroy(void *self)
{
	struct write_job *job = self;
	buf_finish(&job->bytes);
	free(job->folder);
	free(job->path);
	free(job);
}

static void catalog_write(const struct mcp_catalog *catalog, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "protocolVersion", catalog->version);
	jw_member_raw(&w, "capabilities", catalog->capabilities);
	if (catalog->info.len)
		jw_member_raw(&w, "serverInfo", catalog->info);
	if (catalog->instructions.len)
		jw_member_str(&w, "instructions", catalog->instructions);
	jw_key(&w, "tools");
	jw_array(&w);
	vec_for_each(it, &catalog->tools)
		jw_raw(&w, it->json);
	jw_array_end(&w);
	jw_object_end(&w);
}

void mcp_cache_write(struct loop *loop, const char *home, struct str key, const struct mcp_catalog *catalog)
{
	struct write_job *job = xnew(struct write_job);
	buf_init(&job->bytes, LIMIT_MCP_OFFER);
	job->folder = path_join(home, CACHE_FOLDER);
	job->path = entry_path(home, key);
	catalog_write(catalog, &job->bytes);
	if (job->bytes.over || catalog->omitted)
		job_destroy(job);
	else
		worker_run(loop, run_write, job_destroy, job);
}
