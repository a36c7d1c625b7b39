/* Draws the table of runs. */
#include "boot/uefi/table.h"

#include <string.h>

#include "boot/uefi/screen.h"
#include "lib/format.h"

#define FIRST_ROW 3 /* of the screen: header, blank, column headings */
#define ROWS_LEFT 2 /* below the table: blank, messages */
#define ROWS_KEPT 256 /* of runs that have ended, for screens that are no higher */

static struct table_row kept[ROWS_KEPT];
static uint32_t count;
static uint32_t top; /* number of the run in the first row */
static void (*pending_row)(struct table_row *row);

static const char *const states[] = {
    [TABLE_PENDING] = "pending", [TABLE_RUNNING] = "running", [TABLE_WRITING] = "writing",
    [TABLE_DONE] = "done",       [TABLE_FAILED] = "failed",
};

/* 5 digits and a unit at most. */
static void short_bytes(uint64_t bytes, char out[16])
{
    static const char units[] = "BKMGT";
    size_t unit = 0;

    while (bytes >= 100000 && unit + 2 < sizeof units) {
        bytes = (bytes + 512) / 1024;
        unit++;
    }
    format_text(out, 16, "%lu%c", bytes, units[unit]);
}

static void short_time(uint64_t ns, char out[16])
{
    if (ns < 100000000000ull)
        format_text(out, 16, "%lu.%03us", ns / 1000000000, (unsigned)(ns / 1000000 % 1000));
    else
        format_text(out, 16, "%lus", ns / 1000000000);
}

static uint32_t height(void)
{
    uint32_t rows =
        screen_rows() > FIRST_ROW + ROWS_LEFT ? screen_rows() - FIRST_ROW - ROWS_LEFT : 0;

    return rows < ROWS_KEPT ? rows : ROWS_KEPT;
}

static void draw_row(const struct table_row *row)
{
    char line[SCREEN_COLUMNS_MAX], bytes[16], time[16];

    short_bytes(row->bytes, bytes);
    short_time(row->elapsed_ns, time);
    if (row->state == TABLE_PENDING || row->state == TABLE_RUNNING)
        format_text(line, sizeof line, "%5u  %-20s %s", row->number, row->name, states[row->state]);
    else
        format_text(line, sizeof line, "%5u  %-20s %-8s %-10s %9lu %7lu %8s %6s", row->number,
                    row->name, states[row->state], row->outcome, row->samples, row->lost, time,
                    bytes);
    screen_line(FIRST_ROW + row->number - top, line);
}

/* Rows from `top` on: what has been, and what will be. */
static void draw_all(uint32_t current)
{
    for (uint32_t number = top; number <= count && number - top < height(); number++) {
        struct table_row row = {.number = number, .state = TABLE_PENDING};

        if (number <= current)
            row = kept[number % ROWS_KEPT];
        else
            pending_row(&row);
        draw_row(&row);
    }
}

void table_init(const char *header, uint32_t total, void (*pending)(struct table_row *row))
{
    count = total;
    top = 1;
    pending_row = pending;
    screen_clear();
    screen_line(0, header);
    screen_line(
        2, "   no  run                  state    program      samples    lost     time  bytes");
    draw_all(0);
}

void table_set(const struct table_row *row)
{
    kept[row->number % ROWS_KEPT] = *row;
    if (height() == 0)
        return;
    if (row->number - top < height()) {
        draw_row(row);
        return;
    }
    top = row->number - height() / 2; /* the next ones are seen, too */
    draw_all(row->number);
}
