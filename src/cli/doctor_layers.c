#include "src/cli/doctor.h"
#include "src/sandbox/sandbox.h"

/* What commands under a policy are bound by: one line for what is there, one for each that lacks.
 */
void check_layers(struct checkup *c)
{
	CLEANUP(buf_release) struct buf there = BUF_INIT;
	struct host host;

	host_probe(&host);
	for (int l = 0; l < LAYERS; l++) {
		const struct host_layer *layer = &host.layers[l];

		if (layer->state == LAYER_ABSENT) {
			finding(c, HEALTH_WARN, "sandbox", "no %s: %s", layer_name((enum layer)l),
				layer->note);
			continue;
		}
		buf_addf(&there, "%s%s", there.len ? ", " : "", layer_name((enum layer)l));
	}
	if (there.len)
		finding(c, HEALTH_OK, "sandbox", "%s", there.s);
}
