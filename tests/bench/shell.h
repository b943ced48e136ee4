/*
 * shell.h: the cost of the shell policy inside a process, in milliseconds per KiB, for the worst
 * texts for the parser and the rules.
 */
#ifndef DT_TESTS_BENCH_SHELL_H
#define DT_TESTS_BENCH_SHELL_H

/* Prints a row for each kind of text. */
void bench_shell(void);

#endif
