/*
 * shell.h: what the shell policy costs inside a process: texts that are as bad for the parser and
 * the rules as a text can be, in milliseconds per KiB.
 */
#ifndef DT_TESTS_BENCH_SHELL_H
#define DT_TESTS_BENCH_SHELL_H

/* Prints a row for each kind of text. */
void bench_shell(void);

#endif
