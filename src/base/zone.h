/*
 * zone.h: the clock of a time zone, by its IANA name such as `Europe/Berlin`. The C library knows
 * one zone at a time, that of the variable TZ: a scope sets it, and its end restores what was
 * there. The program has one thread; no program is started within a scope.
 *
 *     CLEANUP(zone_leave) struct zone z = {0};
 *
 *     if (zone_enter(&z, "Europe/Berlin"))
 *             localtime_r(&t, &tm);
 */
#ifndef DT_ZONE_H
#define DT_ZONE_H

#include "src/base/base.h"

struct zone {
	bool set;
	char *old; /* NULL: TZ was not set */
};

/* Whether this host has the zone. */
bool zone_known(const char *name);
/* Whether it has zones at all. */
bool zone_installed(void);
/* False, and nothing changes, if the zone is unknown. */
bool zone_enter(struct zone *z, const char *name);
/* For CLEANUP. The C library reads TZ again in the next tzset(), which localtime_r() does not call:
 * a scope after a scope of the same zone costs nothing. */
void zone_leave(struct zone *z);

#endif
