/* Shows memory over time and address. */
#include "host/memory/map/memory_map_view.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/pager.h"
#include "host/memory/map/memory_map_print.h"
#include "host/scan/reader_output.h"

#define TEXT_ROWS 40u
#define TEXT_BANDS 16u

void memory_map_range(const char *text, uint64_t *from, uint64_t *to,
                      const struct argp_state *state)
{
    char *end;

    errno = 0;
    *from = strtoull(text, &end, 16);
    if (errno == 0 && *end == '-' && end != text) {
        *to = strtoull(end + 1, &end, 16) - 1;
        if (errno == 0 && *end == 0 && *from <= *to)
            return;
    }
    argp_error(state, "--range %s: not a range of addresses, such as 0x7ffff0000000-0x7ffff0100000",
               text);
}

void memory_map_view_parse(struct memory_map_view *view, const char *argument,
                           const struct argp_state *state)
{
    int of =
        argument != NULL ? option_word(argument, memory_map_of_names + 1, MEMORY_MAP_OFS - 1) : -1;

    view->wanted = true;
    if (argument != NULL && of < 0)
        argp_error(state, "--map=%s: unknown; choose accesses, pages or allocations", argument);
    view->wish.of = (enum memory_map_of)(of + 1);
}

int memory_map_view_read(struct memory_map_view *view, struct reader *reader)
{
    struct memory_map_wish wish = memory_map_fine;
    int error;

    wish.of = view->wish.of;
    wish.block_bytes = view->wish.block_bytes;
    wish.from_address = view->wish.from_address;
    if (view->wish.to_address != 0)
        wish.to_address = view->wish.to_address;
    wish.jobs = (unsigned int)reader->jobs;
    if (reader->format == READER_TABLE) {
        wish.bins = memory_map_print_bins();
        wish.rows = TEXT_ROWS;
        wish.rows_least = 1;
        wish.bands = TEXT_BANDS;
    }
    if (reader->limit != READER_LIMIT_UNSET)
        wish.bands = reader->limit != 0 && reader->limit < MEMORY_MAP_BANDS
                         ? (uint32_t)reader->limit
                         : MEMORY_MAP_BANDS;
    error = memory_map_read(&view->map, &reader->scan, reader->path, &wish);
    return error == -ENODATA ? 0 : error;
}

static int say_missing(const struct memory_map_view *view, const struct reader *reader)
{
    static const char *const options[] = {
        ("--mode pebs' records accesses, '--pages 1ms' pages, and "
         "'--alloc' allocations"),
        "--mode pebs' records them", "--pages 1ms' records them", "--alloc' records them"};

    return error_exit(HR_EXIT_FAILED, "%s: no %s are recorded%s; 'hr run %s", reader->path,
                      view->wish.of == MEMORY_MAP_ANY ? "accesses, pages or allocations"
                                                      : memory_map_of_names[view->wish.of],
                      selection_is_all(&reader->selection) && view->wish.to_address == 0 ? ""
                                                                                         : " there",
                      options[view->wish.of]);
}

int memory_map_view_present(struct memory_map_view *view, struct reader *reader)
{
    struct pager pager;
    struct output *out;

    if (view->map.count == 0)
        return say_missing(view, reader);
    reader_warn(&reader->scan, reader->path, NULL);
    if (reader->format == READER_TABLE) {
        pager_begin(&pager, true);
        memory_map_print(stdout, &view->map, &reader->scan.info);
        pager_end(&pager);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (reader->format == READER_CSV ? memory_map_print_csv : memory_map_print_json)(out, &view->map);
    return reader_output_close(out);
}
