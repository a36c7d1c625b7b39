/* Inserts records into the tables of the database. */
#include "host/export/sqlite/sqlite_records.h"

#include <stdio.h>

#include "lib/array.h"
#include "lib/program/syscall_names.h"
#include "lib/trace/trace_pages.h"

union body {
    struct hr_rec_switch change;
    struct hr_rec_gap gap;
    struct hr_rec_syscall call;
    struct hr_rec_mark mark;
    struct hr_rec_output output;
    struct hr_rec_lost lost;
    struct hr_rec_period period;
    struct hr_rec_pages pages;
    struct hr_rec_mapping mapping;
    struct hr_rec_page_fault page_fault;
};

struct row { /* a record that is being inserted */
    struct database *db;
    const struct trace_info *info;
    sqlite3_stmt *insert;
    union body body;
    const uint8_t *tail; /* what follows the body */
    size_t tail_bytes;
    uint32_t cpu;
};

static uint64_t ns(const struct row *row, uint64_t time)
{
    return trace_info_time_ns(row->info, time);
}

/* Binds a word for an enumerated value; its number where there is none. */
static void bind_word(const struct row *row, int parameter, const char *const *words,
                      uint32_t count, uint32_t value)
{
    if (value < count && words[value] != NULL)
        database_bind_text(row->insert, parameter, words[value]);
    else
        database_bind(row->insert, parameter, value);
}

static void put_switch(const struct row *row)
{
    static const char *const reasons[] = {
        [HR_SWITCH_START] = "start", [HR_SWITCH_EXIT] = "exit",  [HR_SWITCH_BLOCK] = "blocked",
        [HR_SWITCH_SLICE] = "slice", [HR_SWITCH_WAKE] = "woken", [HR_SWITCH_YIELD] = "yielded",
    };
    const struct hr_rec_switch *change = &row->body.change;

    bind_word(row, 5, reasons, ARRAY_COUNT(reasons), change->reason);
    database_row(row->db, row->insert, "%lu,%u,%u,%u,=,%u", ns(row, change->time), row->cpu,
                 change->from_tid, change->to_tid, change->waker_tid);
}

static void put_gap(const struct row *row)
{
    static const char *const reasons[] = {
        [HR_GAP_SLEEP] = "sleep", [HR_GAP_INPUT] = "input", [HR_GAP_OUTPUT] = "output",
        [HR_GAP_WAIT] = "wait",   [HR_GAP_STEAL] = "steal",
    };
    const struct hr_rec_gap *gap = &row->body.gap;

    bind_word(row, 5, reasons, ARRAY_COUNT(reasons), gap->reason);
    database_row(row->db, row->insert, "%lu,%lu,%u,%u,=", ns(row, gap->time_first),
                 ns(row, gap->time_last), row->cpu, gap->tid);
}

static void put_syscall(const struct row *row)
{
    const struct hr_rec_syscall *call = &row->body.call;

    database_row(row->db, row->insert, "%lu,%u,%u,%u,%s,%lu,%lu", ns(row, call->time), row->cpu,
                 call->tid, call->number, syscall_name(call->number), (uint64_t)call->result,
                 trace_info_ns(row->info, call->duration_ticks));
}

static void put_mark(const struct row *row)
{
    const struct hr_rec_mark *mark = &row->body.mark;
    char text[1024];

    snprintf(text, sizeof text, "%.*s", (int)row->tail_bytes, (const char *)row->tail);
    database_row(row->db, row->insert, "%lu,%u,%u,%s", ns(row, mark->time), row->cpu, mark->tid,
                 text);
}

static void put_output(const struct row *row)
{
    const struct hr_rec_output *output = &row->body.output;

    database_row(row->db, row->insert, "%lu,%u,%u,%lu,%u", ns(row, output->time), row->cpu,
                 output->stream, output->offset, output->bytes);
}

static void put_lost(const struct row *row)
{
    const struct hr_rec_lost *lost = &row->body.lost;

    database_row(row->db, row->insert, "%lu,%lu,%u,%lu", ns(row, lost->time_first),
                 ns(row, lost->time_last), row->cpu, lost->count);
}

static void put_period(const struct row *row)
{
    const struct hr_rec_period *period = &row->body.period;

    database_row(row->db, row->insert, "%lu,%u,%lu", ns(row, period->time), row->cpu,
                 period->period);
}

/* A row for each run of pages. */
static void put_pages(const struct row *row)
{
    const struct hr_rec_pages *pages = &row->body.pages;
    struct trace_pages_reader reader;
    struct trace_pages_run run;

    trace_pages_open(&reader, pages->address, row->tail, (uint32_t)row->tail_bytes);
    while (trace_pages_next(&reader, &run) > 0)
        database_row(row->db, row->insert, "%lu,%u,%lu,%lu,%u,%u", ns(row, pages->time), pages->pid,
                     run.address, run.pages, (run.flags & TRACE_PAGES_WRITTEN) != 0,
                     (run.flags & TRACE_PAGES_LARGE) != 0);
}

static void put_mapping(const struct row *row)
{
    static const char *const kinds[] = {[HR_MAPPING_MAP] = "mmap",
                                        [HR_MAPPING_UNMAP] = "munmap",
                                        [HR_MAPPING_MOVE] = "mremap",
                                        [HR_MAPPING_BREAK] = "brk"};
    const struct hr_rec_mapping *m = &row->body.mapping;

    bind_word(row, 3, kinds, ARRAY_COUNT(kinds), m->kind);
    database_row(row->db, row->insert, "%lu,%u,=,%lu,%lu,%lu,%lu,%u,%u", ns(row, m->time), m->tid,
                 m->address, m->bytes, m->old_address, m->old_bytes, m->flags, m->protection);
}

static void put_page_fault(const struct row *row)
{
    const struct hr_rec_page_fault *fault = &row->body.page_fault;

    database_row(row->db, row->insert, "%lu,%u,%u,%lu,%lu,%u,%u,%u", ns(row, fault->time), row->cpu,
                 fault->tid, fault->address, fault->ip, fault->bytes,
                 (fault->flags & HR_PAGE_FAULT_WRITE) != 0,
                 (fault->flags & HR_PAGE_FAULT_CALL) != 0);
}

static const struct table {
    uint8_t type; /* of the record */
    uint8_t bytes; /* of its fixed part */
    const char *insert;
    void (*put)(const struct row *row);
} tables[SQLITE_RECORDS_TABLES] = {
    {HR_REC_SWITCH, sizeof(struct hr_rec_switch), "INSERT INTO switches VALUES (?,?,?,?,?,?)",
     put_switch},
    {HR_REC_GAP, sizeof(struct hr_rec_gap), "INSERT INTO gaps VALUES (?,?,?,?,?)", put_gap},
    {HR_REC_SYSCALL, sizeof(struct hr_rec_syscall), "INSERT INTO syscalls VALUES (?,?,?,?,?,?,?)",
     put_syscall},
    {HR_REC_MARK, sizeof(struct hr_rec_mark), "INSERT INTO marks VALUES (?,?,?,?)", put_mark},
    {HR_REC_OUTPUT, sizeof(struct hr_rec_output), "INSERT INTO outputs VALUES (?,?,?,?,?)",
     put_output},
    {HR_REC_LOST, sizeof(struct hr_rec_lost), "INSERT INTO losses VALUES (?,?,?,?)", put_lost},
    {HR_REC_PERIOD, sizeof(struct hr_rec_period), "INSERT INTO periods VALUES (?,?,?)", put_period},
    {HR_REC_PAGES, sizeof(struct hr_rec_pages), "INSERT INTO pages VALUES (?,?,?,?,?,?)",
     put_pages},
    {HR_REC_MAPPING, sizeof(struct hr_rec_mapping),
     "INSERT INTO mappings VALUES (?,?,?,?,?,?,?,?,?)", put_mapping},
    {HR_REC_PAGE_FAULT, sizeof(struct hr_rec_page_fault),
     "INSERT INTO page_faults VALUES (?,?,?,?,?,?,?,?)", put_page_fault},
};

void sqlite_records_init(struct sqlite_records *records, struct database *db,
                         const struct trace_info *info)
{
    records->db = db;
    records->info = info;
    for (size_t i = 0; i < SQLITE_RECORDS_TABLES; i++)
        records->inserts[i] = database_prepare(db, tables[i].insert);
}

void sqlite_records_take(struct sqlite_records *records, const struct trace_chunk *chunk,
                         const struct trace_record *record)
{
    struct row row = {.db = records->db, .info = records->info, .cpu = chunk->header.cpu};

    for (size_t i = 0; i < SQLITE_RECORDS_TABLES; i++)
        if (tables[i].type == record->type &&
            trace_body(record, &row.body, tables[i].bytes, &row.tail, &row.tail_bytes)) {
            row.insert = records->inserts[i];
            tables[i].put(&row);
        }
}
