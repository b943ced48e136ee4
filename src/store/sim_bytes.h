/*
 * sim_bytes.h: the bytes of a file in memory, cheap to copy: copies share them, and who stands at
 * their end goes on behind it in place. For one thread.
 */
#ifndef DT_SIM_BYTES_H
#define DT_SIM_BYTES_H

#include "src/base/buf.h"

struct sim_blob;

struct sim_bytes {
	struct sim_blob *blob; /* NULL: empty */
	size_t n;
};

struct str sim_bytes_str(const struct sim_bytes *b);
struct sim_bytes sim_bytes_share(const struct sim_bytes *b);
void sim_bytes_drop(struct sim_bytes *b);
void sim_bytes_append(struct sim_bytes *b, struct str text);
/* Shorter: the rest is gone; longer: zeros. */
void sim_bytes_cut(struct sim_bytes *b, size_t n);
/* To write into, up to n: the caller's alone from now on. */
char *sim_bytes_own(struct sim_bytes *b);

#endif
