/* The types are a tree of rows. Its depth bounds that of the search, not the file. */
#include "config/config_shape.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_record.h"

enum {
	SHAPE_table = 1 << TOML_table,
	SHAPE_list = 1 << TOML_array,
	SHAPE_word = 1 << TOML_string,
	SHAPE_count = 1 << TOML_integer,
	SHAPE_flag = 1 << TOML_bool,
	/* codex 0.169 takes a date or a time where it reads text, but not for a word. */
	SHAPE_text = 1 << TOML_string | 1 << TOML_datetime | 1 << TOML_datetime_local | 1 << TOML_date_local |
	             1 << TOML_time_local
};

/* A row without a key holds for all members of a table or a list that no row before it names. */
struct shape {
	const char *key;
	unsigned kinds;
	const char *wanted, *words; /* words: those that a string may be; NULL: any */
	const struct shape *inside; /* of a table or a list; NULL: anything */
};

/* clang-format off */
#define TEXT(key) {key, SHAPE_text, "a string", NULL, NULL}
#define WORD(key, words) {key, SHAPE_word, "a string", words, NULL}
#define FLAG(key) {key, SHAPE_flag, "true or false", NULL, NULL}
#define TABLE(key, inside) {key, SHAPE_table, "a table", NULL, inside}
/* clang-format on */
#define END                               \
	{                                 \
		NULL, 0, NULL, NULL, NULL \
	}

static const char access_words[] = "read write deny none";
static const char rule_words[] = "allow deny";
static const struct shape texts[] = {TEXT(NULL), END};
static const struct shape flags[] = {FLAG(NULL), END};
static const struct shape rules[] = {WORD(NULL, rule_words), END};
static const struct shape entries[] = {WORD(NULL, access_words), END};
static const struct shape folders[] = {
	{"glob_scan_max_depth", SHAPE_count, "an integer", NULL, NULL},
	{NULL, SHAPE_word | SHAPE_table, "a string or a table of strings", access_words, entries},
	END};
static const struct shape mitm[] = {TABLE("hooks", NULL), TABLE("actions", NULL), END};
static const struct shape network[] = {FLAG("enabled"),
                                       FLAG("enable_socks5"),
                                       FLAG("enable_socks5_udp"),
                                       FLAG("allow_upstream_proxy"),
                                       FLAG("allow_local_binding"),
                                       FLAG("dangerously_allow_non_loopback_proxy"),
                                       FLAG("dangerously_allow_all_unix_sockets"),
                                       TEXT("proxy_url"),
                                       TEXT("socks_url"),
                                       WORD("mode", "limited full"),
                                       TABLE("domains", rules),
                                       TABLE("unix_sockets", rules),
                                       TABLE("mitm", mitm),
                                       END};
static const struct shape profile[] = {TEXT("description"),
                                       TEXT("extends"),
                                       TABLE("filesystem", folders),
                                       TABLE("network", network),
                                       {"workspace_roots", SHAPE_table, "a table of booleans", NULL, flags},
                                       END};
static const struct shape market[] = {WORD("source_type", "git local"),
                                      TEXT("source"),
                                      TEXT("ref"),
                                      TEXT("last_updated"),
                                      TEXT("last_revision"),
                                      {"sparse_paths", SHAPE_list, "a list of strings", NULL, texts},
                                      END};
static const struct shape profiles[] = {TABLE(NULL, profile), END};
static const struct shape markets[] = {TABLE(NULL, market), END};
static const struct shape preset[] = {TEXT("input"), TEXT("label"), END};
static const struct shape presets[] = {TABLE(NULL, preset), END};
static const struct shape tui[] = {TABLE("presets", presets), END};
static const struct shape root[] = {TABLE("permissions", profiles), TABLE("marketplaces", markets), TABLE("tui", tui),
                                    END};

/* The keys on the way to a value, from the last one. */
struct place {
	const struct toml *node;
	const struct place *parent;
};

static void write_keys(const struct place *place, struct buf *out)
{
	char shown[TOML_KEY_SHOWN];
	if (place->parent && place->parent->node)
		write_keys(place->parent, out);
	if (place->node->key.ptr)
		buf_printf(out, "%s%s", out->len ? "." : "", toml_key_shown(place->node->key, shown));
}

static int refuse(const struct place *place, const char *wanted, const char *got, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	auto_buf struct buf keys;
	buf_init(&keys, ERROR_TEXT_MAX);
	write_keys(place, &keys);
	return error_set(err, ERR_config, "%s: `%.*s` must be %s, not %s", config_place(place->node, where),
	                 STR_ARG(buf_str(&keys)), wanted, got);
}

static int check_word(const struct place *place, const char *words, struct error *err)
{
	char shown[TOML_KEY_SHOWN];
	struct str rest = str_of(words), word;
	while (str_next_part(&rest, ' ', &word)) {
		if (str_eq(word, place->node->text))
			return 0;
	}
	auto_free char *wanted = xasprintf("one of these words: %s", words);
	auto_free char *got = xasprintf("`%s`", toml_key_shown(place->node->text, shown));
	return refuse(place, wanted, got, err);
}

static const struct shape *find(const struct shape *shape, struct str key)
{
	while (shape->kinds && shape->key && !str_is(key, shape->key))
		shape++;
	return shape->kinds ? shape : NULL;
}

static int check_value(const struct place *place, const struct shape *shape, struct error *err)
{
	const struct toml *node = place->node;
	if (!(shape->kinds & 1U << node->kind))
		return refuse(place, shape->wanted, toml_kind_name(node->kind), err);
	if (node->kind == TOML_integer && node->integer < 0)
		return refuse(place, "an integer from 0 on", "a negative one", err);
	return node->kind == TOML_string && shape->words ? check_word(place, shape->words, err) : 0;
}

static int check(const struct toml *node, const struct shape *shapes, const struct place *parent, struct error *err)
{
	int status = 0;
	for (const struct toml *it = node->child; it && status == 0; it = it->next) {
		const struct place place = {it, parent};
		const struct shape *shape = find(shapes, it->key);
		status = shape ? check_value(&place, shape, err) : 0;
		if (status == 0 && shape && shape->inside && (it->kind == TOML_array || it->kind == TOML_table))
			status = check(it, shape->inside, &place, err);
	}
	return status;
}

int config_shape_check(const struct toml *tree, struct error *err)
{
	return check(tree, root, NULL, err);
}
