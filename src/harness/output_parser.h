/*
 * output_parser.h: parses the output of a harness's program piece by piece, and turns the exit of
 * the program into a verdict. For invoke.c, generic_api.c and the fuzzer.
 */
#ifndef DT_HARNESS_OUTPUT_PARSER_H
#define DT_HARNESS_OUTPUT_PARSER_H

#include "src/sys/process.h"
#include "src/harness/adapter.h"

/* Splits a stream into lines. Holds at most `max` bytes; longer lines are dropped. */
struct line_splitter {
	size_t max;
	/* Trimmed, valid UTF-8, not empty. */
	void (*line)(void *data, struct str line);
	void *data;
	struct buf partial; /* a line without its end */
	bool dropping;      /* the rest of a line that is too long */
	size_t dropped;     /* lines */
};

void line_splitter_add(struct line_splitter *l, struct str piece);
void line_splitter_end(struct line_splitter *l); /* the last line needs no newline */

/* Keeps the last `max` bytes of a stream, at most twice as many. */
struct tail_buffer {
	size_t max;
	bool cut; /* earlier bytes were discarded */
	struct buf kept;
};

void tail_buffer_add(struct tail_buffer *t, struct str piece);
/* The last `chars` characters of `text`, valid UTF-8, trimmed. */
struct str output_parser_last_characters(struct str text, size_t chars);

struct output_parser {
	struct session *session;
	struct line_splitter lines, error_lines;
	struct tail_buffer errors;
	struct tail_buffer plain; /* lines that are not JSON: what a crashing program prints */
	struct buf whole;
	struct buf errors_masked, plain_masked; /* at the exit */
};

/* The session must have begun. */
void output_parser_begin(struct output_parser *p, struct session *s);
/* A `on_output` function of struct process; false: end the program. */
bool output_parser_add(void *parser, bool errors, struct str piece);
/* The program has exited: sets the session's verdict. */
void output_parser_end(struct output_parser *p, const struct process_end *end);
void output_parser_release(struct output_parser *p);

#endif
