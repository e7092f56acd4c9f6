/* Signals that end the process at once leave the terminal to crash handlers, which write a constant and call tcsetattr:
 * both are async-signal-safe. */
#include "term/term_tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "term/term_limits.h"

enum { ROWS_DEFAULT = 24, COLUMNS_DEFAULT = 80 };

/* Bracketed paste, focus reports, kitty's keys; xterm's modified keys off. */
#define ENTER_MODES "\x1b[?2004h\x1b[?1004h\x1b[>4;0m\x1b[>1u"
#define ENTER_ALTERNATE "\x1b[?1049h\x1b[2J\x1b[H"
#define LEAVE_ALTERNATE "\x1b[?1049l"
#define LEAVE_MODES "\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1004l\x1b[0 q\x1b[?25h\x1b[0m"

static const int ending_signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
static const int crash_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

struct term_tty {
	struct loop *loop;
	struct term_tty_events events;
	void *self;
	int fd;
	struct termios before;
	uv_poll_t poll;
	uv_signal_t ending[countof(ending_signals)], winch, stop, cont;
	struct buf output;
	size_t written;              /* bytes of output that the terminal has */
	struct loop_deferred report; /* on_drained, or the end */
	bool is_gone;
	bool is_alternate; /* the alternate screen is shown */
	bool is_lent;      /* another program uses the terminal */
	bool is_continued; /* on_continued is due */
	size_t handles;    /* not closed yet */
};

/* The data of the crash handlers. */
static struct {
	int fd;
	volatile sig_atomic_t is_alternate;
	char note[LIMIT_TERM_CRASH_NOTE];
	size_t note_len;
	struct termios before;
	struct sigaction old[countof(crash_signals)];
} crash = {.fd = -1};

/* ---- modes ---- */

static void on_crash(int number)
{
	if (crash.fd >= 0 && crash.is_alternate)
		best_effort((int)write(crash.fd, LEAVE_ALTERNATE, sizeof(LEAVE_ALTERNATE) - 1));
	if (crash.fd >= 0) {
		best_effort((int)write(crash.fd, LEAVE_MODES "\r\n", sizeof(LEAVE_MODES "\r\n") - 1));
		best_effort((int)write(crash.fd, crash.note, crash.note_len));
		tcsetattr(crash.fd, TCSANOW, &crash.before);
	}
	for (size_t i = 0; i < countof(crash_signals); i++) {
		if (crash_signals[i] == number)
			sigaction(number, &crash.old[i], NULL);
	}
	raise(number);
}

static void guard_crashes(const struct term_tty *tty)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
	crash.before = tty->before;
	crash.fd = tty->fd;
	for (size_t i = 0; i < countof(crash_signals); i++)
		sigaction(crash_signals[i], &action, &crash.old[i]);
}

void term_tty_note_crash(struct str note)
{
	size_t len = note.len < LIMIT_TERM_CRASH_NOTE ? note.len : LIMIT_TERM_CRASH_NOTE;
	memcpy(crash.note, note.ptr, len);
	crash.note_len = len;
}

static void unguard_crashes(void)
{
	for (size_t i = 0; i < countof(crash_signals); i++)
		sigaction(crash_signals[i], &crash.old[i], NULL);
	crash.fd = -1;
	crash.note_len = 0;
}

static void set_raw(const struct term_tty *tty)
{
	struct termios raw = tty->before;
	cfmakeraw(&raw);
	tcsetattr(tty->fd, TCSANOW, &raw);
}

static void enter_modes(struct term_tty *tty)
{
	set_raw(tty);
	term_tty_write(tty, STR(ENTER_MODES));
	if (tty->is_alternate)
		term_tty_write(tty, STR(ENTER_ALTERNATE));
}

/* Waits for the terminal: the process is about to stop or to end. A terminal that reads nothing delays this by
 * LIMIT_HURRY_MS at most. */
static void flush(struct term_tty *tty)
{
	while (!tty->is_gone && tty->written < tty->output.len) {
		struct pollfd wait = {.fd = tty->fd, .events = POLLOUT};
		ssize_t n = write(tty->fd, tty->output.data + tty->written, tty->output.len - tty->written);
		if (n >= 0)
			tty->written += (size_t)n;
		else if (errno != EINTR && (errno != EAGAIN || poll(&wait, 1, LIMIT_HURRY_MS) != 1))
			break;
	}
	buf_clear(&tty->output);
	tty->written = 0;
}

static void leave_modes(struct term_tty *tty)
{
	if (tty->is_alternate)
		term_tty_write(tty, STR(LEAVE_ALTERNATE));
	term_tty_write(tty, STR(LEAVE_MODES));
	flush(tty);
	if (!tty->is_gone)
		tcsetattr(tty->fd, TCSANOW, &tty->before);
}

/* ---- bytes ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch(struct term_tty *tty)
{
	int wanted = UV_READABLE | (tty->written < tty->output.len ? UV_WRITABLE : 0);
	if (tty->is_gone || tty->is_lent)
		uv_poll_stop(&tty->poll);
	else
		uv_poll_start(&tty->poll, wanted, on_poll);
}

/* The terminal is gone: no user sees or answers anything any more. */
static void lose(struct term_tty *tty)
{
	tty->is_gone = true;
	watch(tty);
	loop_defer(&tty->report);
}

static void on_report(void *self)
{
	struct term_tty *tty = self;
	bool is_continued = tty->is_continued;
	tty->is_continued = false;
	if (tty->is_gone)
		tty->events.on_signal(SIGHUP, tty->self);
	else if (is_continued)
		tty->events.on_continued(tty->self);
	else if (term_tty_is_drained(tty))
		tty->events.on_drained(tty->self);
}

static void write_some(struct term_tty *tty)
{
	while (!tty->is_gone && !tty->is_lent && tty->written < tty->output.len) {
		ssize_t n = write(tty->fd, tty->output.data + tty->written, tty->output.len - tty->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			lose(tty);
		if (n <= 0)
			break;
		tty->written += (size_t)n;
	}
	if (tty->written < tty->output.len)
		return;
	buf_reuse(&tty->output);
	tty->written = 0;
	loop_defer(&tty->report);
}

static void read_some(struct term_tty *tty)
{
	char bytes[LIMIT_TERM_READ];
	ssize_t n = read(tty->fd, bytes, sizeof(bytes));
	if (n > 0)
		tty->events.on_bytes(str_n(bytes, (size_t)n), tty->self);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		lose(tty);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct term_tty *tty = poll->data;
	if (status < 0) {
		lose(tty);
		return;
	}
	if (events & UV_WRITABLE) {
		write_some(tty);
		watch(tty);
	}
	if (events & UV_READABLE)
		read_some(tty); /* last, because the owner may close the terminal */
}

void term_tty_write(struct term_tty *tty, struct str bytes)
{
	if (tty->is_gone)
		return;
	buf_append_str(&tty->output, bytes);
	write_some(tty);
	watch(tty);
}

bool term_tty_is_drained(const struct term_tty *tty)
{
	return tty->written == tty->output.len;
}

void term_tty_size(const struct term_tty *tty, size_t *ret_rows, size_t *ret_columns)
{
	struct winsize size = {0};
	bool is_known = ioctl(tty->fd, TIOCGWINSZ, &size) == 0;
	*ret_rows = is_known && size.ws_row ? size.ws_row : ROWS_DEFAULT;
	*ret_columns = is_known && size.ws_col ? size.ws_col : COLUMNS_DEFAULT;
}

void term_tty_alternate(struct term_tty *tty, bool is_alternate)
{
	if (is_alternate == tty->is_alternate)
		return;
	tty->is_alternate = is_alternate;
	crash.is_alternate = is_alternate;
	term_tty_write(tty, is_alternate ? STR(ENTER_ALTERNATE) : STR(LEAVE_ALTERNATE));
}

/* ---- signals ---- */

static void on_ending(uv_signal_t *handle, int number)
{
	struct term_tty *tty = handle->data;
	if (!tty->is_lent || number != SIGINT)
		tty->events.on_signal(number, tty->self);
}

static void on_winch(uv_signal_t *handle, int number)
{
	struct term_tty *tty = handle->data;
	(void)number;
	tty->events.on_resize(tty->self);
}

static void on_stop(uv_signal_t *handle, int number)
{
	(void)number;
	term_tty_suspend(handle->data);
}

static void reenter(struct term_tty *tty)
{
	enter_modes(tty);
	tty->is_continued = true;
	loop_defer(&tty->report);
}

/* Also after SIGSTOP, which cannot be caught: a shell has set modes of its own meanwhile. */
static void on_cont(uv_signal_t *handle, int number)
{
	struct term_tty *tty = handle->data;
	(void)number;
	if (!tty->is_lent)
		reenter(tty);
}

static void watch_signal(struct term_tty *tty, uv_signal_t *handle, uv_signal_cb run, int number)
{
	uv_signal_init(loop_uv(tty->loop), handle);
	handle->data = tty;
	uv_signal_start(handle, run, number);
}

/* The default action of SIGTSTP stops the process before raise returns, and is ignored where no shell could continue
 * it. The SIGCONT that ends the stop is not watched: it would report the same a second time. */
void term_tty_suspend(struct term_tty *tty)
{
	if (!tty->is_lent)
		leave_modes(tty);
	uv_signal_stop(&tty->stop);
	uv_signal_stop(&tty->cont);
	raise(SIGTSTP);
	uv_signal_start(&tty->stop, on_stop, SIGTSTP);
	uv_signal_start(&tty->cont, on_cont, SIGCONT);
	if (!tty->is_lent)
		reenter(tty);
}

void term_tty_lend(struct term_tty *tty)
{
	leave_modes(tty);
	tty->is_lent = true;
	watch(tty);
}

void term_tty_reclaim(struct term_tty *tty)
{
	tty->is_lent = false;
	reenter(tty);
}

static void watch_signals(struct term_tty *tty)
{
	for (size_t i = 0; i < countof(ending_signals); i++)
		watch_signal(tty, &tty->ending[i], on_ending, ending_signals[i]);
	watch_signal(tty, &tty->winch, on_winch, SIGWINCH);
	watch_signal(tty, &tty->stop, on_stop, SIGTSTP);
	watch_signal(tty, &tty->cont, on_cont, SIGCONT);
}

/* ---- life ---- */

/* The descriptor is a new opening of the terminal: O_NONBLOCK on standard input would also apply to the shell. */
static int open_terminal(struct error *err)
{
	char name[256];
	int fd = -1;
	if (ttyname_r(STDIN_FILENO, name, sizeof(name)) == 0)
		fd = open(name, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 ? fd : error_sys(err, errno, "the terminal cannot be opened");
}

struct term_tty *term_tty_open(struct loop *loop, const struct term_tty_events *events, void *self, struct error *err)
{
	struct termios before;
	auto_close int fd = open_terminal(err);
	if (fd < 0)
		return NULL;
	if (tcgetattr(fd, &before) != 0) {
		error_sys(err, errno, "the modes of the terminal cannot be read");
		return NULL;
	}
	struct term_tty *tty = xnew(struct term_tty);
	tty->loop = loop;
	tty->events = *events;
	tty->self = self;
	tty->before = before;
	tty->fd = steal_fd(&fd);
	tty->poll.data = tty;
	buf_init(&tty->output, LIMIT_TERM_OUTPUT);
	loop_deferred_init(&tty->report, loop, on_report, tty);
	uv_poll_init(loop_uv(loop), &tty->poll, tty->fd);
	guard_crashes(tty);
	watch_signals(tty);
	enter_modes(tty);
	return tty;
}

static void on_closed(uv_handle_t *handle)
{
	struct term_tty *tty = handle->data;
	if (--tty->handles == 0)
		free(tty);
}

static void close_handle(struct term_tty *tty, void *handle)
{
	tty->handles++;
	uv_close(handle, on_closed);
}

void term_tty_close(struct term_tty *tty)
{
	if (!tty)
		return;
	if (!tty->is_lent)
		leave_modes(tty);
	unguard_crashes();
	loop_deferred_finish(&tty->report);
	close_handle(tty, &tty->poll);
	close(tty->fd);
	buf_finish(&tty->output);
	for (size_t i = 0; i < countof(ending_signals); i++)
		close_handle(tty, &tty->ending[i]);
	close_handle(tty, &tty->winch);
	close_handle(tty, &tty->stop);
	close_handle(tty, &tty->cont);
}
