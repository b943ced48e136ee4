#include <dlfcn.h>
#include "src/sys/library.h"

int library_open(struct library *l, struct error *err)
{
	void *handle = l->open ? NULL : dlopen(l->so, RTLD_NOW | RTLD_LOCAL);

	if (l->open)
		return 0;
	if (!handle)
		return error_set(
			err, ERR_SYSTEM, "cannot open the %s library: %s", l->what, dlerror());
	for (size_t i = 0; i < l->n; i++) {
		void *function = dlsym(handle, l->names[i].name);

		if (!function)
			return error_set(err, ERR_SYSTEM, "no '%s' in the %s library '%s'",
				l->names[i].name, l->what, l->so);
		memcpy((char *)l->functions + l->names[i].offset, &function, sizeof(function));
	}
	l->open = !l->start || l->start(err) == 0;
	return l->open ? 0 : -1;
}
