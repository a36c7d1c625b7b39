/* Prints the table of functions. */
#include "host/report_print.h"

#include <string.h>

#include "host/text.h"

/* Besides samples one event is shown: the one sorted by, else instructions, else the first. */
static int shown_event(const struct trace_info *info, int event)
{
    char room[16];

    if (event >= 0 || info->event_count == 0)
        return event;
    for (uint32_t i = 0; i < info->event_count; i++)
        if (strncmp(trace_info_event_name(info, i, room), "instructions", 12) == 0)
            return (int)i;
    return 0;
}

static void print_trigger(FILE *out, const struct trace_info *info)
{
    const struct hr_meta_sampling *sampling = &info->sampling;
    char number[TEXT_QUANTITY_BYTES], safe[256], room[64];

    fprintf(out, "mode %s", trace_info_mode(sampling->mode));
    if (sampling->interval_ticks != 0)
        fprintf(out, ", every %s", text_time(number, (double)trace_info_interval_ns(info)));
    else if (sampling->frequency_hz != 0)
        fprintf(out, ", %s samples/s", text_count(number, sampling->frequency_hz));
    else if (sampling->period_events != 0)
        fprintf(out, ", every %s %s", text_count(number, sampling->period_events),
                text_escape(safe, sizeof safe, trace_info_event_word(info, 0, room)));
}

static void print_head(FILE *out, const struct trace_scan *scan, const struct profile *profile,
                       int sort, int shown)
{
    const struct trace_info *info = &scan->info;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], safe[1024], room[16];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s samples, %s lost, ", text_count(a, profile->samples),
            text_count(b, scan->audit.lost));
    print_trigger(out, info);
    if (shown < 0) {
        fputs("\n# share: of samples\n", out);
        return;
    }
    text_escape(safe, sizeof safe, trace_info_event_name(info, (uint32_t)shown, room));
    fprintf(out, "\n# share: of %s; %s: rise of the counter up to each sample",
            sort < 0 ? "samples" : safe, safe);
    if (info->events[shown].meta.source != HR_SOURCE_PMU)
        fprintf(out, " (%s)", trace_info_source_words(info, (uint32_t)shown));
    fputc('\n', out);
}

static void print_row(FILE *out, const struct profile_row *row, double share, int shown)
{
    char samples[TEXT_QUANTITY_BYTES], count[TEXT_QUANTITY_BYTES], symbol[256], object[128];
    char name[240];

    if (row->name != NULL)
        snprintf(symbol, sizeof symbol, "%s%s", row->kernel ? "[kernel] " : "",
                 text_escape(name, sizeof name, row->name));
    else if (row->end == 0)
        snprintf(symbol, sizeof symbol, "[everything else]");
    else
        snprintf(symbol, sizeof symbol, "[0x%llx-0x%llx)", (unsigned long long)row->start,
                 (unsigned long long)row->end);
    if (row->object != NULL)
        text_escape(object, sizeof object, row->object);
    else
        snprintf(object, sizeof object, "%s", row->start >> 63 ? "[kernel]" : "[unknown]");
    fprintf(out, "%6.2f%%  %15s", share, text_count(samples, row->samples));
    if (shown >= 0)
        fprintf(out, "  %20s", text_count(count, row->sums[shown]));
    fprintf(out, "  %-32s  %s\n", symbol, object);
}

void report_print(FILE *out, const struct trace_scan *scan, const struct profile *profile,
                  int event, unsigned long limit)
{
    int shown = shown_event(&scan->info, event);
    uint64_t all = event < 0 ? profile->samples : profile->sums[event];
    char name[64], room[16];

    print_head(out, scan, profile, event, shown);
    fprintf(out, "# %5s  %15s", "share", "samples");
    if (shown >= 0)
        fprintf(out, "  %20s",
                text_escape(name, sizeof name,
                            trace_info_event_name(&scan->info, (uint32_t)shown, room)));
    fprintf(out, "  %-32s  %s\n", "symbol", "object");
    for (uint32_t i = 0; i < profile->row_count && (limit == 0 || i < limit); i++) {
        const struct profile_row *row = &profile->rows[i];
        uint64_t part = event < 0 ? row->samples : row->sums[event];

        print_row(out, row, all != 0 ? 100.0 * (double)part / (double)all : 0.0, shown);
    }
    if (limit != 0 && profile->row_count > limit)
        fprintf(out, "# %lu more; --limit 0 shows all\n", profile->row_count - limit);
}
