/* Safe and dangerous commands: tables of everyday commands, of similar ones with effects, and of destructive ones. */
#include "test.h"

#include "../command_read.h"

/* Commands that need no approval. */
/* clang-format off */
static const char *const harmless[] = {
	"ls", "ls -la", "ls -la src tests", "ls *.c", "/bin/ls -l", "pwd", "cd src && ls", "cat README.md",
	"cat a.txt b.txt", "cat * | head -n 3",
	"cat src/*.c | wc -l", "grep -n x src/*.c", "sort '-k2*'", "cat a | grep -n x | wc -l", "head -n 20 a.c",
	"tail -n 3 a.c",
	"tail -f log", "nl -ba a.c | sed -n '10,20p'", "sed -n 1,200p src/main.c", "sed -n 7p", "sed -n '5p' a.c",
	"wc -l src/a.c", "rg foo", "rg -n 'fn main' src", "rg --files", "rg --files -g '*.rs' | head",
	"rg -l x | sort",
	"grep -rn TODO .", "grep -c '^#' a.md", "/usr/bin/grep -rn x .", "find . -name '*.c' -type f", "find",
	"find src -maxdepth 2 -newer a", "git status", "git status --short --branch", "git diff",
	"git diff HEAD~1 -- a.c",
	"git diff --stat", "git log --oneline -5", "git log -p --follow a.c", "git show HEAD", "git show HEAD:a.c",
	"git branch", "git branch -a", "git branch -vv --format=x", "git branch --show-current",
	"git --no-pager diff",
	"git ls-files", "git rev-parse HEAD", "git rev-parse --show-toplevel", "git blame a.c",
	"git remote -v", "git describe --tags", "echo hi", "echo \"two words\"", "which git", "command -v node",
	"type ls", "whoami; id; uname -a", "date", "date -u +%Y", "date -d yesterday +%F", "du -sh .", "df -h",
	"stat a.c", "sort a.txt", "sort -rn -k2 a.txt | uniq -c", "uniq -c a", "cut -d: -f1 a", "tr a-z A-Z",
	"diff -u a b", "cmp a b", "comm -12 a b", "basename a/b.c .c", "dirname a/b", "realpath a", "readlink -f a",
	"sha256sum a", "md5sum a", "jq .name package.json", "tree -L 2", "seq 1 3", "base64 a", "base64 -d a",
	"tac a",
	"rev a", "numfmt 1", "paste a b", "expr 1 + 1", "strings a.out", "od -c a", "ps aux", "true", "false",
	"pwd && ls -la || true", "ls # what is here", "ls;\npwd\n", "cat 'a b.txt'", "cat \"a b\"'c'",
};
/* clang-format on */

/* Commands that resemble these, but can write, run or send something, or are ambiguous. */
/* clang-format off */
static const char *const acting[] = {
	/* other programs by the same name, or programs that run others */
	"./ls", "bin/ls", "/tmp/ls", "/usr/bin/../../tmp/ls", "make", "ls && make", "ls | make", "sudo ls", "env ls",
	"xargs ls", "ls | xargs cat", "nohup ls", "time ls", "exec ls", "eval ls", "command ls", "command -p ls",
	"builtin ls", "sh -c ls", "bash a.sh", ". a.sh", "source a.sh", "tee x", "cat a | tee b",
	"awk '{system(\"x\")}' a",
	"perl -e 1", "python3 -c 1", "node -e 1", "less a", "man ls", "vi a", "printf -v PATH x", "alias ls=rm",
	"unalias -a", "hash -p /tmp/x ls", "enable -f x y", "trap 'rm x' EXIT", "set -- a", "read x", "test -f a",
	"[ -f a ]", "[[ -f a ]]", "ls() { rm x; }", "function ls { rm x; }", "coproc ls", "! ls",
	"if ls; then ls; fi",
	"for f in a; do ls; done", "while ls; do ls; done", "case a in a) ls;; esac", "{ ls; }", "(ls)",
	/* git */
	"git", "git commit -m x", "git push", "git -c core.pager=x log", "git -c a=b status",
	"git --config-env=a=B log",
	"git --exec-path=. status", "git -p log", "git --paginate log", "git --git-dir=x status", "git -C * status",
	"git diff --output=x", "git diff --outp=x", "git diff --ext-diff", "git diff --ext", "git log --textconv",
	"git show --exec=x", "git log --output x", "git branch new", "git branch -d x", "git branch -m x",
	"git branch --edit-description", "git diff *", "git stash", "git grep -O x", "git remote add a b",
	"git remote -v update", "git checkout .", "git config core.pager x", "git bisect run x",
	"git submodule foreach x",
	/* in a folder whose git settings are unchecked */
	"git -C sub log -1", "git -C . status", "cd sub && git status", "cd sub; ls | git diff", "cd sub\ngit log",
	/* pagers, and nested repositories */
	"git status --help", "git diff --help", "git log --hel", "git diff --submodule=diff",
	"git ls-files --recurse-submodules",
	/* a pattern that file names turn into an option, or into a second operand */
	"find . -e[x]ec", "find . -d[e]lete", "find src/* -name x", "sort -?victim", "sort src/*.c",
	"git diff --outp?t=f", "git log src/*.c", "uniq a*", "sed -n 1p a*", "rg x src/*", "base64 -[o]x a",
	"tree -[o]x", "diff a* b", "date -[s]x", "command -v a*",
	/* options that write or run */
	"find . -exec ls", "find . -delete", "find . -ok ls", "find . -execdir x +", "find . -fprint x",
	"find . -fprintf x %p", "find . -fls x", "find . -fprint0 x", "find . -okdir x", "find *", "rg --pre=sh x",
	"rg --pre sh x", "rg -z x", "rg -nz x", "rg --search-zip x", "rg --hostname-bin=x y", "rg *",
	"sed -i s/a/b/ x",
	"sed -n 1p -i", "sed -n '1w x' y", "sed 's/a/b/w x' y", "sed 's/a/b/e' y", "sed -n '1e id'", "sed -n p x",
	"sed -n 1,p x", "sed -n 1,2p a b", "sed 1p x", "sed -f x y", "tar -cf x .", "tar xf a --to-command=sh",
	"sort -o x a", "sort -ox a", "sort -ro x a", "sort --output=x a", "sort --outp x a",
	"sort --compress-program=x a",
	"sort -T x a", "sort *", "base64 -o x a", "base64 -ox a", "base64 --output=x a", "base64 --outp x a",
	"uniq a b", "uniq - b", "uniq -- - -b", "uniq a *", "uniq *", "tree -o x", "tree -R", "diff -l a b",
	"diff --paginate a b", "date -s x",
	"date --set=x", "date 010203", "date -us x", "curl x", "wget x", "ssh x", "nc x 1", "dd if=a of=b", "cp a b",
	"mv a b", "touch a", "mkdir a", "chmod 7 a", "ln a b", "kill 1", "dig x", "env", "printenv", "hostname x",
	/* expansions by the shell */
	"ls > x", "ls >> x", "ls >| x", "ls 2>&1", "ls &> x", "cat < x", "cat <<E\nx\nE", "cat <<< x",
	"ls > >(tee x)",
	"cat <(id)", "ls &", "ls & ls", "ls |& cat", "echo $(make)", "echo `make`", "echo \"$(make)\"",
	"echo \"`make`\"",
	"echo $HOME", "echo ${a}", "echo \"$a\"", "echo ${a:=b}", "echo $((a=1))", "echo $'a'", "echo $\"a\"",
	"A=b ls",
	"A=b", "A=b; ls", "PATH=. ls", "echo {a,b}", "ls {-l,/}", "l\\s", "ls \\-l", "=ls", "ls =cat", "~/ls",
	"ls !!",
	"ls\\\nx", "ls ;; ls", "ls ||", "&& ls", "ls | | ls", "'ls", "\"ls", "ls\rx", "ls \x01", "",
};
/* clang-format on */

/* clang-format off */
static const char *const destroying[] = {
	"rm -f x", "rm -rf x", "rm -Rf x", "rm -fr x", "rm --force x", "rm -r -f x", "ls; rm -rf x", "/bin/rm -rf x",
	"sudo rm -rf x", "sudo -u root rm -f x", "sudo sudo rm -f x", "git reset --hard", "git rm x",
	"/usr/bin/git reset",
	"git -C x reset", "git --no-pager -c a=b rm x", "git branch -D x", "git branch --delete x",
	"git push --force",
	"git push origin +main", "git push -f", "git push --delete origin x", "git push --force-with-lease=x",
	"git clean -fdx", "git clean --force",
	/* destructive words in text that is not plain commands */
	"rm -rf $HOME/x", "rm -rf \"$x\"", "X=1 rm -rf x", "(cd /tmp && rm -rf x)", "for f in a; do rm -rf $f; done",
	"if true; then rm -f $x; fi", "echo $(rm -rf x)", "echo \"$(rm -rf x)\"", "echo `rm -rf x`", "{ rm -rf x; }",
	"ls > y; rm -f x", "> y rm -f x", "true && sudo rm -rf $x", "r\\m -rf $x", "'rm' -rf $x", "rm $x -rf",
	"bash -c 'rm -rf x'", "bash -lc \"bash -lc 'rm -rf x'\"", "sh -ec 'cd /; rm -rf $x'",
	"cat <<E\nx\nE\nrm -rf $x",
	/* destructive commands that other programs run */
	"env rm -rf x", "env -i -u A --chdir x B=c rm -rf x", "nohup rm -rf x", "command rm -rf x",
	"command -p rm -f x",
	"exec -a y rm -rf x", "builtin exec rm -f x", "doas -u root rm -f x", "command git push -f",
	"sudo bash -c 'rm -rf x'", "sudo -nu git /bin/rm -rf x", "sudo --user git -- env A=b nohup rm -f x",
	"sudo nice rm -f x", "sudo env nice git reset", "bash -c 'git reset --hard'",
	"bash -euo pipefail -c 'rm -rf x'",
	"bash -ceuo pipefail 'git reset'", "bash -O extglob -c 'git clean -f'", "bash -c -e 'git reset'",
	"sh -c 'env bash -c \"git reset\"'", "bash -c '[a]; rm -f x'", "bash -euo pipefail -c 'rm -rf x' > y",
	/* patterns that file names turn into an option, a subcommand or a program */
	"rm [-]vf x", "rm ?vf x", "rm ?? x", "rm [+-]f x", "rm [+-/]f x", "rm [^a]f x", "rm [-]-force x",
	"rm [-]vf $x", "rm [!-~]f $x", "rm [a-z-]f x",
	"rm -[f] x", "rm [-]f x", "rm ?f x", "rm -r* x", "rm x -[r]f", "rm --forc x",
	"sudo rm -[f] x", "sudo [r]m -f x", "sudo /bin/r? -f x", "ls && rm -[f] x",
	"git r[e]set --hard", "git -[C] x reset", "git -C x* reset", "git * x", "git push -[f]", "git push [+]main",
	"git push *", "git branch -[D] x", "git branch * x", "git clean -[f]dx", "git clean *",
	"bash -[c] 'rm -rf x'", "bash [-]c 'rm -rf x'", "rm -[f] $x", "rm [-]f $x",
	"bash -[c] 'rm -rf x' $y",
	/* programs that run the command after their options and operands */
	"timeout 5 rm -rf x", "timeout -k 1 --signal KILL 5s git reset", "nice rm -f x", "nice -n 5 rm -f x",
	"nice -5 git clean -f", "ionice -c 3 rm -f x", "ls | xargs rm -f", "xargs -0 -I{} git push --force",
	"xargs -n1 -P 4 sh -c 'rm -rf x'", "stdbuf -o L -eL rm -f x", "setsid -w rm -f x", "time -p git reset",
	"time -f %e rm -f x", "taskset 3 rm -f x", "chrt -r 1 rm -f x", "chroot / rm -rf x", "flock a rm -f x",
	"flock -w 3 a -c 'rm -f x'", "busybox rm -rf x", "pkexec rm -rf x", "su -c 'rm -rf x'",
	"su root -c 'git reset'", "eval rm -rf x", "eval 'rm -rf' x", "watch -n 1 'git reset'",
	"env -S 'rm -rf x'", "env -S'A=b git' reset", "env -iS 'git reset'", "env --split-string='rm -f x'",
	"env --split 'rm -f x'", "nohup timeout 3 nice xargs rm -f", "timeout 5 bash -c 'xargs rm -f'",
	/* git in text that is not plain commands */
	"git reset --hard > x", "git -C $x reset --hard", "git $y reset", "X=1 git push --force", "(git clean -fd)",
	"for b in $x; do git branch -D $b; done", "git push -f 2>&1 | tee x", "2>/dev/null git reset",
	"echo $(git reset --hard)", "echo \"`git reset`\"", "if true; then git push origin +main; fi",
	"git re\\set", "git \"re\"set > x", "git $'reset'", "git $'re\\x73et'", "git re$x", "git {reset,--hard}",
	"git pus{h,} -f", "git \\\n reset", "timeout 5 git reset > x", "git push $x -f", "git push -$x",
	"case x in x) git reset;; esac", "echo $(case x in x) git reset;; esac)", "f() { git reset; }",
	"cat <(git reset)", "cat <<E\n$(git reset)\nE", "bash <<E\ngit reset\nE", "bash -s <<'E'\ngit reset\nE",
	"bash <<< 'git reset'", "A=$(git reset)", "echo ${x:-$(git reset)}", "bash -c \"git reset $x\"",
	"x=y; rm -{f,r} x",
	"f() { rm -rf $x; }; f", "nohup rm -rf $x &", "env -i A=b rm -rf $x", "! rm -rf $x", "time rm -rf $x",
};
/* clang-format on */

/* clang-format off */
static const char *const sparing[] = {
	"timeout 5", "timeout 5 ls", "timeout 5 git status", "nice", "nice -n 5 make", "ionice -p 3 rm -f x",
	"xargs", "xargs rm", "ls | xargs -n 1 grep x", "xargs -a git reset x", "env -S 'ls -l'", "eval ls", "time ls",
	"stdbuf -oL make", "flock a ls", "chrt -p 3",
	"git -C $x log", "git -C \"$x\" status > y", "git log $x > y", "git --git-dir=$x/.git log", "git $x",
	"git \"$@\"", "git push $x", "git push origin \"$x\" > y", "git push --repo=$x", "git commit -m \"$x\" > y",
	"git commit -m \"$(cat <<'E'\ngit reset\nE\n)\"", "cat > x <<'E'\n$(git reset)\nE", "$x", "$x -f y", "$x rm y",
	"bash -c \"git push $x\"", "bash \"$x\" 'git reset'", "echo git reset > x", "git branch $x", "git clean -n $x",
	"git show x > reset", "git add {reset,b}", "echo '$(git reset)' > x", "git log # $(git reset)\necho $x",
	"env", "env A=b", "env -u", "nohup ls", "nohup", "exec", "command -v rm -f", "command -V git reset",
	"env echo rm -f x", "nohup rm x", "bash -c 'git status'", "bash -o pipefail", "bash -o", "sudo -u git ls",
	"bash -o pipefail x -c 'rm -f x'", "env bash x -c 'git reset'", "sudo bash -c ls",
	"rm [a-z]*", "rm [0-9]*", "rm [A-Za-z0-9]*", "rm ?*", "rm ??*", "rm ?", "rm ?.o", "rm [-]v", "rm [ab]f",
	"rm [a-z]* $x", "rm ?* $x", "rm [f $x", "rm [a-z",
	"rm *", "rm * --", "rm *f", "rm * $x", "rm *.o", "rm -r build/*", "rm -- *",
	"rm ./*", "rm src/[ab].c", "git diff *.c", "git push origin feature/*",
	"git branch x*", "git commit *.c", "sudo ls *.c", "bash x*", "rm *.o $x", "rm ./* $x", "echo * -f $x",
	"rm x", "rm -r x", "rm -- -f", "rm", "sudo", "sudo ls", "git", "git -C", "git status", "git push origin main",
	"git branch x", "git clean -n", "echo rm -rf x", "ls", "rm $x", "rm -r \"$x\"", "rm -- \"$x\" -f",
	"echo rm -rf $x", "echo \"rm -rf $x\"", "git commit -m \"rm -rf $x\"", "cat > a <<EOF\nrm -rf $x\nEOF",
	"cat > a <<-'EOF'\n\trm -rf $x\n\tEOF\nls", "# rm -rf $x", "ls $x # rm -rf", "grep 'rm -rf' $x",
	"bash -c 'ls $x'",
	"bash rm -rf $x", "echo \"$(date)\" rm -rf", "farm -rf $x", "rm-x -rf $x", "cat a > rm -f $x", "ls $x -rf rm",
};
/* clang-format on */

struct row {
	const char *script;
	bool is_about_safety, wanted;
};

static void row_is_as_written(void **state)
{
	const struct row *row = *state;
	const char *argv[] = {"bash", "-lc", row->script, NULL};
	bool is = row->is_about_safety ? argv_is_safe(argv) : command_is_dangerous(argv);
	if (is != row->wanted)
		fail_msg("\"%s\" is %s", row->script,
		         row->is_about_safety ? (is ? "taken for harmless" : "not known to be harmless")
		                              : (is ? "taken for dangerous" : "not known to be dangerous"));
}

static void a_harmless_command_is_not_dangerous(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		assert_false(command_is_dangerous((const char *[]){"bash", "-lc", harmless[i], NULL}));
}

static void a_shell_of_the_repository_is_not_safe(void **state)
{
	(void)state;
	assert_true(argv_is_safe((const char *[]){"/bin/sh", "-c", "ls", NULL}));
	assert_false(argv_is_safe((const char *[]){"./bash", "-lc", "ls", NULL}));
	assert_false(argv_is_safe((const char *[]){NULL}));
}

/* Commands of nested shells are parsed, but never safe. */
static void nested_shells_are_never_safe(void **state)
{
	(void)state;
	assert_false(argv_is_safe((const char *[]){"bash", "-lc", "bash -lc ls", NULL}));
	assert_false(argv_is_safe((const char *[]){"bash", "-lc", "bash -lc 'bash -lc ls'", NULL}));
	assert_false(argv_is_safe((const char *[]){"bash", "-lc", "ls", "rm", NULL}));
	assert_false(argv_is_safe((const char *[]){"bash", "-x", "-c", "ls", NULL}));
	assert_true(command_is_dangerous((const char *[]){"bash", "-lc", "bash -lc 'bash -c \"rm -rf x\"'", NULL}));
	assert_true(command_is_dangerous((const char *[]){"sudo", "rm", "-rf", "x", NULL}));
}

static void ten_thousand_words_are_classified(void **state)
{
	(void)state;
	enum { WORDS = 10000 };
	const char **argv = test_calloc(WORDS + 1, sizeof(*argv));
	for (size_t i = 0; i < WORDS; i++)
		argv[i] = "cat";
	assert_true(argv_is_safe(argv));
	argv[WORDS - 1] = "-";
	assert_true(argv_is_safe(argv));
	argv[0] = "rm";
	argv[WORDS - 1] = "-f";
	assert_true(command_is_dangerous(argv));
	test_free(argv);
	static char script[200000];
	for (size_t i = 0; i + 4 < sizeof(script); i += 4)
		memcpy(script + i, "\"$(\"", 4); /* scripts in quotes in scripts */
	assert_false(argv_is_safe((const char *[]){"bash", "-c", script, NULL}));
	assert_false(command_is_dangerous((const char *[]){"bash", "-c", script, NULL}));
	script[60000] = '\0';
	assert_false(command_is_dangerous((const char *[]){"bash", "-c", script, NULL}));
}

#define COUNT(list) (sizeof(list) / sizeof(*(list)))
enum { ROWS = COUNT(harmless) + COUNT(acting) + COUNT(destroying) + COUNT(sparing), OTHERS = 4 };

static size_t add_rows(struct CMUnitTest *tests, struct row *rows, size_t at, const char *const *scripts, size_t count,
                       struct row kind)
{
	for (size_t i = 0; i < count; i++, at++) {
		rows[at] = kind;
		rows[at].script = scripts[i];
		tests[at] =
			(struct CMUnitTest){.name = "row", .test_func = row_is_as_written, .initial_state = &rows[at]};
	}
	return at;
}

int main(void)
{
	static struct row rows[ROWS];
	static char names[ROWS][32];
	struct CMUnitTest tests[ROWS + OTHERS];
	size_t at = add_rows(tests, rows, 0, harmless, COUNT(harmless), (struct row){NULL, true, true});
	at = add_rows(tests, rows, at, acting, COUNT(acting), (struct row){NULL, true, false});
	at = add_rows(tests, rows, at, destroying, COUNT(destroying), (struct row){NULL, false, true});
	at = add_rows(tests, rows, at, sparing, COUNT(sparing), (struct row){NULL, false, false});
	for (size_t i = 0; i < at; i++) {
		snprintf(names[i], sizeof(names[i]), "row_%zu_is_%s%s", i, rows[i].wanted ? "" : "not_",
		         rows[i].is_about_safety ? "harmless" : "dangerous");
		tests[i].name = names[i];
	}
	const struct CMUnitTest others[OTHERS] = {
		cmocka_unit_test(a_harmless_command_is_not_dangerous),
		cmocka_unit_test(a_shell_of_the_repository_is_not_safe),
		cmocka_unit_test(nested_shells_are_never_safe),
		cmocka_unit_test(ten_thousand_words_are_classified),
	};
	memcpy(tests + at, others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
