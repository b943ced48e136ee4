#ifndef SLUG_H
#define SLUG_H

/* Makes a slug of `text`, in place: it never gets longer. */
void slug(char *text);

#endif
