/* Shows accesses. */
#include "host/memory/memory_view.h"

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/pager.h"
#include "host/memory/accesses/memory_profile_print.h"
#include "host/memory/lines/memory_lines_print.h"
#include "host/scan/reader_output.h"

#define ROWS_LIMIT 20u
#define LINES_LIMIT 10u

int memory_view_read(struct memory_view_accesses *view, struct reader *reader)
{
    int error;

    memory_accesses_init(&view->walk, &reader->scan, reader->path, (unsigned int)reader->jobs);
    if (view->of == MEMORY_VIEW_SHARING)
        return memory_lines_make(&view->lines, &view->walk);
    error = memory_counts_make(&view->counts, &view->walk);
    return error == 0
               ? memory_profile_make(&view->rows, &view->counts, (enum memory_profile_by)view->of)
               : error;
}

static int print_lines(const struct reader *reader, const struct memory_lines *lines)
{
    unsigned long limit = reader_limit(reader, LINES_LIMIT);
    struct output *out;

    if (reader->format == READER_TABLE) {
        memory_lines_print(stdout, lines, limit);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (reader->format == READER_CSV ? memory_lines_print_csv : memory_lines_print_json)(out, lines,
                                                                                      limit);
    return reader_output_close(out);
}

static int print_rows(const struct reader *reader, const struct memory_view_accesses *view)
{
    unsigned long limit = reader_limit(reader, ROWS_LIMIT);
    struct output *out;
    struct pager pager;

    if (reader->format == READER_TABLE) {
        pager_begin(&pager, false);
        memory_profile_print(stdout, &view->rows, &view->counts, (enum memory_profile_by)view->of,
                             limit, pager.columns);
        pager_end(&pager);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    memory_profile_put(out, reader->format == READER_JSON, &view->rows, &view->counts, limit);
    return reader_output_close(out);
}

int memory_view_present(struct memory_view_accesses *view, struct reader *reader)
{
    if (view->rows.count == 0 && view->lines.records == 0)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no accesses are recorded%s; 'hr run --mode pebs' records them",
                          reader->path, selection_is_all(&reader->selection) ? "" : " there");
    reader_warn(&reader->scan, reader->path, NULL);
    return view->of == MEMORY_VIEW_SHARING ? print_lines(reader, &view->lines)
                                           : print_rows(reader, view);
}

void memory_view_free(struct memory_view_accesses *view)
{
    memory_profile_free(&view->rows);
    memory_counts_free(&view->counts);
    memory_lines_free(&view->lines);
    memory_accesses_free(&view->walk);
}
