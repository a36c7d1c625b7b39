/* What the page says about the run in words and figures. */
#pragma once

#include "host/view/model/view_model.h"

/* Adds the machine, the clock, the events and the spreads to the JSON of a group. */
void view_facts_add(const struct view_model *model, struct view_columns *columns);

/* The figures of `hr stat --json` for all of the reader's trace.  0 or -errno as summary_from_file.
 */
int view_facts_summary(const struct reader *reader, json_t **summary);
