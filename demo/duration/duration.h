/* duration.h — reads spans of time as people write them: "45s", "1h30m". */
#ifndef DURATION_H
#define DURATION_H

/* Seconds, or -1 if the text is no span of time. */
int duration_seconds(const char *text);

#endif
