#include "slug.h"

void slug(char *text)
{
	(void)text;
}
