#include <ctype.h>
#include "src/machine/spec_search.h"

/*
 * Ids are ASCII, but a letter of another script beside one makes another word; quotes, dashes,
 * arrows and blanks beyond ASCII (U+00A0..00BF, U+2000..2FFF, U+3000..303F) do not.
 */
static bool other_letter(struct str t, size_t i)
{
	unsigned char lead, next;

	if (!((unsigned char)t.p[i] & 0x80))
		return false;
	while (i && ((unsigned char)t.p[i] & 0xc0) == 0x80)
		i--;
	lead = (unsigned char)t.p[i];
	next = i + 1 < t.n ? (unsigned char)t.p[i + 1] : 0;
	return lead != 0xe2 && !(lead == 0xe3 && next == 0x80) && !(lead == 0xc2 && next >= 0xa0);
}

static bool id_char(struct str t, size_t i)
{
	return i < t.n && (isalnum((unsigned char)t.p[i]) || t.p[i] == '-' || t.p[i] == '_' ||
				  other_letter(t, i));
}

/* A dot joins only when something follows it: `ADR-1.2` is another id, `ADR-1.` ends a sentence. */
static bool ends_word(struct str t, size_t end)
{
	if (end < t.n && t.p[end] == '.')
		return !id_char(t, end + 1);
	return !id_char(t, end);
}

static bool begins_word(struct str t, size_t at)
{
	if (at && t.p[at - 1] == '.')
		return at < 2 || !id_char(t, at - 2);
	return at == 0 || !id_char(t, at - 1);
}

bool text_names(struct str text, struct str id)
{
	size_t at = 0;

	while ((at += str_find(str_sub(text, at, text.n), id)) < text.n) {
		if (begins_word(text, at) && ends_word(text, at + id.n))
			return true;
		at++;
	}
	return false;
}

bool is_spec_name(struct str name)
{
	return str_starts(name, "_spec_") && str_ends(name, ".md") && name.n > strlen("_spec_.md");
}

bool spec_name_names(struct str name, struct str id)
{
	return is_spec_name(name) &&
	       text_names(str_sub(name, strlen("_spec_"), name.n - strlen(".md")), id);
}
