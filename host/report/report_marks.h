/* The marks that a program set (HR_REC_MARK), by time.  For host/report/report_command.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/trace/trace_info.h"

#define REPORT_MARKS_MAX (1u << 20)
#define REPORT_MARKS_TEXT_BYTES (64u << 20) /* of all texts together */

struct report_mark {
    uint64_t time;
    uint32_t tid;
    uint16_t cpu;
    char *text; /* raw; owned */
};

struct report_marks {
    struct report_mark *all; /* owned */
    size_t count;
    size_t text_bytes;
    uint64_t ignored; /* marks beyond the bounds above */
};

void report_marks_free(struct report_marks *marks);

/* Takes an HR_REC_MARK of a CPU.  Returns 0 or -ENOMEM; a record that is too short is ignored. */
int report_marks_take(struct report_marks *marks, uint16_t cpu, const struct trace_record *record);

/* Sorts the marks by time. */
void report_marks_sort(struct report_marks *marks);

/* Sorts and prints the marks; limit 0 prints all. */
void report_marks_print(FILE *out, const struct trace_info *info, struct report_marks *marks,
                        unsigned long limit);
