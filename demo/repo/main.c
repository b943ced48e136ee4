#include <stdio.h>
#include "slug.h"

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: slug TITLE\n", stderr);
		return 2;
	}
	slug(argv[1]);
	puts(argv[1]);
	return 0;
}
