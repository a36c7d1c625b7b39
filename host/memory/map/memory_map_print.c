/* Prints maps of memory. */
#include "host/memory/map/memory_map_print.h"

#include "host/base/text.h"
#include "host/draw/sparkline.h"

#define INDENT 2u
#define MANY 0.5 /* of the strongest: capitals */
#define MIXED 0.2 /* a cell with at least that share of the other kind is of both */

uint32_t memory_map_print_bins(void)
{
    uint32_t columns = sparkline_columns();

    columns = columns > 160 ? 160 : columns;
    return columns - 2 * INDENT;
}

char *memory_map_print_sums(const struct memory_map *map, const struct memory_map_band *band,
                            char text[MEMORY_MAP_PRINT_SUMS])
{
    char count[2][TEXT_QUANTITY_BYTES];

    if (map->of == MEMORY_MAP_ACCESSES)
        snprintf(text, MEMORY_MAP_PRINT_SUMS, "%s reads and %s writes recorded",
                 text_count(count[0], band->reads), text_count(count[1], band->writes));
    else if (map->of == MEMORY_MAP_PAGES)
        snprintf(text, MEMORY_MAP_PRINT_SUMS, "%s touched",
                 text_bytes(count[0], band->weight * MEMORY_PAGE_BYTES));
    else
        snprintf(text, MEMORY_MAP_PRINT_SUMS, "%s in %s object%s",
                 text_bytes(count[0], band->bytes), text_count(count[1], band->objects),
                 band->objects == 1 ? "" : "s");
    return text;
}

static char letter(const struct memory_map *map, const struct memory_map_band *band, uint32_t bin,
                   uint32_t row)
{
    const struct memory_map_cell *cell = memory_map_cell(band, bin, row);
    double all = (double)memory_map_records(cell), live = memory_map_live(band, bin, row);
    double written = all > 0 ? cell->writes / all : 0;
    unsigned int kind = written < MIXED ? 0 : written > 1 - MIXED ? 1 : 2;

    if (all > 0)
        return memory_map_strength(map, band, cell) >= MANY ? "RWX"[kind] : "rwx"[kind];
    return live <= 0 ? ' ' : live < 1.0 / 3 ? '.' : live < 2.0 / 3 ? '+' : '#';
}

static void print_band(FILE *out, const struct memory_map *map, const struct memory_map_band *band)
{
    char name[4 * MEMORY_NAME_BYTES], sums[MEMORY_MAP_PRINT_SUMS];
    char line[MEMORY_MAP_BINS + 1];

    fprintf(out, "%s, process %u: 0x%lx to 0x%lx, %s\n", text_escape(name, sizeof name, band->name),
            band->pid, band->start, band->end, memory_map_print_sums(map, band, sums));
    for (uint32_t row = band->rows; row-- > 0;) {
        for (uint32_t bin = 0; bin < map->bins; bin++)
            line[bin] = letter(map, band, bin, row);
        line[map->bins] = 0;
        fprintf(out, "%*s|%s|\n", (int)INDENT - 1, "", line);
    }
}

static void print_legend(FILE *out, const struct memory_map *map)
{
    char count[TEXT_QUANTITY_BYTES];

    if (map->of == MEMORY_MAP_ACCESSES)
        fprintf(out,
                "# r: read, w: written, x: both; capitals: many, of up to %s records in a place\n",
                text_count(count, map->most));
    if (map->of == MEMORY_MAP_PAGES)
        fputs("# r: read, w: written, x: both; capitals: half of the pages or more\n", out);
    if (map->lives != NULL)
        fputs("# allocated: . some of it, + a third or more, # two thirds or more\n", out);
}

void memory_map_print(FILE *out, const struct memory_map *map, const struct trace_info *info)
{
    char safe[1024], text[3][TEXT_QUANTITY_BYTES];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s over time and address, from %s to %s, a column is %s\n",
            memory_map_of_names[map->of], text_time(text[0], (double)map->from_ns),
            text_time(text[1], (double)map->to_ns),
            text_time(text[2], (double)(map->to_ns - map->from_ns) / map->bins));
    print_legend(out, map);
    for (uint32_t i = map->count; i-- > 0;)
        print_band(out, map, &map->bands[i]);
    if (map->left_out != 0)
        fprintf(out, "# %s with less of it are left out\n", text_count(text[0], map->left_out));
}

static uint64_t bin_ns(const struct memory_map *map, uint32_t bin)
{
    return map->from_ns +
           (uint64_t)((unsigned __int128)(map->to_ns - map->from_ns) * bin / map->bins);
}

void memory_map_print_csv(struct output *out, const struct memory_map *map)
{
    output_text(out, "object,pid,start,end,from_ns,to_ns,reads,writes,timed,latency_cycles,tid,"
                     "allocated\n");
    for (uint32_t i = 0; i < map->count; i++) {
        const struct memory_map_band *band = &map->bands[i];

        for (uint32_t n = 0; n < map->bins * band->rows; n++) {
            uint32_t bin = n / band->rows, row = n % band->rows;
            const struct memory_map_cell *cell = memory_map_cell(band, bin, row);

            if (!memory_map_is_empty(band, n))
                output_csv_print(
                    out, "%s,%u,%lu,%lu,%lu,%lu,%u,%u,%u,%lu,%lu,%g\n", band->name, band->pid,
                    memory_map_row_start(map, band, row), memory_map_row_start(map, band, row + 1),
                    bin_ns(map, bin), bin_ns(map, bin + 1), cell->reads, cell->writes, cell->timed,
                    cell->latency, cell->tid != MEMORY_MAP_SEVERAL ? (uint64_t)cell->tid : 0,
                    memory_map_live(band, bin, row));
        }
    }
}

/* [bin, row, reads, writes, timed, latency_cycles, tid, allocated] */
static void json_cells(struct output *out, const struct memory_map *map,
                       const struct memory_map_band *band)
{
    bool first = true;

    for (uint32_t n = 0; n < map->bins * band->rows; n++) {
        uint32_t bin = n / band->rows, row = n % band->rows;
        const struct memory_map_cell *cell = memory_map_cell(band, bin, row);

        if (memory_map_is_empty(band, n))
            continue;
        output_text(out, first ? "" : ",");
        output_json_print(out, "[%u,%u,%u,%u,%u,%lu,%lu,%g]", bin, row, cell->reads, cell->writes,
                          cell->timed, cell->latency,
                          cell->tid != MEMORY_MAP_SEVERAL ? (uint64_t)cell->tid : 0,
                          memory_map_live(band, bin, row));
        first = false;
    }
}

static void json_detail(struct output *out, const char *detail)
{
    char line[MEMORY_MAP_LINE];
    bool first = true;

    while (memory_map_line(&detail, line)) {
        output_text(out, first ? "" : ",");
        output_json(out, line);
        first = false;
    }
}

static void json_lives(struct output *out, const struct memory_map *map)
{
    for (uint32_t i = 0; i < map->life_count; i++) {
        const struct memory_map_life *life = &map->lives[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"band\":%u,\"address\":%lu,\"bytes\":%lu,\"tid\":%u,"
                          "\"from_ns\":%lu,\"to_ns\":",
                          life->band, life->address, life->bytes, life->tid, life->from_ns);
        if (life->to_ns != UINT64_MAX)
            output_decimal(out, life->to_ns);
        else
            output_text(out, "null");
        output_text(out, "}");
    }
}

void memory_map_print_json(struct output *out, const struct memory_map *map)
{
    output_json_print(out,
                      "{\"of\":%s,\"from_ns\":%lu,\"to_ns\":%lu,\"bins\":%u,\"left_out\":%lu,"
                      "\"bands\":[",
                      memory_map_of_names[map->of], map->from_ns, map->to_ns, map->bins,
                      map->left_out);
    for (uint32_t i = 0; i < map->count; i++) {
        const struct memory_map_band *band = &map->bands[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"object\":%s,\"pid\":%u,\"start\":%lu,\"end\":%lu,\"rows\":%u,"
                          "\"reads\":%lu,\"writes\":%lu,\"objects\":%lu,\"bytes\":%lu,"
                          "\"detail\":[",
                          band->name, band->pid, band->start, band->end, band->rows, band->reads,
                          band->writes, band->objects, band->bytes);
        json_detail(out, band->detail);
        output_text(out, "],\"cells\":[");
        json_cells(out, map, band);
        output_text(out, "]}");
    }
    output_json_print(out, "],\"lives_left_out\":%lu,\"lives\":[", map->lives_left_out);
    json_lives(out, map);
    output_text(out, "]}\n");
}
