/* The program: one binary, many names. */
#include <stdio.h>

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("codex " CODEX_VERSION);
	return 0;
}
