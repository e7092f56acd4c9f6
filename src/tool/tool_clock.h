/* tool_clock.h — calls that sleep. Loop thread only. */
#ifndef TOOL_TOOL_CLOCK_H
#define TOOL_TOOL_CLOCK_H

struct tool_host;

/* The user has added input to the task: ends all calls that sleep. */
void tool_clock_wake(struct tool_host *host);

#endif
