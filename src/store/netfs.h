/*
 * netfs.h: tells network file systems, where a lock may hold on one machine only and a sync may
 * come back before the bytes are safe.
 */
#ifndef DT_NETFS_H
#define DT_NETFS_H

#include "src/base/buf.h"

enum netfs { NETFS_LOCAL, NETFS_REMOTE, NETFS_FUSE };

/* By the number that statfs(2) gives. NETFS_REMOTE: *name is its name, of static storage.
 * NETFS_FUSE: the number does not tell; mountinfo does. */
enum netfs netfs_of_magic(uint32_t magic, const char **name);
/* By the text of /proc/self/mountinfo: whether the mount of this device is a network's. *name
 * points into the text. */
bool netfs_of_mount(struct str mountinfo, unsigned major, unsigned minor, struct str *name);

/* 0, or -1: ERR_STATE with what to do, ERR_SYSTEM. Of a folder that is not there yet, the nearest
 * one above it counts. */
int netfs_check(const char *dir, struct error *err);

#endif
