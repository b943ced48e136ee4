#include "src/base/error.h"
#include "src/base/clock.h"
#include "src/run/run_show.h"

#define GOOD "\033[32m"
#define BAD  "\033[33m"
#define BOLD "\033[1m"
#define DIM  "\033[2m"

void show_begin(struct show *s)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	s->begun = clock_ticks();
	s->colour = isatty(STDERR_FILENO) && !(no_colour && *no_colour) && term &&
		    strcmp(term, "dumb") != 0;
}

/* Texts of agents must not drive the terminal: control characters, C1 ones too, become `?`. */
static void add_clean(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool c1 = c == 0xc2 && i + 1 < text.n && (unsigned char)text.p[i + 1] < 0xa0;

		buf_addc(b, c == '\n' ? ' ' : c1 || c < 0x20 || c == 0x7f ? '?' : (char)c);
		i += c1;
	}
}

/* `text` in a column of `width`, in a colour. */
static void add_column(
	const struct show *s, struct buf *b, const char *colour, int width, struct str text)
{
	int fill = width - (int)text.n;

	if (s->colour && colour)
		buf_adds(b, colour);
	add_clean(b, text);
	if (s->colour && colour)
		buf_adds(b, "\033[0m");
	buf_addf(b, "%*s", fill > 0 ? fill : 0, "");
}

static void add_time(const struct show *s, struct buf *b)
{
	int64_t ms = clock_ticks() - s->begun;
	char text[32];

	(void)snprintf(text, sizeof(text), "%6.2fs  ", (double)ms / 1000);
	add_column(s, b, DIM, 0, str_of(text));
}

/* The middle of `ADR-7/researching/1`. */
static struct str state_of(const char *id)
{
	struct str s = str_of(id);

	s = str_sub(s, str_find(s, STR("/")), s.n);
	s = s.n ? str_sub(s, 1, s.n) : str_of(id);
	return str_sub(s, 0, str_find(s, STR("/")));
}

/* The first of the words is the good one. */
static bool is_good(const json *action, const char *word)
{
	const char *words = json_get_str(action, "result_format");

	return strncmp(words, word, strlen(word)) == 0 && strchr(" |", words[strlen(word)]);
}

void show_part(const struct show *s, const json *action, const char *word)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	const char *agent = json_get_str(action, "agent"),
		   *trigger = json_get_str(action, "trigger");
	const char *colour = *word && is_good(action, word) ? GOOD : BAD;

	add_time(s, &line);
	add_column(s, &line, NULL, 14, state_of(json_get_str(action, "id")));
	buf_adds(&line, "  ");
	add_column(s, &line, NULL, 14, str_of(agent ? agent : "script"));
	buf_adds(&line, "  ");
	add_column(s, &line, colour, 17, *word ? str_of(word) : STR("no answer"));
	buf_adds(&line, "  ");
	add_column(s, &line, DIM, 0,
		str_of(trigger ? trigger : json_get_str(action, "write_section")));
	log_line("%s", line.s);
}

void show_done(const struct show *s, const json *done)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	bool good = strcmp(json_get_str(done, "result"), "success") == 0;

	add_time(s, &line);
	add_column(s, &line, good ? BOLD GOOD : BOLD BAD, 14, good ? STR("done") : STR("failed"));
	buf_adds(&line, "  ");
	add_column(s, &line, NULL, 0, str_of(json_get_str(done, "reason")));
	log_line("%s", line.s);
}
