/* hr dump --format csv: one row a sample. */
#include "host/dump/dump.h"
#include "host/scan/about.h"

static size_t maps_in(const struct trace_info *info)
{
    return info->map_count + info->processes.spaces.view_count;
}

/* Whether the trace tells of processes, be it only after the first samples. */
static bool tells_of_processes(const struct dump *dump)
{
    struct trace_info info;
    bool any;

    trace_info_init(&info);
    any = about_read(&info, dump->reader.path) == 0 && trace_processes_any(&info.processes);
    trace_info_free(&info);
    return any;
}

static int put_header(struct dump *dump)
{
    int error = symbols_open(&dump->symbols, &dump->reader.scan.info, &dump->reader.symbols);

    dump->header_done = true;
    dump->map_count = maps_in(&dump->reader.scan.info);
    dump->rows.output = &dump->output;
    dump->rows.info = &dump->reader.scan.info;
    dump->rows.symbols = dump->symbols;
    dump->rows.pids = tells_of_processes(dump);
    sample_rows_header(&dump->rows);
    output_char(&dump->output, '\n');
    return error == 0 ? sample_rows_start(&dump->rows, &dump->reader.scan, NULL, NULL) : error;
}

/* Libraries may have been loaded since: what was unknown may have a name now. */
static int follow_maps(struct dump *dump)
{
    if (dump->map_count == maps_in(&dump->reader.scan.info))
        return 0;
    dump->map_count = maps_in(&dump->reader.scan.info);
    sample_rows_forget(&dump->rows);
    return symbols_update(dump->symbols, &dump->reader.scan.info);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct dump *dump = context;
    int error = dump->header_done ? follow_maps(dump) : put_header(dump);

    dump->any = true;
    return error == 0 ? sample_rows_run(&dump->rows, samples) : error;
}

static int finish(struct dump *dump)
{
    return dump->header_done ? 0 : put_header(dump);
}

const struct dump_format dump_csv = {
    .name = "csv",
    .visitor = {.names = true, .accesses = true, .samples = take_samples},
    .finish = finish,
};
