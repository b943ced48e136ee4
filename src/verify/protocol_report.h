/*
 * protocol_report.h: what the model check of the protocol has found, for people and for programs.
 */
#ifndef DT_PROTOCOL_REPORT_H
#define DT_PROTOCOL_REPORT_H

#include "src/verify/protocol.h"

void protocol_report(struct buf *out, const struct protocol_plan *plan,
	const struct protocol_sums *s, struct str trace);
/* One line, an object. */
void protocol_report_json(struct buf *out, const struct protocol_plan *plan,
	const struct protocol_sums *s, struct str trace);

#endif
