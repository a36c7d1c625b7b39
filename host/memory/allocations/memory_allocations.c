/* Prints rows of allocations as a table for people. */
#include "host/memory/allocations/memory_allocations.h"

#include "host/base/text.h"
#include "host/memory/allocations/memory_allocations_rows.h"
#include "host/memory/pages/memory_print.h"
#include "host/scan/reader.h"

#define LEAKS_NAMED 3u
#define FRAMES_SHOWN 16u
#define LIVE_COLUMNS 34 /* before a name in the table of what is live */
#define ROW_COLUMNS 85 /* in that of all */

static void print_name(FILE *out, const struct memory_groups *rows, const struct memory_group *row)
{
    char name[MEMORY_WHERE_BYTES], safe[4 * MEMORY_WHERE_BYTES];

    fprintf(out, "%s", text_escape(safe, sizeof safe, memory_allocations_name(rows, row, name)));
}

/* "1,000 objects, 64.00 KB" */
static void print_sum(FILE *out, uint64_t count, uint64_t bytes)
{
    char number[TEXT_QUANTITY_BYTES], size[TEXT_QUANTITY_BYTES];

    fprintf(out, "%s object%s, %s", text_count(number, count), count == 1 ? "" : "s",
            text_bytes(size, bytes));
}

static void print_head(FILE *out, const struct memory_groups *rows)
{
    const struct memory_totals *t = &rows->totals;
    const struct trace_info *info = &rows->heap.scan->info;
    const char *every = trace_info_text(info, "alloc.every", "1");
    const char *least = trace_info_text(info, "alloc.min_bytes", "0");
    char text[5][TEXT_QUANTITY_BYTES], safe[1024];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s allocation%s of %s, %s of them freed; at most %s in %s object%s, at %s\n",
            text_count(text[0], t->count), t->count == 1 ? "" : "s", text_bytes(text[1], t->bytes),
            text_count(text[2], t->freed), text_bytes(text[3], t->peak_bytes),
            text_count(text[4], t->peak), t->peak == 1 ? "" : "s",
            text_time(safe, (double)trace_info_time_ns(info, t->peak_time)));
    if (every[0] != '1' || every[1] != 0)
        fprintf(out,
                "# one in %s allocations of each thread is recorded: sums are of these alone\n",
                text_escape(safe, sizeof safe, every));
    if (least[0] != '0')
        fprintf(out, "# allocations below %s bytes are not recorded\n",
                text_escape(safe, sizeof safe, least));
}

static void print_count(FILE *out, uint64_t count, const char *what)
{
    char number[TEXT_QUANTITY_BYTES];

    if (count != 0)
        fprintf(out, "# %s %s\n", text_count(number, count), what);
}

static void print_twice(FILE *out, const struct memory_groups *rows)
{
    char number[TEXT_QUANTITY_BYTES], name[MEMORY_WHERE_BYTES], safe[4 * MEMORY_WHERE_BYTES];

    if (rows->twice == 0)
        return;
    memory_where_text(&rows->twice_at, name);
    fprintf(out, "freed twice: %s object%s, at %s\n", text_count(number, rows->twice),
            rows->twice == 1 ? "" : "s", text_escape(safe, sizeof safe, name));
}

static void print_notes(FILE *out, const struct memory_groups *rows)
{
    print_twice(out, rows);
    print_count(out, rows->unknown, "frees of memory whose allocation was not seen");
    print_count(out, rows->heap.objects.replaced,
                "objects whose end was not seen: others took their place");
    print_count(out, rows->heap.lost, "samples and calls were dropped: sums may be too small");
    print_count(out, rows->refused, "allocations found no row; --by function has fewer");
}

/* The worst first: the largest sums that were never freed. */
static void print_leaks(FILE *out, struct memory_groups *rows)
{
    memory_groups_sort(rows, MEMORY_ORDER_LEFT);
    for (uint32_t i = 0; i < rows->count && i < LEAKS_NAMED; i++) {
        const struct memory_group *row = rows->all[i];

        if (row->totals.left == 0)
            break;
        fputs("leak: ", out);
        print_sum(out, row->totals.left, row->totals.left_bytes);
        fputs(rows->by == MEMORY_BY_SIZE     ? ", of size "
              : rows->by == MEMORY_BY_THREAD ? ", allocated by "
                                             : ", allocated at ",
              out);
        print_name(out, rows, row);
        fputs(", never freed\n", out);
    }
}

static void print_stack(FILE *out, const struct memory_groups *rows, const struct memory_group *row,
                        int indent)
{
    const struct memory_site *site = memory_sites_at(&rows->heap.sites, row->site);
    char frame[MEMORY_WHERE_BYTES], safe[4 * MEMORY_WHERE_BYTES];

    for (uint32_t i = 0;
         i < FRAMES_SHOWN && memory_where_frame(rows->symbols, rows->stacks, site, i, frame); i++)
        fprintf(out, "%*s%s %s\n", indent, "", i == 0 ? "  " : "<-",
                text_escape(safe, sizeof safe, frame));
}

static void print_row(FILE *out, struct memory_groups *rows, struct memory_group *row)
{
    const struct memory_totals *t = &row->totals;
    char text[7][TEXT_QUANTITY_BYTES];

    fprintf(out, "%10s %11s %10s %10s %10s", text_bytes(text[0], t->bytes),
            text_count(text[1], t->count),
            text_bytes(text[2], t->count != 0 ? t->bytes / t->count : 0),
            text_bytes(text[3], t->peak_bytes), text_bytes(text[4], t->left_bytes));
    if (t->freed != 0)
        fprintf(out, " %10s %10s %5.0f%%  ",
                text_time(text[5], (double)latency_values_at(&row->lifetimes, 0.5)),
                text_time(text[6], (double)latency_values_at(&row->lifetimes, 0.9)),
                memory_share(row->brief, t->count));
    else
        fprintf(out, " %10s %10s %6s  ", "-", "-", "-");
    print_name(out, rows, row);
    fputc('\n', out);
    if (rows->by == MEMORY_BY_STACK)
        print_stack(out, rows, row, ROW_COLUMNS);
}

static void print_rest(FILE *out, uint32_t count, uint32_t all)
{
    if (count < all)
        fprintf(out, "# %u smaller ones; --limit 0 shows all\n", all - count);
}

static void print_all(FILE *out, struct memory_groups *rows, unsigned long limit)
{
    uint32_t count = (uint32_t)reader_shown(rows->count, limit);

    memory_groups_sort(rows, MEMORY_ORDER_BYTES);
    fprintf(out, "\n%10s %11s %10s %10s %10s %10s %10s %6s  %s\n", "allocated", "count", "average",
            "peak", "left", "median", "p90", "churn", memory_allocations_word(rows->by));
    for (uint32_t i = 0; i < count; i++)
        print_row(out, rows, rows->all[i]);
    print_rest(out, count, rows->count);
}

/* What was live at a time: at the program's peak, or at its end. */
static void print_live(FILE *out, struct memory_groups *rows, bool peak, unsigned long limit)
{
    const struct memory_totals *t = &rows->totals;
    uint64_t all = peak ? t->peak_bytes : t->left_bytes;
    uint32_t count = 0;

    memory_groups_sort(rows, peak ? MEMORY_ORDER_PEAK : MEMORY_ORDER_LEFT);
    while (count < rows->count &&
           (peak ? rows->all[count]->at_peak : rows->all[count]->totals.left) != 0)
        count++;
    fprintf(out, "\n%10s %11s %10s  %s\n", peak ? "at peak" : "left", "objects", "share",
            memory_allocations_word(rows->by));
    for (uint32_t i = 0; i < reader_shown(count, limit); i++) {
        const struct memory_group *row = rows->all[i];
        uint64_t bytes = peak ? row->at_peak_bytes : row->totals.left_bytes;
        char text[2][TEXT_QUANTITY_BYTES];

        fprintf(out, "%10s %11s %9.1f%%  ", text_bytes(text[0], bytes),
                text_count(text[1], peak ? row->at_peak : row->totals.left),
                memory_share(bytes, all));
        print_name(out, rows, row);
        fputc('\n', out);
        if (rows->by == MEMORY_BY_STACK)
            print_stack(out, rows, row, LIVE_COLUMNS);
    }
    print_rest(out, (uint32_t)reader_shown(count, limit), count);
}

static void print_mapped(FILE *out, const struct memory_groups *rows)
{
    bool any = false;

    for (int i = 0; i < MEMORY_MAPPED_KINDS; i++) {
        const struct memory_mapped_sums *sums = &rows->mapped.kinds[i];
        char text[3][TEXT_QUANTITY_BYTES];

        if (sums->calls == 0)
            continue;
        if (!any)
            fprintf(out, "\n%10s %11s %10s  %s\n", "mapped", "calls", "peak",
                    "from the kernel (allocators take theirs from here)");
        any = true;
        fprintf(out, "%10s %11s %10s  %s\n", text_bytes(text[0], sums->bytes),
                text_count(text[1], sums->calls), text_bytes(text[2], sums->peak),
                memory_mapped_name[i]);
    }
    print_count(out, rows->mapped.refused, "mappings found no room");
}

void memory_allocations_print(FILE *out, struct memory_groups *rows, enum memory_view view,
                              unsigned long limit)
{
    print_head(out, rows);
    print_notes(out, rows);
    if (view != MEMORY_VIEW_PEAK)
        print_leaks(out, rows);
    if (view == MEMORY_VIEW_LEAKS && rows->totals.left == 0)
        fputs("# everything was freed\n", out);
    else if (view == MEMORY_VIEW_ALL)
        print_all(out, rows, limit);
    else
        print_live(out, rows, view == MEMORY_VIEW_PEAK, limit);
    if (view == MEMORY_VIEW_ALL)
        print_mapped(out, rows);
}
