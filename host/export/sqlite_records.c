/* Inserts records into the tables of the database. */
#include "host/export/sqlite_records.h"

#include <string.h>

#include "lib/syscall_names.h"

union body {
    struct hr_rec_switch change;
    struct hr_rec_gap gap;
    struct hr_rec_syscall call;
    struct hr_rec_mark mark;
    struct hr_rec_output output;
    struct hr_rec_lost lost;
    struct hr_rec_period period;
};

struct row { /* a record that is being inserted */
    const struct trace_info *info;
    sqlite3_stmt *insert;
    union body body;
    const uint8_t *tail; /* what follows the body */
    size_t tail_bytes;
    uint32_t cpu;
};

static void bind_time(const struct row *row, int parameter, uint64_t time)
{
    database_bind(row->insert, parameter, trace_info_time_ns(row->info, time));
}

/* A word for an enumerated value; its number where there is none. */
static void bind_word(const struct row *row, int parameter, const char *const *words,
                      uint32_t count, uint32_t value)
{
    if (value < count && words[value] != NULL)
        database_bind_text(row->insert, parameter, words[value]);
    else
        database_bind(row->insert, parameter, value);
}

static void bind_switch(const struct row *row)
{
    static const char *const reasons[] = {
        [HR_SWITCH_START] = "start", [HR_SWITCH_EXIT] = "exit",  [HR_SWITCH_BLOCK] = "blocked",
        [HR_SWITCH_SLICE] = "slice", [HR_SWITCH_WAKE] = "woken", [HR_SWITCH_YIELD] = "yielded",
    };
    const struct hr_rec_switch *change = &row->body.change;

    bind_time(row, 1, change->time);
    database_bind(row->insert, 2, row->cpu);
    database_bind(row->insert, 3, change->from_tid);
    database_bind(row->insert, 4, change->to_tid);
    bind_word(row, 5, reasons, sizeof reasons / sizeof reasons[0], change->reason);
    database_bind(row->insert, 6, change->waker_tid);
}

static void bind_gap(const struct row *row)
{
    static const char *const reasons[] = {
        [HR_GAP_SLEEP] = "sleep", [HR_GAP_INPUT] = "input", [HR_GAP_OUTPUT] = "output",
        [HR_GAP_WAIT] = "wait",   [HR_GAP_STEAL] = "steal",
    };
    const struct hr_rec_gap *gap = &row->body.gap;

    bind_time(row, 1, gap->time_first);
    bind_time(row, 2, gap->time_last);
    database_bind(row->insert, 3, row->cpu);
    database_bind(row->insert, 4, gap->tid);
    bind_word(row, 5, reasons, sizeof reasons / sizeof reasons[0], gap->reason);
}

static void bind_syscall(const struct row *row)
{
    const struct hr_rec_syscall *call = &row->body.call;

    bind_time(row, 1, call->time);
    database_bind(row->insert, 2, row->cpu);
    database_bind(row->insert, 3, call->tid);
    database_bind(row->insert, 4, call->number);
    database_bind_text(row->insert, 5, syscall_name(call->number));
    database_bind(row->insert, 6, call->result);
    database_bind(row->insert, 7, trace_info_ns(row->info, call->duration_ticks));
}

static void bind_mark(const struct row *row)
{
    const struct hr_rec_mark *mark = &row->body.mark;
    char text[1024];
    size_t bytes = row->tail_bytes < sizeof text ? row->tail_bytes : sizeof text - 1;

    memcpy(text, row->tail, bytes);
    text[bytes] = 0;
    bind_time(row, 1, mark->time);
    database_bind(row->insert, 2, row->cpu);
    database_bind(row->insert, 3, mark->tid);
    database_bind_text(row->insert, 4, text);
}

static void bind_output(const struct row *row)
{
    const struct hr_rec_output *output = &row->body.output;

    bind_time(row, 1, output->time);
    database_bind(row->insert, 2, row->cpu);
    database_bind(row->insert, 3, output->stream);
    database_bind(row->insert, 4, output->offset);
    database_bind(row->insert, 5, output->bytes);
}

static void bind_lost(const struct row *row)
{
    const struct hr_rec_lost *lost = &row->body.lost;

    bind_time(row, 1, lost->time_first);
    bind_time(row, 2, lost->time_last);
    database_bind(row->insert, 3, row->cpu);
    database_bind(row->insert, 4, lost->count);
}

static void bind_period(const struct row *row)
{
    bind_time(row, 1, row->body.period.time);
    database_bind(row->insert, 2, row->cpu);
    database_bind(row->insert, 3, row->body.period.period);
}

static const struct table {
    uint8_t type; /* of the record */
    uint8_t bytes; /* of its fixed part */
    const char *insert;
    void (*bind)(const struct row *row);
} tables[SQLITE_RECORDS_TABLES] = {
    {HR_REC_SWITCH, sizeof(struct hr_rec_switch), "INSERT INTO switches VALUES (?,?,?,?,?,?)",
     bind_switch},
    {HR_REC_GAP, sizeof(struct hr_rec_gap), "INSERT INTO gaps VALUES (?,?,?,?,?)", bind_gap},
    {HR_REC_SYSCALL, sizeof(struct hr_rec_syscall), "INSERT INTO syscalls VALUES (?,?,?,?,?,?,?)",
     bind_syscall},
    {HR_REC_MARK, sizeof(struct hr_rec_mark), "INSERT INTO marks VALUES (?,?,?,?)", bind_mark},
    {HR_REC_OUTPUT, sizeof(struct hr_rec_output), "INSERT INTO outputs VALUES (?,?,?,?,?)",
     bind_output},
    {HR_REC_LOST, sizeof(struct hr_rec_lost), "INSERT INTO losses VALUES (?,?,?,?)", bind_lost},
    {HR_REC_PERIOD, sizeof(struct hr_rec_period), "INSERT INTO periods VALUES (?,?,?)",
     bind_period},
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
    struct row row = {.info = records->info, .cpu = chunk->header.cpu};

    for (size_t i = 0; i < SQLITE_RECORDS_TABLES; i++)
        if (tables[i].type == record->type &&
            trace_body(record, &row.body, tables[i].bytes, &row.tail, &row.tail_bytes)) {
            row.insert = records->inserts[i];
            tables[i].bind(&row);
            database_put(records->db, row.insert);
        }
}
