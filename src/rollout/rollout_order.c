/* Seldom needed, so it may parse every line once more. Two lines are one that was written twice if number, kind and
 * time are the same: the bytes may differ by what was cut out of one of them already. */
#include "rollout/rollout_order.h"

#include <stdlib.h>

static int by_ordinal(const void *a, const void *b)
{
	const struct rollout_place *x = a, *y = b;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static bool is_repeated(const struct rollout_place *before, const struct rollout_place *it)
{
	return before->has_ordinal && it->has_ordinal && before->ordinal == it->ordinal && before->type == it->type &&
	       before->at_ms == it->at_ms;
}

static void drop_repeated(struct rollout_order *order)
{
	size_t kept = 0;
	vec_for_each(it, &order->lines) {
		if (kept && is_repeated(&order->lines.items[kept - 1], it))
			order->repeated++;
		else
			order->lines.items[kept++] = *it;
	}
	order->lines.count = kept;
}

void rollout_order_init(struct rollout_order *order, struct str bytes)
{
	struct str text;
	uint64_t ordinal = 0;
	*order = (struct rollout_order){0};
	while (str_next_line(&bytes, &text)) {
		auto_arena struct arena arena = {0};
		struct rollout_line line = {.type = LINE_unknown};
		if (rollout_line_parse(&arena, text, &line, NULL) == 0 && line.has_ordinal)
			ordinal = line.ordinal;
		vec_push(&order->lines, (struct rollout_place){
						.ordinal = ordinal,
						.seq = order->lines.count,
						.text = text,
						.has_ordinal = line.has_ordinal,
						.type = line.type,
						.at_ms = line.at_ms,
					});
	}
	if (order->lines.count)
		qsort(order->lines.items, order->lines.count, sizeof(*order->lines.items), by_ordinal);
	drop_repeated(order);
}

void rollout_order_finish(struct rollout_order *order)
{
	vec_finish(&order->lines);
}
