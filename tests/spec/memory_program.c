/* The program under test with its stores in a memory that all its processes share. */
#include <stdlib.h>
#include "tests/lib/memory_store.h"

static void __attribute__((constructor)) install(void)
{
	if (getenv("HOME"))
		memory_store_share(getenv("HOME"), false);
}
