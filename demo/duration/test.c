#include <stdio.h>

#include "duration.h"

static const struct {
	const char *text;
	int seconds;
} cases[] = {
	{"45s", 45}, {"10m", 600}, {"1h30m", 5400}, {"1h1m1s", 3661}, {"soon", -1}, {"90", -1},
};

int main(void)
{
	int failed = 0, count = sizeof(cases) / sizeof(cases[0]);

	for (int i = 0; i < count; i++) {
		int got = duration_seconds(cases[i].text);
		int is_right = got == cases[i].seconds;
		printf("%s %-8s %d", is_right ? "ok  " : "FAIL", cases[i].text, got);
		printf(is_right ? "\n" : ", expected %d\n", cases[i].seconds);
		failed += !is_right;
	}
	printf("%d of %d cases failed\n", failed, count);
	return failed != 0;
}
