/* Prints sets, looks and ranges. */
#include "host/memory/pages/memory_print.h"

#include <stdlib.h>

#include "host/base/text.h"
#include "host/draw/sparkline.h"
#include "host/scan/reader.h"

#define LINE_START 13u /* columns before the bars */

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
            text_bytes(text[0], memory_bytes(sizes[n / 2])),
            text_bytes(text[1], memory_bytes(sizes[(uint64_t)n * 9 / 10])),
            text_bytes(text[2], memory_bytes(sizes[n - 1])),
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

const struct memory_range **memory_sorted(const struct memory *memory)
{
    const struct memory_range **all = malloc((memory->range_count + 1) * sizeof(void *));

    for (size_t i = 0; all != NULL && i < memory->range_count; i++)
        all[i] = &memory->ranges[i];
    if (all != NULL)
        qsort(all, memory->range_count, sizeof(void *), by_touched);
    return all;
}

static void print_range(FILE *out, const struct memory *memory, const struct memory_range *r)
{
    char size[3][TEXT_QUANTITY_BYTES], time[2][TEXT_QUANTITY_BYTES];
    char safe[2][4 * MEMORY_LABEL_BYTES];

    fprintf(out, "%10s %7.1f%% %7.1f%% %10s %10s %10s %10s %7u  %-14lx %-20s %s\n",
            text_bytes(size[0], memory_bytes(r->touched)), memory_share(r->written, r->touched),
            memory_share(r->cold, r->touched),
            text_bytes(size[1], memory_bytes(r->sum) / memory->look_count),
            text_bytes(size[2], memory_bytes(r->peak)),
            text_time(time[0], (double)r->first * (double)memory->interval_ns),
            text_time(time[1], (double)memory_look_ns(memory, r->last)), r->pid, r->start,
            text_escape(safe[0], sizeof safe[0], r->label),
            text_escape(safe[1], sizeof safe[1], memory_toucher(memory, r)));
}

static void print_ranges(FILE *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_range **all = memory_sorted(memory);
    size_t count = reader_shown(memory->range_count, limit);

    if (all == NULL)
        return;
    fprintf(out, "\n%10s %8s %8s %10s %10s %10s %10s %7s  %-14s %-20s %s\n", "touched", "written",
            "cold", "mean set", "peak set", "from", "until", "process", "at", "what",
            memory->fault_count != 0 ? "first touched by" : "");
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
            "touched", text_bytes(touched, memory_bytes(memory->touched)),
            memory_share(memory->written, memory->touched),
            memory_share(memory->cold, memory->touched));
    fprintf(
        out,
        "%-12s %.1f%% of what a look saw was touched in the look before, too; %s side by side on "
        "average\n",
        "locality", memory_share(memory->again, memory->touches),
        text_bytes(touched, memory_bytes(memory->touches) / memory->stretches));
    print_ranges(out, memory, limit);
}

void memory_print_looks(FILE *out, const struct memory *memory, unsigned long limit)
{
    char time[TEXT_QUANTITY_BYTES], text[5][TEXT_QUANTITY_BYTES];

    print_head(out, memory);
    fprintf(out, "%10s %10s %10s %10s %10s %10s\n", "until", "touched", "written", "new",
            "10 looks", "100 looks");
    for (size_t i = 0; i < reader_shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        fprintf(out, "%10s %10s %10s %10s %10s %10s\n",
                text_time(time, (double)memory_look_ns(memory, (uint32_t)i)),
                text_bytes(text[0], memory_bytes(look->set[0])),
                text_bytes(text[1], memory_bytes(look->written)),
                text_bytes(text[2], memory_bytes(look->fresh)),
                text_bytes(text[3], memory_bytes(look->set[1])),
                text_bytes(text[4], memory_bytes(look->set[2])));
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct memory_toucher *x = *(struct memory_toucher *const *)a;
    const struct memory_toucher *y = *(struct memory_toucher *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

const struct memory_toucher **memory_sorted_touchers(const struct memory *memory)
{
    const struct memory_toucher **all = malloc((memory->toucher_count + 1) * sizeof(void *));

    for (size_t i = 0; all != NULL && i < memory->toucher_count; i++)
        all[i] = &memory->touchers[i];
    if (all != NULL)
        qsort(all, memory->toucher_count, sizeof(void *), by_bytes);
    return all;
}

void memory_print_touchers(FILE *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_toucher **all = memory_sorted_touchers(memory);
    char text[3][TEXT_QUANTITY_BYTES], safe[3][4 * MEMORY_LABEL_BYTES];
    size_t count = reader_shown(memory->toucher_count, limit);

    print_head(out, memory);
    if (all == NULL)
        return;
    fprintf(out, "%10s %10s %8s %10s %10s  %-20s %-20s %s\n", "touched", "faults", "written",
            "from", "until", "most of it in", "file", "by function");
    for (size_t i = 0; i < count; i++) {
        const struct memory_toucher *t = all[i];

        fprintf(out, "%10s %10lu %7.1f%% %10s %10s  %-20s %-20s %s\n",
                text_bytes(text[0], t->bytes), t->faults, memory_share(t->written, t->bytes),
                text_time(text[1], (double)t->first_ns), text_time(text[2], (double)t->last_ns),
                text_escape(safe[0], sizeof safe[0], t->range != NULL ? t->range->label : ""),
                text_escape(safe[1], sizeof safe[1], t->object),
                text_escape(safe[2], sizeof safe[2], t->name));
    }
    if (count < memory->toucher_count)
        fprintf(out, "# %zu smaller ones; --limit 0 shows all\n", memory->toucher_count - count);
    free(all);
}
