/*
 * table_stage.h: the rows of a stage, for the pipeline's table.
 */
#ifndef DT_RESOURCE_TABLE_STAGE_H
#define DT_RESOURCE_TABLE_STAGE_H

#include "src/config/envelope.h"

extern const struct row stage_rows[];

#endif
