/* Prints sets, looks and ranges. */
#include "host/memory/memory_print.h"

#include <stdlib.h>

#include "host/base/text.h"
#include "host/draw/sparkline.h"

#define LINE_START 13u /* columns before the bars */

static uint64_t bytes_of(uint64_t pages)
{
    return pages * MEMORY_PAGE_BYTES;
}

static double share(uint64_t part, uint64_t all)
{
    return all != 0 ? 100.0 * (double)part / (double)all : 0;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Of the sets of one window: median, p90 and the largest. */
static void print_set(FILE *out, const struct memory *memory, int window, uint64_t *sizes)
{
    char text[3][TEXT_QUANTITY_BYTES], time[TEXT_QUANTITY_BYTES];
    uint32_t n = memory->look_count;

    for (uint32_t i = 0; i < n; i++)
        sizes[i] = memory->looks[i].set[window];
    qsort(sizes, n, sizeof *sizes, by_size);
    fprintf(out, "%-12s %10s %10s %10s  touched in the last %s\n", window == 0 ? "working set" : "",
            text_bytes(text[0], bytes_of(sizes[n / 2])),
            text_bytes(text[1], bytes_of(sizes[(uint64_t)n * 9 / 10])),
            text_bytes(text[2], bytes_of(sizes[n - 1])),
            text_time(time, (double)memory_window[window] * (double)memory->interval_ns));
}

/* The set of one look over time: each bar is the largest of its looks. */
static void print_time(FILE *out, const struct memory *memory)
{
    unsigned bars = sparkline_columns() - LINE_START;
    uint64_t most = 1;

    if (bars > memory->look_count)
        bars = memory->look_count;
    for (uint32_t i = 0; i < memory->look_count; i++)
        most = memory->looks[i].set[0] > most ? memory->looks[i].set[0] : most;
    fprintf(out, "%-12s ", "over time");
    for (unsigned bar = 0; bar < bars; bar++) {
        uint64_t first = (uint64_t)bar * memory->look_count / bars;
        uint64_t end = (bar + 1ull) * memory->look_count / bars, largest = 0;

        for (uint64_t i = first; i < end; i++)
            largest = memory->looks[i].set[0] > largest ? memory->looks[i].set[0] : largest;
        fputs(sparkline_bar((double)largest / (double)most), out);
    }
    fputc('\n', out);
}

static int by_touched(const void *a, const void *b)
{
    const struct memory_range *x = *(struct memory_range *const *)a;
    const struct memory_range *y = *(struct memory_range *const *)b;

    if (x->touched != y->touched)
        return x->touched > y->touched ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The ranges, the largest first; NULL if memory runs out.  The caller frees the array. */
static const struct memory_range **sorted(const struct memory *memory)
{
    const struct memory_range **all = malloc((memory->range_count + 1) * sizeof(void *));

    for (size_t i = 0; all != NULL && i < memory->range_count; i++)
        all[i] = &memory->ranges[i];
    if (all != NULL)
        qsort(all, memory->range_count, sizeof(void *), by_touched);
    return all;
}

static size_t shown(size_t count, unsigned long limit)
{
    return limit != 0 && limit < count ? limit : count;
}

static void print_range(FILE *out, const struct memory *memory, const struct memory_range *r)
{
    char size[3][TEXT_QUANTITY_BYTES], time[2][TEXT_QUANTITY_BYTES], safe[4 * MEMORY_LABEL_BYTES];

    fprintf(out, "%10s %7.1f%% %7.1f%% %10s %10s %10s %10s %7u  %-14lx %s\n",
            text_bytes(size[0], bytes_of(r->touched)), share(r->written, r->touched),
            share(r->cold, r->touched), text_bytes(size[1], bytes_of(r->sum) / memory->look_count),
            text_bytes(size[2], bytes_of(r->peak)),
            text_time(time[0], (double)r->first * (double)memory->interval_ns),
            text_time(time[1], (double)memory_look_ns(memory, r->last)), r->pid, r->start,
            text_escape(safe, sizeof safe, r->label));
}

static void print_ranges(FILE *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_range **all = sorted(memory);
    size_t count = shown(memory->range_count, limit);

    if (all == NULL)
        return;
    fprintf(out, "\n%10s %8s %8s %10s %10s %10s %10s %7s  %-14s %s\n", "touched", "written", "cold",
            "mean set", "peak set", "from", "until", "process", "at", "what");
    for (size_t i = 0; i < count; i++)
        print_range(out, memory, all[i]);
    if (count < memory->range_count)
        fprintf(out, "# %zu smaller ones; --limit 0 shows all\n", memory->range_count - count);
    free(all);
}

static void print_head(FILE *out, const struct memory *memory)
{
    const struct trace_info *info = memory->info;
    char count[TEXT_QUANTITY_BYTES], time[TEXT_QUANTITY_BYTES], safe[1024];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s looks, one every %s, at the accessed and dirty bits of the page tables\n",
            text_count(count, memory->look_count), text_time(time, (double)memory->interval_ns));
    if (memory->ignored != 0)
        fprintf(out, "# %lu records were damaged or beyond what this hr takes\n", memory->ignored);
}

void memory_print(FILE *out, const struct memory *memory, unsigned long limit)
{
    uint64_t *sizes = malloc(memory->look_count * sizeof *sizes);
    char touched[TEXT_QUANTITY_BYTES];

    print_head(out, memory);
    fprintf(out, "%-12s %10s %10s %10s\n", "", "median", "p90", "largest");
    for (int w = 0; w < MEMORY_WINDOWS && sizes != NULL; w++)
        print_set(out, memory, w, sizes);
    free(sizes);
    print_time(out, memory);
    fprintf(out,
            "%-12s %10s in all, %.1f%% of it written; %.1f%% cold: not touched in the last tenth\n",
            "touched", text_bytes(touched, bytes_of(memory->touched)),
            share(memory->written, memory->touched), share(memory->cold, memory->touched));
    print_ranges(out, memory, limit);
}

void memory_print_looks(FILE *out, const struct memory *memory, unsigned long limit)
{
    char time[TEXT_QUANTITY_BYTES], text[5][TEXT_QUANTITY_BYTES];

    print_head(out, memory);
    fprintf(out, "%10s %10s %10s %10s %10s %10s\n", "until", "touched", "written", "new",
            "10 looks", "100 looks");
    for (size_t i = 0; i < shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        fprintf(out, "%10s %10s %10s %10s %10s %10s\n",
                text_time(time, (double)memory_look_ns(memory, (uint32_t)i)),
                text_bytes(text[0], bytes_of(look->set[0])),
                text_bytes(text[1], bytes_of(look->written)),
                text_bytes(text[2], bytes_of(look->fresh)),
                text_bytes(text[3], bytes_of(look->set[1])),
                text_bytes(text[4], bytes_of(look->set[2])));
    }
}

static void csv_looks(struct output *out, const struct memory *memory, unsigned long limit)
{
    output_text(out, "time_ns,touched_bytes,written_bytes,new_bytes,set_10_bytes,set_100_bytes\n");
    for (size_t i = 0; i < shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        output_csv_print(out, "%lu,%lu,%lu,%lu,%lu,%lu\n", memory_look_ns(memory, (uint32_t)i),
                         bytes_of(look->set[0]), bytes_of(look->written), bytes_of(look->fresh),
                         bytes_of(look->set[1]), bytes_of(look->set[2]));
    }
}

void memory_rows_csv(struct output *out, const struct memory *memory, bool by_look,
                     unsigned long limit)
{
    const struct memory_range **all = by_look ? NULL : sorted(memory);

    if (by_look)
        csv_looks(out, memory, limit);
    if (all == NULL)
        return;
    output_text(out, "pid,start,end,touched_bytes,written_bytes,cold_bytes,mean_set_bytes,"
                     "peak_set_bytes,first_ns,last_ns,what\n");
    for (size_t i = 0; i < shown(memory->range_count, limit); i++) {
        const struct memory_range *r = all[i];

        output_csv_print(out, "%u,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%s\n", r->pid, r->start,
                         r->end, bytes_of(r->touched), bytes_of(r->written), bytes_of(r->cold),
                         bytes_of(r->sum) / memory->look_count, bytes_of(r->peak),
                         r->first * memory->interval_ns, memory_look_ns(memory, r->last), r->label);
    }
    free(all);
}

static void json_looks(struct output *out, const struct memory *memory, unsigned long limit)
{
    output_text(out, ",\"looks\":[");
    for (size_t i = 0; i < shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"time_ns\":%lu,\"touched_bytes\":%lu,\"written_bytes\":%lu,"
                          "\"new_bytes\":%lu,\"set_10_bytes\":%lu,\"set_100_bytes\":%lu}",
                          memory_look_ns(memory, (uint32_t)i), bytes_of(look->set[0]),
                          bytes_of(look->written), bytes_of(look->fresh), bytes_of(look->set[1]),
                          bytes_of(look->set[2]));
    }
    output_text(out, "]}\n");
}

void memory_rows_json(struct output *out, const struct memory *memory, bool by_look,
                      unsigned long limit)
{
    const struct memory_range **all = by_look ? NULL : sorted(memory);

    output_json_print(out,
                      "{\"interval_ns\":%lu,\"look_count\":%u,\"touched_bytes\":%lu,"
                      "\"written_bytes\":%lu,\"cold_bytes\":%lu,\"ignored\":%lu",
                      memory->interval_ns, memory->look_count, bytes_of(memory->touched),
                      bytes_of(memory->written), bytes_of(memory->cold), memory->ignored);
    if (by_look) {
        json_looks(out, memory, limit);
        return;
    }
    output_text(out, ",\"ranges\":[");
    for (size_t i = 0; all != NULL && i < shown(memory->range_count, limit); i++) {
        const struct memory_range *r = all[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(
            out,
            "{\"pid\":%u,\"start\":%lu,\"end\":%lu,\"touched_bytes\":%lu,\"written_bytes\":%lu,"
            "\"cold_bytes\":%lu,\"mean_set_bytes\":%lu,\"peak_set_bytes\":%lu,\"first_ns\":%lu,"
            "\"last_ns\":%lu,\"what\":%s}",
            r->pid, r->start, r->end, bytes_of(r->touched), bytes_of(r->written), bytes_of(r->cold),
            bytes_of(r->sum) / memory->look_count, bytes_of(r->peak),
            r->first * memory->interval_ns, memory_look_ns(memory, r->last), r->label);
    }
    output_text(out, "]}\n");
    free(all);
}
