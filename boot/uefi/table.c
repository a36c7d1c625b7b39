/* Draws the table of runs. */
#include "boot/uefi/table.h"

#include <string.h>

#include "boot/uefi/screen.h"
#include "lib/format.h"

#define FIRST_ROW 3 /* of the screen: header, blank, column headings */
#define ROWS_LEFT 2 /* below the table: blank, messages */
#define OTHER_COLUMNS 62u /* of a row, without the name */
#define NAME_COLUMNS_MIN 16u
#define NAME_COLUMNS_MAX 40u
#define ROWS_KEPT 256 /* of ended runs; enough for a screen of this many rows */

static struct table_row kept[ROWS_KEPT];
static uint32_t count;
static uint32_t top; /* number of the run in the first row */
static void (*pending_row)(struct table_row *row);

static const char *const states[] = {
    [TABLE_PENDING] = "pending", [TABLE_RUNNING] = "running", [TABLE_WRITING] = "writing",
    [TABLE_DONE] = "done",       [TABLE_FAILED] = "failed",
};

/* Writes 5 digits and a unit at most. */
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

/* Returns the width that remains for the name. */
static uint32_t name_width(void)
{
    uint32_t left = screen_columns() > OTHER_COLUMNS ? screen_columns() - OTHER_COLUMNS : 0;

    if (left < NAME_COLUMNS_MIN)
        return NAME_COLUMNS_MIN;
    return left < NAME_COLUMNS_MAX ? left : NAME_COLUMNS_MAX;
}

/* Shortens a long name in the middle, because the repetition is at its end. */
static void short_name(const char *name, char out[NAME_COLUMNS_MAX + 1])
{
    const uint32_t width = name_width(), tail = 8;
    size_t bytes = strlen(name);

    if (bytes <= width) {
        memcpy(out, name, bytes + 1);
        return;
    }
    memcpy(out, name, width - tail - 2);
    memcpy(out + width - tail - 2, "..", 2);
    memcpy(out + width - tail, name + bytes - tail, tail + 1);
}

static void draw_row(const struct table_row *row)
{
    char line[SCREEN_COLUMNS_MAX], name[NAME_COLUMNS_MAX + 1], bytes[16], time[16];
    const int width = (int)name_width();

    short_name(row->name, name);
    short_bytes(row->bytes, bytes);
    short_time(row->elapsed_ns, time);
    if (row->state == TABLE_PENDING || row->state == TABLE_RUNNING)
        format_text(line, sizeof line, "%5u  %-*s %s", row->number, width, name,
                    states[row->state]);
    else
        format_text(line, sizeof line, "%5u  %-*s %-8s %-11s %9lu %7lu %8s %6s", row->number, width,
                    name, states[row->state], row->outcome, row->samples, row->lost, time, bytes);
    screen_line(FIRST_ROW + row->number - top, line);
}

/* Draws the rows from `top` on: ended runs and pending ones. */
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
    char line[SCREEN_COLUMNS_MAX];

    count = total;
    top = 1;
    pending_row = pending;
    screen_clear();
    screen_line(0, header);
    format_text(line, sizeof line,
                "   no  %-*s state    program       samples    lost     time  bytes",
                (int)name_width(), "run");
    screen_line(2, line);
    draw_all(0);
}

void table_left_out(const struct table_row *row)
{
    kept[row->number % ROWS_KEPT] = *row;
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
    top = row->number - height() / 2; /* shows the next ones, too, but no rows after the last */
    if (count - top < height())
        top = count - height() + 1;
    draw_all(row->number);
}
