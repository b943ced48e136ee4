#include <sys/stat.h>
#include <time.h>
#include "src/base/buf.h"
#include "src/base/zone.h"

#define ZONES "/usr/share/zoneinfo/"

bool zone_known(const char *name)
{
	char path[256];
	struct stat st;
	int n = snprintf(path, sizeof(path), ZONES "%s", name);

	return *name && *name != '/' && !strstr(name, "..") && n < (int)sizeof(path) &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool zone_installed(void)
{
	return zone_known("Etc/UTC");
}

bool zone_enter(struct zone *z, const char *name)
{
	const char *old = getenv("TZ");

	*z = (struct zone){.set = zone_known(name)};
	if (!z->set)
		return false;
	z->old = old ? str_dup(str_of(old)) : NULL;
	(void)setenv("TZ", name, 1);
	tzset();
	return true;
}

void zone_leave(struct zone *z)
{
	if (z->set && z->old)
		(void)setenv("TZ", z->old, 1);
	else if (z->set)
		(void)unsetenv("TZ");
	base_free(&z->old);
	z->set = false;
}
