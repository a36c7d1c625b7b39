/* hr memory: which pages the program used, when, and how many at a time; what it allocated; what it
 * accessed. */
#include <argp.h>
#include <errno.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/memory/allocations/memory_allocations.h"
#include "host/memory/map/memory_map_view.h"
#include "host/memory/memory_view.h"
#include "host/memory/pages/memory_print.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

#define TABLE_LIMIT 20u

enum { KEY_PEAK = 512, KEY_LEAKS, KEY_LINES, KEY_MAP, KEY_RANGE, KEY_BLOCK };

/* From BY_ROWS on: of allocations; by function and line of accesses, where there are any; the last
 * one of these alone. */
enum by {
    BY_DEFAULT,
    BY_RANGE,
    BY_LOOK,
    BY_TOUCHER,
    BY_ROWS,
    BY_OBJECT = BY_ROWS + MEMORY_BY_THREAD + 1
};

struct options {
    struct reader reader;
    unsigned int by; /* enum by, or BY_ROWS + enum memory_by */
    enum memory_view view;
    struct memory memory;
    struct memory_groups rows;
    struct symbols *symbols;
    bool shares; /* --lines */
    bool accesses; /* it is about accesses */
    struct memory_view_accesses touched;
    struct memory_map_view map;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_BLOCK, OPTION_BYTES, offsetof(struct options, map.wish.block_bytes), "block",
         "not a size, such as 64 or 4K", 1, 1ull << 40},
        {0},
    };
    static const char *const words[] = {"range",    "look", "first-touch", "site",   "stack",
                                        "function", "line", "size",        "thread", "object"};
    struct options *options = state->input;
    int found;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case 'b':
        found = option_word(argument, words, ARRAY_COUNT(words));
        if (found < 0)
            argp_error(state,
                       "--by %s: unknown; choose range, look or first-touch, for allocations "
                       "site, stack, function, line, size or thread, or for accesses object, "
                       "function or line",
                       argument);
        options->by = BY_RANGE + (unsigned int)found;
        return 0;
    case KEY_PEAK:
        options->view = MEMORY_VIEW_PEAK;
        return 0;
    case KEY_LEAKS:
        options->view = MEMORY_VIEW_LEAKS;
        return 0;
    case KEY_LINES:
        options->shares = true;
        return 0;
    case KEY_MAP:
        memory_map_view_parse(&options->map, argument, state);
        return 0;
    case KEY_RANGE:
        memory_map_range(argument, &options->map.wish.from_address, &options->map.wish.to_address,
                         state);
        return 0;
    case ARGP_KEY_END:
        if (!options->map.wanted &&
            (options->map.wish.to_address != 0 || options->map.wish.block_bytes != 0))
            argp_error(state, "--range and --block work only with --map; leave them out");
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

static bool wants_pages(const struct options *options)
{
    return options->view == MEMORY_VIEW_ALL && options->by < BY_ROWS;
}

static bool wants_allocations(const struct options *options)
{
    return options->by == BY_DEFAULT || options->by >= BY_ROWS;
}

/* A second walk, because names need what the whole trace says. */
static int read_allocations(struct options *options)
{
    struct trace_scan *scan = &options->reader.scan;
    enum memory_by by = options->by >= BY_ROWS               ? options->by - BY_ROWS
                        : options->view == MEMORY_VIEW_LEAKS ? MEMORY_BY_STACK
                                                             : MEMORY_BY_SITE;
    int error;

    if (!wants_allocations(options) || !memory_heap_any(&scan->info))
        return 0;
    memory_groups_init(&options->rows, scan, by);
    error = trace_scan_rewind(scan);
    options->rows.symbols = options->symbols;
    if (error == 0)
        error = memory_groups_read(&options->rows, scan);
    return error;
}

/* Whether the rows are of accesses, and which. */
static bool wants_accesses(struct options *options, bool any)
{
    unsigned int by = options->by;

    options->touched.of = options->shares                      ? MEMORY_VIEW_SHARING
                          : by == BY_ROWS + MEMORY_BY_FUNCTION ? MEMORY_VIEW_FUNCTIONS
                          : by == BY_ROWS + MEMORY_BY_LINE     ? MEMORY_VIEW_LINES
                                                               : MEMORY_VIEW_OBJECTS;
    if (options->shares || by == BY_OBJECT)
        return true;
    return any && options->view == MEMORY_VIEW_ALL &&
           (by == BY_DEFAULT || options->touched.of != MEMORY_VIEW_OBJECTS);
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct trace_scan *scan = &reader->scan;
    struct trace_visitor visitor = {0};
    struct trace_head head = {0};
    int error;

    if (options->map.wanted)
        return memory_map_view_read(&options->map, reader);
    error = trace_scan_head(scan, &head);
    options->accesses = wants_accesses(options, head.accesses);
    if (error == 0 && options->accesses)
        return head.accesses ? memory_view_read(&options->touched, reader) : 0;
    if (wants_pages(options))
        visitor = memory_visitor;
    visitor.context = &options->memory;
    if (error == 0)
        error = memory_init(&options->memory, scan);
    if (error == 0)
        error = trace_scan_run(scan, &visitor);
    if (error == 0)
        error = symbols_open(&options->symbols, &scan->info, scan->symbols);
    if (error == 0 && wants_pages(options))
        error = memory_finish(&options->memory, options->symbols);
    if (error == 0 || error == -ENODATA)
        error = read_allocations(options);
    return error;
}

static enum memory_rows pages_of(const struct options *options)
{
    return options->by == BY_LOOK      ? MEMORY_LOOKS
           : options->by == BY_TOUCHER ? MEMORY_TOUCHERS
                                       : MEMORY_RANGES;
}

static int present_rows(struct options *options, bool allocations)
{
    const struct reader *reader = &options->reader;
    unsigned long limit = reader_limit(reader, TABLE_LIMIT);
    bool csv = reader->format == READER_CSV;
    struct output *out = reader_output_open();

    if (allocations) {
        memory_groups_sort(&options->rows, options->view == MEMORY_VIEW_PEAK ? MEMORY_ORDER_PEAK
                                           : options->view == MEMORY_VIEW_LEAKS
                                               ? MEMORY_ORDER_LEFT
                                               : MEMORY_ORDER_BYTES);
        (csv ? memory_allocations_csv : memory_allocations_json)(out, &options->rows, limit);
    } else {
        memory_rows(out, !csv, &options->memory, pages_of(options), limit);
    }
    return reader_output_close(out);
}

static int present(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    bool pages = options->memory.run_count != 0 && wants_pages(options);
    bool allocations = memory_heap_any(&reader->scan.info) && wants_allocations(options);
    const char *there = selection_is_all(&reader->selection) ? "" : " there";

    if (options->map.wanted)
        return memory_map_view_present(&options->map, reader);
    if (options->accesses)
        return memory_view_present(&options->touched, reader);
    if (!pages && !allocations && !wants_pages(options))
        return error_exit(HR_EXIT_FAILED,
                          "%s: no allocations are recorded%s; 'hr run --alloc' records them",
                          reader->path, there);
    if (!pages && !allocations)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no pages are recorded%s; 'hr run --pages 1ms' records them, and "
                          "'hr run --alloc' allocations",
                          reader->path, there);
    reader_warn(&reader->scan, reader->path, NULL);
    if (reader->format != READER_TABLE)
        return present_rows(options, allocations);
    if (allocations)
        memory_allocations_print(stdout, &options->rows, options->view,
                                 reader_limit(reader, TABLE_LIMIT));
    if (allocations && pages)
        putchar('\n');
    if (pages && options->by == BY_LOOK)
        memory_print_looks(stdout, &options->memory, reader_limit(reader, 0));
    else if (pages && options->by == BY_TOUCHER)
        memory_print_touchers(stdout, &options->memory, reader_limit(reader, TABLE_LIMIT));
    else if (pages)
        memory_print(stdout, &options->memory, reader_limit(reader, TABLE_LIMIT));
    return HR_EXIT_OK;
}

static void free_memory(struct reader *reader)
{
    struct options *options = (struct options *)reader;

    memory_free(&options->memory);
    memory_groups_free(&options->rows);
    memory_view_free(&options->touched);
    memory_map_free(&options->map.map);
    symbols_close(options->symbols);
}

static const struct argp_option table[] = {
    {"by", 'b', "WHAT", 0,
     "pages by range (default), look or first-touch (functions that touched pages first); "
     "allocations by site (default), stack, function, line, size or thread; accesses by object "
     "(default), function or line",
     0},
    {"peak", KEY_PEAK, 0, 0, "Show what was live when the program had most allocated", 0},
    {"leaks", KEY_LEAKS, 0, 0, "Show what was never freed, with call stacks", 0},
    {"lines", KEY_LINES, 0, 0,
     "Show cache lines that several threads use, and one of them writes: false sharing", 0},
    {"map", KEY_MAP, "WHAT", OPTION_ARG_OPTIONAL,
     "Show addresses over time: of accesses, pages or allocations (default: the first of these "
     "that the trace has)",
     0},
    {"range", KEY_RANGE, "START-END", 0, "In the map, these addresses alone, in hexadecimal", 0},
    {"block", KEY_BLOCK, "SIZE", 0, "In the map, each row is so many bytes", 0},
    {"limit", 'n', "N", 0, "Show N rows (in a table: default 20; 0: all), in the map N objects", 0},
    {"format", 'f', "FORMAT", 0,
     "table (default), csv or json; where a trace has both, of the allocations unless --by "
     "names a row of pages",
     0},
    {0},
};

static const struct argp argp = {
    .options = table,
    .children = reader_symbols,
    .parser = parse,
    .args_doc = "[FILE]",
    .doc = "Show what memory the program allocated, what it accessed and how slowly, and which "
           "pages it read and wrote, when, and how many at a time (trace: default hr.bin)."
           "\v'hr run --alloc' records calls of malloc, operator new and their kin, and mappings. "
           "An object counts from the allocator's return until it is freed; what its program left "
           "at its end is a leak here. Churn is the share of objects that were freed within "
           "100 us.\n\n"
           "'hr run --pages TIME' looks at the processor's page tables every TIME. A page is "
           "touched if the program read, wrote or executed it since the look before; what a "
           "system call reads or writes for the program does not count. A 2 MiB page counts "
           "whole; --pages-split has none. A range is cold where it was not touched in the last "
           "tenth of the looks. Who touched a page first is known from its page fault, or "
           "from the system call that filled it.\n\n"
           "'hr run --mode pebs' has the processor record accesses: their rows come first where "
           "a trace has more than one of these. With --alloc, too, objects of the heap are named "
           "by what allocated them.\n\n"
           "Examples:\n"
           "  hr run --mode pebs ./my-program\n"
           "  hr memory                         the objects that cost most time\n"
           "  hr memory --lines                 false sharing\n"
           "  hr run --alloc -g ./my-program\n"
           "  hr memory                         leaks, and where most was allocated\n"
           "  hr memory --leaks                 what was never freed, with call stacks\n"
           "  hr memory --peak                  what was live at the maximum\n"
           "  hr run --pages 1ms ./my-program\n"
           "  hr memory                         working sets, and the 20 largest ranges\n"
           "  hr memory --by look -f csv        the sets over time\n"
           "  hr memory --by first-touch        which functions made the memory grow\n"
           "  hr memory --map                   addresses over time, as letters\n"
           "  hr plot -p memory -o memory.svg   the same as a picture\n",
};

int memory_command(int argc, char **argv)
{
    static const struct reader_command command = {read_trace, present, free_memory};
    struct options options = {0};

    reader_command_line(&options.reader, &argp, argc, argv);
    return reader_run(&options.reader, &command);
}
