/*
 * json_text.h: JSON as text: a strict reader that reports the position of the first fault, and the
 * position of a value. Stricter than json_parse(): whatever it accepts, json_parse() accepts with
 * the same meaning.
 */
#ifndef DT_JSON_TEXT_H
#define DT_JSON_TEXT_H

#include "src/base/json.h"

enum { JSON_TEXT_DEPTH = 100, JSON_TEXT_DIGITS = 60 };

/*
 * Parses the text of `file`. -1: ERR_INPUT with the position of the first fault. Nesting deeper
 * than JSON_TEXT_DEPTH, numbers that do not survive a round trip, duplicate keys and NUL are
 * faults.
 */
int json_text_read(json **out, const char *file, struct str text, struct error *err);

/*
 * Line and column (1-based, in characters) of the value that the JSON pointer leads to. False:
 * there is none. `text` is valid JSON.
 */
bool json_text_locate(struct str text, const char *pointer, unsigned *line, unsigned *col);

#endif
