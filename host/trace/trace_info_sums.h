/* Adds up what CPUs report at the end of a trace.  Each of them counts once; sums saturate. */
#pragma once

#include "host/trace/trace_info.h"

enum trace_status trace_info_take_nmi(struct trace_info *info, const struct trace_record *record);
enum trace_status trace_info_take_activity(struct trace_info *info,
                                           const struct trace_record *record);
enum trace_status trace_info_take_calls(struct trace_info *info, const struct trace_record *record);
enum trace_status trace_info_take_share(struct trace_info *info, const struct trace_record *record);
