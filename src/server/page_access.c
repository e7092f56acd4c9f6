/* Wrong attempts are counted for all clients together: an address costs an attacker nothing, and a right code or token
 * passes in any case. */
#include "server/page_access.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/sha.h"
#include "base/text.h"
#include "net/access_token.h"
#include "server/server_limits.h"

struct page_code {
	char text[PAGE_CODE_SIZE]; /* empty: the place is free */
	uint64_t made_ms;
};

struct page_device {
	struct list link;
	uint8_t digest[SHA256_SIZE]; /* of the token */
	char id[17];
	char *name;
	int64_t since_ms, seen_ms; /* Unix time */
};

struct page_access {
	const char *token;
	struct page_code codes[LIMIT_PAGE_CODES];
	struct list devices;
	size_t device_count;
	struct page_device fixed;                  /* the bearer of the fixed token */
	uint64_t failures_ms[LIMIT_PAGE_ATTEMPTS]; /* a ring; 0: none */
	size_t next_failure;
};

struct page_access *page_access_create(const char *token)
{
	struct page_access *access = xnew(struct page_access);
	access->token = token;
	list_init(&access->devices);
	list_init(&access->fixed.link);
	return access;
}

static void device_destroy(struct page_device *device)
{
	list_remove(&device->link);
	free(device->name);
	free(device);
}

void page_access_destroy(struct page_access *access)
{
	struct page_device *it;
	if (!access)
		return;
	list_for_each(it, &access->devices, link)
		device_destroy(it);
	free(access);
}

static void make_hex(char *ret, size_t digits)
{
	uint8_t bytes[PAGE_TOKEN_SIZE / 2];
	host_random(bytes, digits / 2);
	for (size_t i = 0; i < digits / 2; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- codes ---- */

static bool is_open(const struct page_code *code)
{
	return code->text[0] && clock_now_ms() - code->made_ms < LIMIT_PAGE_CODE_MS;
}

void page_access_make_code(struct page_access *access, char ret[PAGE_CODE_SIZE])
{
	struct page_code *place = &access->codes[0];
	for (size_t i = 0; i < LIMIT_PAGE_CODES; i++) {
		struct page_code *it = &access->codes[i];
		if (!is_open(it))
			*it = (struct page_code){0};
		if (it->made_ms < place->made_ms)
			place = it;
	}
	make_hex(place->text, PAGE_CODE_SIZE - 1);
	place->made_ms = clock_now_ms();
	memcpy(ret, place->text, PAGE_CODE_SIZE);
}

static bool spend(struct page_access *access, struct str shown)
{
	bool is_good = false;
	if (access->token && access_token_matches(access->token, shown))
		return true;
	for (size_t i = 0; i < LIMIT_PAGE_CODES; i++) {
		struct page_code *it = &access->codes[i];
		if (!is_open(it) || !str_eq_secret(str_of(it->text), shown))
			continue;
		*it = (struct page_code){0};
		is_good = true;
	}
	return is_good;
}

/* ---- devices ---- */

static char *make_name(struct str shown)
{
	auto_buf struct buf line;
	struct str name = str_trim(shown);
	buf_init(&line, KIB);
	name.len = name.len < LIMIT_PAGE_NAME ? name.len : text_utf8_prefix(str_n(name.ptr, LIMIT_PAGE_NAME));
	text_append_line(&line, name);
	return str_dup(line.len ? buf_str(&line) : STR("unnamed device"));
}

static struct page_device *find_idlest(const struct page_access *access)
{
	struct page_device *it, *idlest = NULL;
	list_for_each(it, &access->devices, link) {
		if (!idlest || it->seen_ms < idlest->seen_ms)
			idlest = it;
	}
	return idlest;
}

struct page_device *page_access_sign_in(struct page_access *access, struct str code, struct str name,
                                        char ret[PAGE_TOKEN_SIZE], struct page_device **ret_evicted)
{
	if (!spend(access, code))
		return NULL;
	*ret_evicted = access->device_count < LIMIT_PAGE_DEVICES ? NULL : find_idlest(access);
	struct page_device *device = xnew(struct page_device);
	make_hex(ret, PAGE_TOKEN_SIZE - 1);
	make_hex(device->id, sizeof(device->id) - 1);
	sha256(str_n(ret, PAGE_TOKEN_SIZE - 1), device->digest);
	device->name = make_name(name);
	device->since_ms = device->seen_ms = clock_unix_ms();
	list_append(&access->devices, &device->link);
	access->device_count++;
	return device;
}

struct page_device *page_access_find(struct page_access *access, struct str token)
{
	uint8_t digest[SHA256_SIZE];
	struct page_device *it;
	if (access->token && access_token_matches(access->token, token))
		return &access->fixed;
	sha256(token, digest);
	list_for_each(it, &access->devices, link) {
		if (memcmp(digest, it->digest, sizeof(digest)) == 0)
			return it;
	}
	return NULL;
}

struct page_device *page_access_find_id(struct page_access *access, struct str id)
{
	struct page_device *it;
	list_for_each(it, &access->devices, link) {
		if (str_is(id, it->id))
			return it;
	}
	return NULL;
}

void page_access_seen(struct page_device *device)
{
	device->seen_ms = clock_unix_ms();
}

void page_access_sign_out(struct page_access *access, struct page_device *device)
{
	if (device == &access->fixed)
		return;
	access->device_count--;
	device_destroy(device);
}

const char *page_device_id(const struct page_device *device)
{
	return device->id;
}

const char *page_device_name(const struct page_device *device)
{
	return device->name;
}

void page_access_write(const struct page_access *access, const struct page_device *current, struct json_writer *w)
{
	struct page_device *it;
	jw_array(w);
	list_for_each(it, &access->devices, link) {
		jw_object(w);
		jw_member_cstr(w, "id", it->id);
		jw_member_cstr(w, "name", it->name);
		jw_member_i64(w, "since", it->since_ms / 1000);
		jw_member_i64(w, "last_seen", it->seen_ms / 1000);
		jw_member_bool(w, "current", it == current);
		jw_object_end(w);
	}
	jw_array_end(w);
}

/* ---- wrong attempts ---- */

unsigned page_access_fail(struct page_access *access)
{
	uint64_t now_ms = clock_now_ms(), *oldest = &access->failures_ms[access->next_failure];
	uint64_t since_ms = now_ms - *oldest;
	bool is_limited = *oldest && since_ms < LIMIT_PAGE_ATTEMPTS_MS;
	if (is_limited)
		return (unsigned)((LIMIT_PAGE_ATTEMPTS_MS - since_ms) / 1000 + 1);
	*oldest = now_ms;
	access->next_failure = (access->next_failure + 1) % LIMIT_PAGE_ATTEMPTS;
	return 0;
}
