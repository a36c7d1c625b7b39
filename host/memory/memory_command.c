/* hr memory: which pages the program used, when, and how many at a time. */
#include <argp.h>
#include <errno.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/memory/memory_print.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

#define TABLE_LIMIT 20u

struct options {
    struct reader reader;
    enum memory_rows rows;
    struct memory memory;
    struct symbols *symbols;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const char *const words[] = {
        [MEMORY_RANGES] = "range", [MEMORY_LOOKS] = "look", [MEMORY_TOUCHERS] = "first-touch"};
    struct options *options = state->input;
    int found;

    if (key != 'b')
        return reader_parse(key, argument, state);
    found = option_word(argument, words, ARRAY_COUNT(words));
    if (found < 0)
        argp_error(state, "--by %s: unknown; choose range, look or first-touch", argument);
    options->rows = (enum memory_rows)found;
    return 0;
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct trace_scan *scan = &reader->scan;
    struct trace_visitor visitor = memory_visitor;
    int error = memory_init(&options->memory, scan);

    visitor.context = &options->memory;
    if (error == 0)
        error = trace_scan_run(scan, &visitor);
    if (error == 0)
        error = symbols_open(&options->symbols, &scan->info, scan->symbols);
    if (error == 0)
        error = memory_finish(&options->memory, options->symbols);
    return error == -ENODATA ? 0 : error;
}

static int present(struct reader *reader)
{
    const struct options *options = (const struct options *)reader;
    const struct memory *memory = &options->memory;
    struct output *out;
    unsigned long limit = reader_limit(reader, TABLE_LIMIT);

    if (memory->run_count == 0)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no pages are recorded%s; 'hr run --pages 1ms' records them",
                          reader->path, selection_is_all(&reader->selection) ? "" : " there");
    reader_warn(&reader->scan, reader->path, NULL);
    if (reader->format == READER_TABLE) {
        if (options->rows == MEMORY_LOOKS)
            memory_print_looks(stdout, memory, reader_limit(reader, 0));
        else if (options->rows == MEMORY_TOUCHERS)
            memory_print_touchers(stdout, memory, limit);
        else
            memory_print(stdout, memory, limit);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (reader->format == READER_CSV ? memory_rows_csv : memory_rows_json)(out, memory, options->rows,
                                                                        limit);
    return reader_output_close(out);
}

static void free_memory(struct reader *reader)
{
    struct options *options = (struct options *)reader;

    memory_free(&options->memory);
    symbols_close(options->symbols);
}

int memory_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"by", 'b', "WHAT", 0,
         "range (default): where the pages are; look: one row a look; first-touch: the functions "
         "that touched pages first",
         0},
        {"limit", 'n', "N", 0, "Show N rows (ranges in a table: default 20; 0: all)", 0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc =
            "Show which pages the program read and wrote, when, and how many at a time (trace: "
            "default hr.bin)."
            "\v'hr run --pages TIME' looks at the processor's page tables every TIME. A page is "
            "touched if the program read, wrote or executed it since the look before; what a "
            "system call reads or writes for the program does not count. A 2 MiB page counts "
            "whole; --pages-split has none. A range is cold where it was not touched in the last "
            "tenth of the looks. Who touched a page first is known from its page fault; pages that "
            "a system call filled have none.\n\n"
            "Examples:\n"
            "  hr run --pages 1ms ./my-program\n"
            "  hr memory                         working sets, and the 20 largest ranges\n"
            "  hr memory --by look -f csv        the sets over time\n"
            "  hr memory --by first-touch        which functions made the memory grow\n"
            "  hr plot -p memory -o memory.svg   addresses over time\n",
    };
    static const struct reader_command command = {read_trace, present, free_memory};
    struct options options = {0};

    reader_command_line(&options.reader, &argp, argc, argv);
    return reader_run(&options.reader, &command);
}
