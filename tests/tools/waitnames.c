/* waitnames FILE: prints what each HR_REC_WAIT of a trace is about, in the trace's order. */
#include <stdio.h>

#include "host/scan/trace_scan.h"
#include "host/symbols/wait_name.h"

struct waitnames {
    struct trace_scan scan;
    struct symbols *symbols;
};

static int print(void *context, const struct trace_chunk *chunk, const struct trace_record *record)
{
    struct waitnames *w = context;
    struct hr_rec_wait wait;
    char name[WAIT_NAME_BYTES];

    (void)chunk;
    if (record->type == HR_REC_WAIT && trace_body(record, &wait, sizeof wait, NULL, NULL))
        puts(wait_name(w->symbols, &w->scan.info, &wait, name));
    return 0;
}

/* All maps first: files are loaded, and processes made, while threads wait. */
static int read_maps(struct waitnames *w, const char *path)
{
    const struct trace_visitor nobody = {0};
    int error = trace_scan_open(&w->scan, path);

    if (error == 0)
        error = trace_scan_run(&w->scan, &nobody);
    return error == 0 ? symbols_open(&w->symbols, &w->scan.info, NULL) : error;
}

int main(int argc, char **argv)
{
    static struct waitnames w;
    const struct trace_visitor visitor = {.context = &w, .record = print};
    struct trace_scan again;

    if (argc != 2 || read_maps(&w, argv[1]) != 0 || trace_scan_open(&again, argv[1]) != 0) {
        fputs("usage: waitnames FILE\n", stderr);
        return 2;
    }
    if (trace_scan_run(&again, &visitor) != 0)
        return 1;
    symbols_close(w.symbols);
    trace_scan_close(&again);
    trace_scan_close(&w.scan);
    return 0;
}
