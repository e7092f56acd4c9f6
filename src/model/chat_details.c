/* Signatures and encrypted data are opaque, so values are kept as the JSON text in which they came. */
#include "model/chat_details.h"

#include "base/limits.h"
#include "base/mem.h"

struct chat_member {
	struct str key;
	struct buf text; /* of an appended member */
	struct str json; /* of any other; owned */
	bool is_text;
};

struct chat_detail {
	struct str index, type; /* owned */
	VEC(struct chat_member) members;
};

static bool is_appended(struct str key)
{
	return str_is(key, "text") || str_is(key, "summary");
}

static struct str index_of(const struct json *fragment)
{
	const struct json *index = json_get(fragment, "index");
	return index ? index->span : STR("");
}

static struct chat_detail *find_detail(const struct chat_details *details, struct str index, struct str type)
{
	vec_for_each(it, &details->list) {
		if (str_eq((*it)->index, index) && str_eq((*it)->type, type))
			return *it;
	}
	return NULL;
}

static struct chat_member *find_member(struct chat_detail *detail, struct str key)
{
	vec_for_each(it, &detail->members) {
		if (str_eq(it->key, key))
			return it;
	}
	if (detail->members.count == CHAT_DETAIL_MEMBERS)
		return NULL;
	struct chat_member member = {.key = str_copy(key), .is_text = is_appended(key)};
	buf_init(&member.text, LIMIT_SSE_EVENT);
	vec_push(&detail->members, member);
	return &detail->members.items[detail->members.count - 1];
}

static void add_member(struct chat_details *details, struct chat_detail *detail, const struct json *value)
{
	struct str text;
	if (value->type == JSON_null || details->bytes + value->span.len > LIMIT_SSE_EVENT)
		return;
	struct chat_member *member = find_member(detail, value->key);
	if (!member)
		return;
	details->bytes += value->span.len;
	if (member->is_text && json_to_str(value, &text)) {
		buf_append_str(&member->text, text);
	} else if (!member->is_text) {
		str_free(&member->json);
		member->json = str_copy(value->span);
	}
}

static void add_fragment(struct chat_details *details, const struct json *fragment)
{
	struct str index = index_of(fragment), type = json_get_str(fragment, "type");
	struct chat_detail *detail = index.len ? find_detail(details, index, type) : NULL;
	if (!detail) {
		if (details->list.count == CHAT_DETAILS)
			return;
		detail = xnew(struct chat_detail);
		detail->index = str_copy(index);
		detail->type = str_copy(type);
		vec_push(&details->list, detail);
	}
	json_for_each(value, fragment)
		add_member(details, detail, value);
}

void chat_details_add(struct chat_details *details, const struct json *fragments)
{
	json_for_each(fragment, fragments) {
		if (fragment->type == JSON_object)
			add_fragment(details, fragment);
	}
}

void chat_details_write(const struct chat_details *details, struct json_writer *w)
{
	jw_array(w);
	vec_for_each(it, &details->list) {
		jw_object(w);
		vec_for_each(member, &(*it)->members) {
			jw_key_str(w, member->key);
			if (member->is_text)
				jw_str(w, buf_str(&member->text));
			else
				jw_raw(w, member->json);
		}
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void detail_destroy(struct chat_detail *detail)
{
	vec_for_each(member, &detail->members) {
		str_free(&member->key);
		str_free(&member->json);
		buf_finish(&member->text);
	}
	vec_finish(&detail->members);
	str_free(&detail->index);
	str_free(&detail->type);
	free(detail);
}

void chat_details_finish(struct chat_details *details)
{
	vec_for_each(it, &details->list)
		detail_destroy(*it);
	vec_finish(&details->list);
}
