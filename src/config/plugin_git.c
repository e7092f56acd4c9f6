/* Nothing of a repository runs while it is cloned: git gets no hooks, no filters of its attributes, no submodules, and
 * no protocol for which it would look for a program by the URL. It has a session without a terminal, so that neither
 * it nor ssh asks the user. Files are counted before they are checked out: a kilobyte of objects may describe any
 * number of them. */
#define LOG_MODULE "plugins"
#include "config/plugin_git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "config/config_env.h"
#include "config/plugin_files.h"

enum { EXIT_MISSING = 127, OPEN_TRIES = 8 };

static const char limit_name[] = "CODEX_CLONE_TIMEOUT_MS";

/* ---- the folder ---- */

/* A signal that the program ignores does not end git. */
static void catch_signals(struct plugin_clone *clone)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now;
	sigemptyset(&clone->caught);
	for (size_t i = 0; i < countof(list); i++) {
		if (sigaction(list[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&clone->caught, list[i]);
	}
	if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL); /* inherited; with it the kernel keeps no status of a child */
	sigprocmask(SIG_BLOCK, &clone->caught, &clone->before);
	clone->stop = signalfd(-1, &clone->caught, SFD_CLOEXEC);
}

/* Creates and locks a folder; -1 if another process has removed it before it was locked. */
static int claim(const char *folder)
{
	struct stat st;
	auto_close int fd = mkdir(folder, 0700) == 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink ? steal_fd(&fd) : -1;
}

static int read_limit(uint64_t *ret, struct error *err)
{
	const char *text = config_env(limit_name);
	*ret = LIMIT_CLONE_MS;
	return !text || (str_to_u64(str_of(text), ret) && *ret <= INT_MAX)
	               ? 0
	               : error_set(err, ERR_config, "%s must be a number of milliseconds, at most %d", limit_name,
	                           INT_MAX);
}

void plugin_clone_shorten(void)
{
	uint64_t most;
	struct error ignored;
	if (read_limit(&most, &ignored) == 0 && most > LIMIT_CLONE_MS)
		unsetenv(limit_name);
}

/* The time begins, and signals are caught. */
static int begin(struct plugin_clone *clone, struct error *err)
{
	*clone = (struct plugin_clone){.in_use = -1, .stop = -1};
	if (read_limit(&clone->most_ms, err) != 0) {
		sigprocmask(SIG_BLOCK, NULL, &clone->before);
		return -(int)err->code;
	}
	clone->end_ms = clock_now_ms() + clone->most_ms;
	catch_signals(clone);
	return clone->stop < 0 ? error_sys(err, errno, "cannot watch for signals") : 0;
}

int plugin_clone_open(struct plugin_clone *clone, const char *parent, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	if (begin(clone, err) != 0)
		return -(int)err->code;
	for (int i = 0; i < OPEN_TRIES && clone->in_use < 0; i++) {
		uuid_v7(id);
		free(clone->folder);
		clone->folder = xasprintf("%s/" PLUGIN_FRESH "%s", parent, id);
		clone->in_use = claim(clone->folder);
	}
	return clone->in_use < 0 ? error_sys(err, errno, "cannot create %s", clone->folder) : 0;
}

void plugin_clone_close(struct plugin_clone *clone)
{
	struct error ignored;
	if (clone->folder && dir_exists(clone->folder))
		best_effort(plugin_remove_tree(clone->folder, &ignored));
	if (clone->in_use >= 0)
		close(clone->in_use);
	if (clone->stop >= 0)
		close(clone->stop);
	free(clone->folder);
	sigprocmask(SIG_SETMASK, &clone->before, NULL);
}

void plugin_clone_sweep(const char *parent)
{
	struct error ignored;
	DIR *dir = opendir(parent);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, PLUGIN_FRESH, strlen(PLUGIN_FRESH)) != 0)
			continue;
		auto_free char *path = path_join(parent, entry->d_name);
		auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
			best_effort(plugin_remove_tree(path, &ignored));
	}
	if (dir)
		closedir(dir);
}

/* ---- git ---- */

/* Entries without a value are removed. */
static void set_environment(void)
{
	static char texts[] = "GIT_ALLOW_PROTOCOL=https:ssh:file:http:git\0"
			      "GIT_TERMINAL_PROMPT=0\0"
			      "GIT_ASKPASS=\0"
			      "SSH_ASKPASS=\0"
			      "SSH_ASKPASS_REQUIRE=never\0"
			      "GCM_INTERACTIVE=never\0"
			      "GIT_LITERAL_PATHSPECS=1\0"
			      "GIT_NO_LAZY_FETCH=1\0"
			      "GIT_DIR\0"
			      "GIT_WORK_TREE\0"
			      "GIT_INDEX_FILE\0"
			      "GIT_OBJECT_DIRECTORY\0";
	for (char *it = texts; *it; it += strlen(it) + 1)
		putenv(it);
}

static void limit(int resource, uint64_t most)
{
	struct rlimit now;
	if (getrlimit(resource, &now) != 0 || now.rlim_cur <= most)
		return;
	now.rlim_cur = most;
	setrlimit(resource, &now);
}

/* A write beyond the limit fails, and git says so. */
static _Noreturn void run_git(const struct plugin_clone *clone, const char **argv, int out, uint64_t most)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_SETMASK, &clone->before, NULL);
	set_environment();
	limit(RLIMIT_FSIZE, most);
	limit(RLIMIT_DATA, LIMIT_CLONE_MEMORY);
	if (null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO && (out < 0 || dup2(out, STDOUT_FILENO) >= 0) &&
	    chdir(clone->folder) == 0)
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(EXIT_MISSING);
}

/* In the child, which leads the group of git. The processes that git starts for a transfer outlive a git that was
 * killed: when the program ends, even by SIGKILL, the whole group is killed. */
static _Noreturn void run_child(const struct plugin_clone *clone, pid_t program, const char **argv, int out,
                                uint64_t most)
{
	int status = 0;
	pid_t pid, ended;
	sigset_t awaited;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	signal(SIGCHLD, SIG_DFL);
	(void)setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != program || (pid = fork()) < 0)
		_exit(EXIT_FAILURE);
	if (pid == 0)
		run_git(clone, argv, out, most);
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		if (sigwaitinfo(&awaited, NULL) == SIGTERM)
			kill(0, SIGKILL);
	}
	_exit(ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

enum outcome { ENDED, STOPPED, LATE, UNSEEN };

/* Waits until a process has ended, a signal arrives, or the time has come. */
static enum outcome watch(const struct plugin_clone *clone, pid_t pid, uint64_t end_ms)
{
	int ready;
	auto_close int end = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[] = {{end, POLLIN, 0}, {clone->stop, POLLIN, 0}};
	if (end < 0)
		return UNSEEN;
	do {
		uint64_t now = clock_now_ms();
		ready = poll(fds, countof(fds), now < end_ms ? (int)(end_ms - now) : 0);
	} while (ready < 0 && errno == EINTR);
	return fds[0].revents ? ENDED : ready ? STOPPED : LATE;
}

static int wait_for_end(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* The group of git has all that it has started; the group exists once git has its session. */
static int wait_for(const struct plugin_clone *clone, pid_t pid, const char *word, struct error *err)
{
	enum outcome outcome = watch(clone, pid, clone->end_ms);
	if (outcome != ENDED) {
		killpg(pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	int status = wait_for_end(pid);
	if (outcome == UNSEEN)
		return error_set(err, ERR_io, "cannot watch `git %s`: the system refuses pidfd_open", word);
	if (outcome == STOPPED)
		return error_set(err, ERR_cancelled, "`git %s` was interrupted", word);
	if (outcome == LATE)
		return error_set(err, ERR_timeout, "`git %s` was ended: a clone has %d ms (%s allows more)", word,
		                 (int)clone->most_ms, limit_name);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MISSING)
		return error_set(err, ERR_not_found, "cannot run git: is it installed?");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : error_set(err, ERR_io, "`git %s` failed", word);
}

/* ---- the lock ---- */

/* The lock belongs to the open folder, which this child shares with the program. */
static _Noreturn void take_lock(int fd, pid_t program)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(getppid() == program && flock(fd, LOCK_EX) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* A wait for a lock has no limit of time and ends with no signal that is blocked: a child waits. */
int plugin_clone_lock(const struct plugin_clone *clone, int fd, struct error *err)
{
	struct pollfd stop = {clone->stop, POLLIN, 0};
	uint64_t notice_ms = clock_now_ms() + LIMIT_CLONE_NOTICE_MS;
	pid_t program = getpid();
	if (poll(&stop, 1, 0) != 0)
		return error_set(err, ERR_cancelled, "interrupted");
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	pid_t pid = errno == EWOULDBLOCK ? fork() : -1;
	if (pid < 0)
		return error_sys(err, errno, "cannot take a lock");
	if (pid == 0)
		take_lock(fd, program);
	enum outcome outcome = watch(clone, pid, notice_ms < clone->end_ms ? notice_ms : clone->end_ms);
	if (outcome == LATE) {
		log_warn("another process changes plugins or marketplaces: waiting until it is done");
		outcome = watch(clone, pid, clone->end_ms);
	}
	if (outcome != ENDED)
		kill(pid, SIGKILL);
	int status = wait_for_end(pid);
	if (outcome == STOPPED)
		return error_set(err, ERR_cancelled, "interrupted");
	if (outcome == LATE)
		return error_set(err, ERR_busy, "another process changes plugins or marketplaces: try again");
	return status == 0 && outcome == ENDED ? 0 : error_set(err, ERR_io, "cannot take a lock");
}

int plugin_lock(int fd, struct error *err)
{
	struct plugin_clone wait;
	int status = begin(&wait, err);
	if (status == 0)
		status = plugin_clone_lock(&wait, fd, err);
	plugin_clone_close(&wait);
	return status;
}

/* out -1: that of the program; most: bytes of each file that git writes. */
static int run(const struct plugin_clone *clone, const char *words, const char *const *more, int out, uint64_t most,
               struct error *err)
{
	VEC(const char *) argv = {0};
	char *rest = NULL;
	auto_free char *verb = str_dup(str_n(words, strcspn(words, " ")));
	auto_free char *text = xasprintf("git -c core.hooksPath=/dev/null -c http.lowSpeedLimit=1000 "
	                                 "-c http.lowSpeedTime=%d -c fetch.negotiationAlgorithm=noop "
	                                 "-c fetch.unpackLimit=1 -c maintenance.auto=false %s",
	                                 LIMIT_CLONE_STALL_S, words);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		vec_push(&argv, word);
	while (*more)
		vec_push(&argv, *more++);
	vec_push(&argv, NULL);
	pid_t program = getpid(), pid = fork();
	if (pid == 0)
		run_child(clone, program, argv.items, out, most);
	vec_finish(&argv);
	return pid < 0 ? error_sys(err, errno, "cannot run git") : wait_for(clone, pid, verb, err);
}

int plugin_git(struct plugin_clone *clone, const char *words, const char *const *more, struct error *err)
{
	return run(clone, words, more, -1, LIMIT_CLONE_PACK, err);
}

int plugin_git_list(struct plugin_clone *clone, const char *words, const char *const *more, struct buf *out,
                    struct error *err)
{
	struct stat st;
	auto_close int fd = memfd_create("git", MFD_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "cannot run git");
	int status = run(clone, words, more, fd, LIMIT_CLONE_LIST, err);
	if (status != 0 && fstat(fd, &st) == 0 && st.st_size >= LIMIT_CLONE_LIST)
		return error_set(err, ERR_limit, "the repository has more files than a list of %d MiB can name",
		                 LIMIT_CLONE_LIST / MIB);
	if (status == 0 && lseek(fd, 0, SEEK_SET) == 0)
		status = fd_read_all(fd, out, "the output of git", err);
	return status;
}

/* ---- clones ---- */

int plugin_clone_fetch(struct plugin_clone *clone, const char *url, const char *ref, const char *option,
                       struct error *err)
{
	static const char none[] = "--single-branch";
	auto_free char *branch = ref ? xasprintf("--branch=%s", ref) : NULL;
	const char *const more[] = {ref ? branch : none, option ? option : none, "--", url, ".", NULL};
	return plugin_git(clone, "clone --quiet --no-checkout --depth 1 --no-recurse-submodules", more, err);
}

/* Adds a row of ls-tree, MODE TYPE ID SIZE<tab>PATH: the names on its path, and its bytes. */
static void count_row(struct str row, uint64_t *names, uint64_t *bytes)
{
	uint64_t size = 0;
	struct str part, head = STR_NONE;
	str_next_part(&row, '\t', &head);
	while (str_next_part(&row, '/', &part))
		++*names;
	while (str_next_part(&head, ' ', &part))
		;
	if (str_to_u64(part, &size)) /* a submodule has none */
		*bytes += size < LIMIT_CLONE_BYTES ? size : LIMIT_CLONE_BYTES + 1;
}

static int measure(struct plugin_clone *clone, const char *revision, const char *const *paths, struct error *err)
{
	auto_buf struct buf out;
	struct str row;
	uint64_t bytes = 0, names = 0;
	auto_free char *words = xasprintf("ls-tree -r -l -z %s --", revision);
	buf_init(&out, LIMIT_CLONE_LIST);
	if (plugin_git_list(clone, words, paths, &out, err) != 0)
		return -(int)err->code;
	struct str rows = buf_str(&out);
	while (str_next_part(&rows, '\0', &row))
		count_row(row, &names, &bytes);
	return names <= LIMIT_CLONE_NAMES && bytes <= LIMIT_CLONE_BYTES
	               ? 0
	               : error_set(err, ERR_limit, "the repository has more than %d files and folders, or %d MiB",
	                           LIMIT_CLONE_NAMES, LIMIT_CLONE_BYTES / MIB);
}

int plugin_checkout(struct plugin_clone *clone, const char *revision, const char *const *paths, struct error *err)
{
	/* others would let a file grow after it was counted */
	static const char attributes[] = "* -filter -ident -text -eol -working-tree-encoding\n";
	static const char *const all[] = {".", NULL};
	auto_free char *words = xasprintf("checkout --quiet %s --", revision);
	auto_free char *info = path_join(clone->folder, ".git/info"), *path = path_join(info, "attributes");
	if (mkdir(info, 0700) != 0 && errno != EEXIST)
		return error_sys(err, errno, "cannot create %s", info);
	if (file_write_atomic(path, str_of(attributes), 0600, false, err) != 0 ||
	    measure(clone, revision, paths ? paths : all, err) != 0)
		return -(int)err->code;
	return plugin_git(clone, words, paths ? paths : all, err);
}
