#include "duration.h"

static int unit_seconds(char unit)
{
	switch (unit) {
	case 'h':
		return 3600;
	case 'm':
		return 60;
	case 's':
		return 1;
	default:
		return 0;
	}
}

int duration_seconds(const char *text)
{
	int total = 0, number = 0;

	for (; *text; text++) {
		if (*text >= '0' && *text <= '9') {
			number = 10 * number + (*text - '0');
		} else if (unit_seconds(*text)) {
			total += number * unit_seconds(*text);
		} else {
			return -1;
		}
	}
	return total;
}
