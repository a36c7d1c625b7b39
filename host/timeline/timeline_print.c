/* Prints a table: a line of bars for each rate of each CPU or thread. */
#include "host/timeline/timeline_print.h"

#include <string.h>

#include "host/base/text.h"
#include "host/draw/sparkline.h"
#include "host/trace/source_notes.h"

#define NARROW_COLUMNS 72u /* below: shorter names, and no column of means */

struct layout {
    bool narrow;
    int label; /* columns of the names */
    uint64_t bars;
};

static struct layout layout_of(unsigned columns)
{
    bool narrow = columns < NARROW_COLUMNS;

    return (struct layout){narrow, narrow ? 14 : 22, columns - (narrow ? 14 + 9 : 22 + 2 * 9) - 1};
}

uint64_t timeline_print_bars(unsigned columns)
{
    return layout_of(columns).bars;
}

/* At most eight columns. */
static void quantity(char out[TEXT_QUANTITY_BYTES], double value)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    size_t unit = 0;

    while (value >= 99999.5 && unit < 4) {
        value /= 1000;
        unit++;
    }
    snprintf(out, TEXT_QUANTITY_BYTES, "%.*f%s",
             value >= 999.5 || value == 0 ? 0
             : value < 10                 ? 3
                                          : 1,
             value, units[unit]);
}

/* What is shown of the figures of a bin, or of several: percent where the rate is a share. */
static bool shown(const struct timeline_rates *rates, const struct timeline_rate *rate,
                  const uint64_t *words, uint64_t ticks, double *value)
{
    bool known = timeline_rate(rates, rate, words, ticks, value);

    if (rate->metric == TIMELINE_USAGE || rate->metric == TIMELINE_FLOW_SHARE)
        *value *= 100;
    return known;
}

static void sum_bins(const struct timeline *t, const struct timeline_group *group, uint64_t first,
                     uint64_t end, uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX])
{
    memset(words, 0, (TIMELINE_EVENTS + HR_EVENTS_MAX) * sizeof words[0]);
    for (uint64_t bin = first; bin < end; bin++)
        for (uint32_t i = 0; i < t->words; i++)
            words[i] += timeline_bin(t, group, bin)[i];
}

/* The figures of a column, which stands for `per_bar` bins. */
static bool column(const struct timeline_rates *rates, const struct timeline_group *group,
                   const struct timeline_rate *rate, uint64_t bar, uint64_t per_bar, double *value)
{
    const struct timeline *t = rates->timeline;
    uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX];
    uint64_t first = bar * per_bar, end = first + per_bar < t->bins ? first + per_bar : t->bins;

    sum_bins(t, group, first, end, words);
    return shown(rates, rate, words, timeline_bin_ticks(t, end) - timeline_bin_ticks(t, first),
                 value);
}

static double most_of(const struct timeline_rates *rates, const struct timeline_group *group,
                      const struct timeline_rate *rate, uint64_t per_bar)
{
    uint64_t bars = (rates->timeline->bins + per_bar - 1) / per_bar;
    double most = 0, value;

    for (uint64_t bar = 0; bar < bars; bar++)
        if (column(rates, group, rate, bar, per_bar, &value) && value > most)
            most = value;
    return most;
}

static void print_rate(FILE *out, const struct timeline_rates *rates,
                       const struct timeline_group *group, const struct timeline_rate *rate,
                       const struct layout *layout)
{
    const struct timeline *t = rates->timeline;
    uint64_t per_bar = (t->bins + layout->bars - 1) / layout->bars;
    uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX];
    char label[32], mean[TEXT_QUANTITY_BYTES], most[TEXT_QUANTITY_BYTES];
    double value, largest = most_of(rates, group, rate, per_bar);

    sum_bins(t, group, 0, t->bins, words);
    shown(rates, rate, words, t->end - t->begin, &value);
    quantity(mean, value);
    quantity(most, largest);
    timeline_rate_label(rates, rate, label, (size_t)layout->label + 1);
    fprintf(out, "%-*s", layout->label, label);
    if (!layout->narrow)
        fprintf(out, " %8s", mean);
    fprintf(out, " %8s ", most);
    for (uint64_t bar = 0; bar * per_bar < t->bins; bar++)
        fputs(column(rates, group, rate, bar, per_bar, &value)
                  ? sparkline_bar(largest > 0 ? value / largest : 0)
                  : " ",
              out);
    fputc('\n', out);
}

/* Per 1000 instructions where that is known, else per microsecond; instructions per microsecond. */
static bool in_table(const struct timeline_rates *rates, const struct timeline_group *group,
                     const struct timeline_rate *rate)
{
    const struct timeline *t = rates->timeline;
    uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX];

    switch (rate->metric) {
    case TIMELINE_COUNT:
    case TIMELINE_SAMPLE_COUNT:
    case TIMELINE_FLOW_BYTES:
        return false;
    case TIMELINE_LOST_COUNT:
        sum_bins(t, group, 0, t->bins, words);
        return words[TIMELINE_LOST] != 0;
    case TIMELINE_SKIPPED_COUNT:
        sum_bins(t, group, 0, t->bins, words);
        return words[TIMELINE_SKIPPED] != 0;
    case TIMELINE_PER_US:
        return rates->instructions < 0 || rate->event == (uint32_t)rates->instructions;
    case TIMELINE_PER_KI:
        return rates->cycles < 0 || rate->event != (uint32_t)rates->cycles;
    default:
        return true;
    }
}

/* "CPU 1", "thread 1001 (sh 1000)", "sh 1000": who it is in a trace of several processes. */
static const char *name_group(const struct timeline *t, const struct timeline_group *group,
                              char *name, size_t room)
{
    static const char *const whats[] = {"CPUs", "threads", "processes"};
    const struct trace_processes *processes = &t->info->processes;
    uint32_t process;
    char safe[128];

    if (group->key == TIMELINE_REST) {
        snprintf(name, room, "all other %s", whats[t->per]);
        return name;
    }
    process = t->per == TIMELINE_PER_PROCESS
                  ? group->key
                  : trace_processes_of(processes, group->key, UINT64_MAX);
    text_escape(safe, sizeof safe, trace_info_process_name(t->info, process, UINT64_MAX));
    if (t->per == TIMELINE_PER_PROCESS)
        snprintf(name, room, "%s %u", safe, timeline_pid(t, process));
    else if (t->per == TIMELINE_PER_THREAD && trace_processes_any(processes))
        snprintf(name, room, "thread %u (%s %u)", group->key, safe, timeline_pid(t, process));
    else
        snprintf(name, room, "%s %u", t->per == TIMELINE_PER_CPU ? "CPU" : "thread", group->key);
    return name;
}

static void print_group(FILE *out, const struct timeline_rates *rates,
                        const struct timeline_group *group, const struct layout *layout)
{
    const struct timeline *t = rates->timeline;
    char name[256];

    fprintf(out, "%-*s", layout->label, name_group(t, group, name, sizeof name));
    if (!layout->narrow)
        fprintf(out, " %8s", "mean");
    fprintf(out, " %8s\n", "max");
    for (uint32_t i = 0; i < rates->count; i++)
        if (in_table(rates, group, &rates->all[i]))
            print_rate(out, rates, group, &rates->all[i], layout);
}

static void print_head(FILE *out, const struct timeline_rates *rates, const struct layout *layout)
{
    const struct timeline *t = rates->timeline;
    uint64_t per_bar = (t->bins + layout->bars - 1) / layout->bars;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], safe[1024];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(t->info, "program.args", "unknown")));
    fprintf(out, "# from %s to ", text_time(a, (double)timeline_bin_start_ns(t, 0)));
    fprintf(out, "%s; a bar is ", text_time(a, (double)timeline_bin_start_ns(t, t->bins)));
    if (per_bar != 1)
        fprintf(out, "%s bins of ", text_count(b, per_bar));
    fprintf(out, "%s\n# the largest bar of a row is its max", text_time(a, (double)t->bin_ns));
    fputs(rates->instructions >= 0 ? "; /ki: per 1000 instructions\n" : "\n", out);
}

/* The events that rows are about. Instructions and cycles are what others are divided by. */
static uint32_t events_of(const struct timeline_rates *rates)
{
    uint32_t events = 0;

    if (rates->instructions >= 0)
        events |= 1u << rates->instructions;
    if (rates->cycles >= 0)
        events |= 1u << rates->cycles;
    for (uint32_t i = 0; i < rates->count; i++)
        if (rates->all[i].metric == TIMELINE_PER_US || rates->all[i].metric == TIMELINE_PER_KI)
            events |= 1u << rates->all[i].event;
    return events;
}

/* How much each flow was over all, and of which events that is computed. */
static void print_flows(FILE *out, const struct timeline_rates *rates)
{
    const struct timeline *t = rates->timeline;
    char text[TIMELINE_FLOW_TEXT_BYTES], safe[TIMELINE_FLOW_TEXT_BYTES], size[TEXT_QUANTITY_BYTES];

    for (uint32_t i = 0; i < rates->flow_count; i++) {
        const struct timeline_flow *flow = &rates->flows[i];
        uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX], bytes = 0;

        for (uint32_t g = 0; g < t->group_count; g++) {
            sum_bins(t, &t->groups[g], 0, t->bins, words);
            bytes += timeline_rate_bytes(rates, flow, words);
        }
        timeline_traffic_text(t->info, flow, text);
        fprintf(out, "# %s: %s = (%s) x %u bytes\n", flow->label, text_bytes(size, bytes),
                text_escape(safe, sizeof safe, text), rates->line_bytes);
    }
    if (rates->has_peak)
        fprintf(out, "# peak of one CPU, by hr bench memory: read %.0f, write %.0f MB/s\n",
                rates->peak.read_per_us, rates->peak.write_per_us);
}

static void print_foot(FILE *out, const struct timeline_rates *rates)
{
    const struct timeline *t = rates->timeline;
    char number[TEXT_QUANTITY_BYTES], safe[256], word[64];

    print_flows(out, rates);
    source_notes_print(out, t->info, events_of(rates), "* ");
    for (uint32_t i = 0; i < t->event_count; i++)
        if (t->unplaced[i] != 0)
            fprintf(out, "# %s %s more were counted after the CPUs' last samples\n",
                    text_count(number, t->unplaced[i]),
                    text_escape(safe, sizeof safe, trace_info_event_word(t->info, i, word)));
}

void timeline_print(FILE *out, const struct timeline_rates *rates, unsigned columns)
{
    struct layout layout = layout_of(columns);

    print_head(out, rates, &layout);
    for (uint32_t i = 0; i < rates->timeline->group_count; i++) {
        if (i != 0)
            fputc('\n', out);
        print_group(out, rates, &rates->timeline->groups[i], &layout);
    }
    print_foot(out, rates);
}
