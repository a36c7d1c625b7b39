/* What calls of instrumented programs that were observed are worth. */
#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/latency/latency_print.h"

void latency_print_calls(FILE *out, const struct latency_print *p)
{
    const struct hr_rec_calls *calls = &p->info->calls;
    char mean[TEXT_QUANTITY_BYTES], longest[TEXT_QUANTITY_BYTES];

    if (!p->info->has_calls)
        return;
    if (calls->scans != 0)
        columns_note(
            out, p->columns,
            "observed: a time is right within the time between two scans, %s on average, %s at "
            "most; %lu calls began and ended between two scans and are not counted",
            text_time(mean, (double)trace_info_ns(p->info, calls->scan_ticks / calls->scans)),
            text_time(longest, (double)trace_info_ns(p->info, calls->longest_ticks)),
            calls->missed);
    if (calls->beyond != 0)
        columns_note(out, p->columns, "%lu calls were deeper than a shadow stack", calls->beyond);
    if (calls->unnumbered != 0)
        columns_note(out, p->columns,
                     "%lu calls and returns were of more functions or call sites than the kernel "
                     "can number",
                     calls->unnumbered);
    if (calls->refused != 0)
        columns_note(out, p->columns, "%lu threads were more than can be observed at a time",
                     calls->refused);
}
