#include <dlfcn.h>
#include "src/sys/library.h"

int library_open(const char *so, const char *what, const struct library_name *names, size_t n,
	void *lib, struct error *err)
{
	void *handle = dlopen(so, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return error_set(
			err, ERR_SYSTEM, "cannot open the %s library: %s", what, dlerror());
	for (size_t i = 0; i < n; i++) {
		void *function = dlsym(handle, names[i].name);

		if (!function)
			return error_set(err, ERR_SYSTEM, "no '%s' in the %s library '%s'",
				names[i].name, what, so);
		memcpy((char *)lib + names[i].offset, &function, sizeof(function));
	}
	return 0;
}
