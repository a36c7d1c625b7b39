/* How the readers' time and memory grow with the number of samples.
 *
 *   scaling measure HR SMALL COUNT FILE ...  measures each reader on each FILE, which has COUNT
 *                                            samples, and its start on SMALL, which has very few
 *   scaling draw                             draws such lines, from the standard input, as SVG
 *
 * A line is "READER COUNT NANOSECONDS MEBIBYTES": processor time a sample without the start, and
 * resident memory; each is the least of several runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/draw/svg.h"
#include "lib/array.h"

#define ROUNDS 4
#define ROUND_RUNS_MAX 5.0
#define ROUND_SAMPLES 2e7 /* so many in a round, at least, for each reader */
#define FILES_MAX 8
#define ROWS_MAX 256
#define PANEL_TOP 40.0
#define PANEL_HEIGHT 180.0
#define PANEL_GAP 60.0
#define LEFT 60.0
#define RIGHT 590.0

static const char *const readers[][4] = {
    {"stat"}, {"report"}, {"timeline"}, {"hist", "--of", "interval"}, {"noise"},
};

struct row {
    char reader[16];
    double count, ns, mib;
};

struct usage {
    double seconds, mib;
};

/* Runs a reader on a file with one thread and without its output. */
static struct usage run(const char *hr, const char *const reader[4], const char *file)
{
    const char *words[8] = {hr};
    struct rusage used;
    size_t count = 1;
    int status;
    pid_t child;

    for (size_t i = 0; i < 4 && reader[i] != NULL; i++)
        words[count++] = reader[i];
    words[count++] = "--jobs=1";
    words[count] = file;
    child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execv(hr, (char *const *)words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "scaling: %s %s %s failed\n", hr, reader[0], file);
        exit(1);
    }
    return (struct usage){
        .seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
        .mib = (double)used.ru_maxrss / 1024,
    };
}

/* Takes the least of `best` and some more runs, of a short file more. */
static void improve(struct usage *best, const char *hr, const char *const reader[4],
                    const char *file, double samples)
{
    double runs = fmin(fmax(ROUND_SAMPLES / samples, 1), ROUND_RUNS_MAX);

    for (int i = 0; i < (int)runs; i++) {
        struct usage next = run(hr, reader, file);

        best->seconds = fmin(best->seconds, next.seconds);
        best->mib = fmin(best->mib, next.mib);
    }
}

/* In rounds over all files, so that what else the machine does strikes short and long ones alike.
 */
static void measure_reader(const char *hr, const char *const reader[4], const char *small,
                           char **files, size_t count)
{
    struct usage start = {INFINITY, INFINITY}, best[FILES_MAX];

    for (size_t n = 0; n < count; n++)
        best[n] = start;
    for (int round = 0; round < ROUNDS; round++) {
        improve(&start, hr, reader, small, 1);
        for (size_t n = 0; n < count; n++)
            improve(&best[n], hr, reader, files[2 * n + 1], strtod(files[2 * n], NULL));
    }
    for (size_t n = 0; n < count; n++)
        printf("%s %s %.3f %.1f\n", reader[0], files[2 * n],
               (best[n].seconds - start.seconds) * 1e9 / strtod(files[2 * n], NULL), best[n].mib);
    fflush(stdout);
}

static double x_of(double count, double first, double last)
{
    return LEFT + (RIGHT - LEFT) * log10(count / first) / fmax(log10(last / first), 1);
}

/* Returns a round number above the greatest value. */
static double ceiling(double greatest)
{
    double step = pow(10, floor(log10(greatest)));

    return step * ceil(greatest * 1.05 / step);
}

static void draw_axes(struct svg *svg, double top, double most, double first, double last,
                      const char *title)
{
    char text[32];

    svg_text(svg, LEFT, top - 12, SVG_START, title);
    for (int i = 0; i <= 4; i++) {
        double y = top + PANEL_HEIGHT * (1 - i / 4.0);

        svg_line(svg, LEFT, y, RIGHT, y, SVG_PALE, 1);
        snprintf(text, sizeof text, "%g", most * i / 4);
        svg_text(svg, LEFT - 6, y + 4, SVG_END, text);
    }
    for (double count = first; count <= last * 1.01; count *= 10) {
        double x = x_of(count, first, last);

        svg_line(svg, x, top + PANEL_HEIGHT, x, top + PANEL_HEIGHT + 4, SVG_GREY, 1);
        snprintf(text, sizeof text, "%g million", count / 1e6);
        svg_text(svg, x, top + PANEL_HEIGHT + 18, SVG_MIDDLE, text);
    }
}

/* Draws a reader's line with a dot for each trace; its name stands at `label`. */
static void draw_reader(struct svg *svg, const struct svg_point *points, size_t count,
                        unsigned int number, const char *name, double label)
{
    const char *colour = svg_colour(number);

    svg_path(svg, points, count, colour, 2);
    for (size_t i = 0; i < count; i++)
        svg_rect(svg, points[i].x - 3, points[i].y - 3, 6, 6, colour, name);
    svg_line(svg, RIGHT + 8, label - 4, RIGHT + 24, label - 4, colour, 3);
    svg_text(svg, RIGHT + 28, label, SVG_START, name);
}

static void draw_panel(struct svg *svg, double top, const struct row *rows, size_t count,
                       bool memory)
{
    double first = INFINITY, last = 0, most = memory ? 64 : 0;

    for (size_t i = 0; i < count; i++) {
        first = fmin(first, rows[i].count);
        last = fmax(last, rows[i].count);
        most = fmax(most, memory ? rows[i].mib : ceiling(rows[i].ns));
    }
    draw_axes(svg, top, most, first, last,
              memory ? "Resident memory, MiB (limit: 64)"
                     : "Processor time a sample, ns, without the command's start");
    for (unsigned int r = 0; r < ARRAY_COUNT(readers); r++) {
        struct svg_point points[ROWS_MAX];
        size_t used = 0;

        for (size_t i = 0; i < count; i++)
            if (strcmp(rows[i].reader, readers[r][0]) == 0)
                points[used++] = (struct svg_point){
                    x_of(rows[i].count, first, last),
                    top + PANEL_HEIGHT * (1 - (memory ? rows[i].mib : rows[i].ns) / most)};
        if (used != 0)
            draw_reader(svg, points, used, r, readers[r][0], top + 12 + 18 * r);
    }
}

static int draw(void)
{
    static struct row rows[ROWS_MAX];
    size_t count = 0;
    struct svg svg;

    while (count < ROWS_MAX && scanf("%15s %lf %lf %lf", rows[count].reader, &rows[count].count,
                                     &rows[count].ns, &rows[count].mib) == 4)
        count++;
    if (count == 0)
        return 1;
    svg_begin(&svg, stdout, PANEL_TOP + 2 * PANEL_HEIGHT + PANEL_GAP + 40,
              "Readers on traces of different lengths");
    draw_panel(&svg, PANEL_TOP, rows, count, false);
    draw_panel(&svg, PANEL_TOP + PANEL_HEIGHT + PANEL_GAP, rows, count, true);
    svg_end(&svg);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "draw") == 0)
        return draw();
    if (argc < 6 || argc % 2 != 0 || argc > 4 + 2 * FILES_MAX || strcmp(argv[1], "measure") != 0) {
        fputs("usage: scaling measure HR SMALL COUNT FILE ... | scaling draw\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < ARRAY_COUNT(readers); i++)
        measure_reader(argv[2], readers[i], argv[3], argv + 4, (size_t)(argc - 4) / 2);
    return 0;
}
