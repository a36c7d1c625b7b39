/* The program's regions in the summary's JSON.  For host/summary/summary_json.c. */
#ifndef HOST_SUMMARY_SUMMARY_JSON_REGIONS_H
#define HOST_SUMMARY_SUMMARY_JSON_REGIONS_H

#include <jansson.h>

#include "host/trace/trace_info.h"

/* Returns an array, empty if the program named no region; NULL if out of memory. */
json_t *summary_json_regions(const struct trace_info *info);

#endif
