/* Collects, sorts and prints marks. */
#include "host/report/report_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/scan/reader.h"

#define SECOND 1000000000u

void report_marks_free(struct report_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        free(marks->all[i].text);
    free(marks->all);
    memset(marks, 0, sizeof *marks);
}

int report_marks_take(struct report_marks *marks, uint16_t cpu, const struct trace_record *record)
{
    struct hr_rec_mark mark;
    const uint8_t *text;
    size_t bytes;

    if (!trace_body(record, &mark, sizeof mark, &text, &bytes))
        return 0;
    if (marks->count == REPORT_MARKS_MAX || bytes > REPORT_MARKS_TEXT_BYTES - marks->text_bytes) {
        marks->ignored++;
        return 0;
    }
    if (array_grow(&marks->all, marks->count, sizeof *marks->all) != 0)
        return -ENOMEM;
    marks->all[marks->count] = (struct report_mark){
        .time = mark.time,
        .tid = mark.tid,
        .cpu = cpu,
        .text = strndup((const char *)text, bytes),
    };
    if (marks->all[marks->count].text == NULL)
        return -ENOMEM;
    marks->text_bytes += bytes;
    marks->count++;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct report_mark *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

void report_marks_sort(struct report_marks *marks)
{
    if (marks->count != 0)
        qsort(marks->all, marks->count, sizeof marks->all[0], compare);
}

void report_marks_print(FILE *out, const struct trace_info *info, struct report_marks *marks,
                        unsigned long limit)
{
    char number[TEXT_QUANTITY_BYTES], safe[1024];
    size_t shown = reader_shown(marks->count, limit);
    uint64_t before = 0;

    if (marks->count == 0) {
        fputs("# no marks: the program sets them with hr_mark()\n", out);
        return;
    }
    report_marks_sort(marks);
    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s mark%s; times are since the program's start\n",
            text_count(number, marks->count), marks->count != 1 ? "s" : "");
    fprintf(out, "# %18s  %20s  %5s  %7s  %s\n", "time", "since the one before", "cpu", "tid",
            "text");
    for (size_t i = 0; i < shown; i++) {
        const struct report_mark *mark = &marks->all[i];
        uint64_t ns = trace_info_time_ns(info, mark->time);

        fprintf(out, "%8lu.%09u s  %20s  %5u  %7u  %s\n", ns / SECOND, (unsigned)(ns % SECOND),
                text_time(number, (double)(ns - before)), mark->cpu, mark->tid,
                text_escape(safe, sizeof safe, mark->text));
        before = ns;
    }
    if (shown < marks->count)
        fprintf(out, "# %zu more; --limit 0 shows all\n", marks->count - shown);
    if (marks->ignored != 0)
        fprintf(out, "# %s more; hr dump --format records shows them\n",
                text_count(number, marks->ignored));
}
