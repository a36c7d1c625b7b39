/* Follows each thread from its last sample over its wait to the end of its system call. */
#include "host/noise/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS (1u << 14)
#define THREADS (1u << 12)
#define FRAMES_SHOWN 4u

struct waits_thread {
    uint64_t ip; /* of the last sample in the program; 0: none */
    uint64_t since; /* when it began to wait */
    uint64_t ticks; /* that it waited in the call which has not ended */
    uint64_t first; /* when that began */
    uint32_t stack;
    uint32_t tid; /* 0: a free slot */
    bool waits;
};

int waits_init(struct waits *waits)
{
    *waits = (struct waits){.rows = calloc(ROWS, sizeof waits->rows[0]),
                            .threads = calloc(THREADS, sizeof waits->threads[0])};
    return waits->rows != NULL && waits->threads != NULL ? 0 : -ENOMEM;
}

int waits_copy(struct waits *copy, const struct waits *waits)
{
    int error = waits_init(copy);

    if (error != 0)
        return error;
    memcpy(copy->rows, waits->rows, ROWS * sizeof copy->rows[0]);
    memcpy(copy->threads, waits->threads, THREADS * sizeof copy->threads[0]);
    copy->count = waits->count;
    copy->least_ticks = waits->least_ticks;
    copy->dropped = waits->dropped;
    return 0;
}

void waits_free(struct waits *waits)
{
    for (uint32_t i = 0; waits->rows != NULL && i < ROWS; i++)
        free(waits->rows[i].where);
    free(waits->rows);
    free(waits->threads);
    memset(waits, 0, sizeof *waits);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;

    return x ^ x >> 31;
}

/* NULL: there is no room for one more. */
static struct waits_thread *find_thread(struct waits *waits, uint32_t tid)
{
    uint32_t at = (uint32_t)mix(tid, 1) & (THREADS - 1);

    for (uint32_t n = 0; n < THREADS && tid != 0; n++, at = (at + 1) & (THREADS - 1)) {
        struct waits_thread *thread = &waits->threads[at];

        if (thread->tid == 0)
            thread->tid = tid;
        if (thread->tid == tid)
            return thread;
    }
    return NULL;
}

static struct waits_row *find_row(struct waits *waits, const struct waits_thread *thread,
                                  uint32_t call)
{
    uint32_t at = (uint32_t)mix(mix(thread->ip, thread->stack), call) & (ROWS - 1);

    for (;; at = (at + 1) & (ROWS - 1)) {
        struct waits_row *row = &waits->rows[at];

        if (row->count != 0 &&
            (row->ip != thread->ip || row->stack != thread->stack || row->call != call))
            continue;
        if (row->count != 0)
            return row;
        if (waits->count >= ROWS / 2)
            return NULL;
        waits->count++;
        *row = (struct waits_row){.ip = thread->ip, .stack = thread->stack, .call = call};
        return row;
    }
}

static void add(struct waits_row *row, uint64_t count, uint64_t ticks, uint64_t longest)
{
    row->count += count;
    row->longest = longest > row->longest ? longest : row->longest;
    if (__builtin_add_overflow(row->ticks, ticks, &row->ticks))
        row->ticks = UINT64_MAX;
}

/* What a thread waited is settled. */
static void settle(struct waits *waits, struct waits_thread *thread, uint32_t call)
{
    bool counts = thread->ticks != 0 && thread->ticks >= waits->least_ticks;
    struct waits_row *row = counts ? find_row(waits, thread, call) : NULL;

    if (row != NULL)
        add(row, 1, thread->ticks, thread->ticks);
    else
        waits->dropped += counts;
    thread->ticks = 0;
}

void waits_take_samples(struct waits *waits, const struct trace_samples *samples)
{
    const struct trace_slot *slot = &samples->slots[samples->count - 1];
    struct waits_thread *thread = find_thread(waits, slot->tid);

    if (thread == NULL || slot->ip >> 63 != 0)
        return;
    settle(waits, thread, WAITS_NO_CALL);
    thread->ip = slot->ip;
    thread->stack = trace_samples_stack(samples, samples->count - 1, HR_STACK_NONE);
}

void waits_take_switch(struct waits *waits, const struct hr_rec_switch *change,
                       const struct trace_info *info, const struct selection *selection)
{
    uint64_t ns = trace_info_time_ns(info, change->time);
    struct waits_thread *thread = find_thread(waits, change->to_tid);

    if (thread != NULL && thread->waits && change->time > thread->since) {
        if (thread->ticks == 0)
            thread->first = thread->since;
        if (__builtin_add_overflow(thread->ticks, change->time - thread->since, &thread->ticks))
            thread->ticks = UINT64_MAX;
    }
    if (thread != NULL)
        thread->waits = false;
    thread = change->reason == HR_SWITCH_BLOCK ? find_thread(waits, change->from_tid) : NULL;
    if (thread == NULL || !trace_info_selects(info, selection, change->from_tid, change->time) ||
        ns < selection->from_ns || ns > selection->to_ns)
        return;
    thread->waits = true;
    thread->since = change->time;
}

void waits_take_call(struct waits *waits, const struct hr_rec_syscall *call)
{
    struct waits_thread *thread = find_thread(waits, call->tid);

    if (thread != NULL && thread->ticks != 0)
        settle(waits, thread, call->time <= thread->first ? call->number : WAITS_NO_CALL);
}

static size_t put_function(char *text, size_t used, struct symbols *symbols, uint64_t address)
{
    size_t room = WAITS_TEXT_BYTES - used;
    struct symbols_place place;
    int bytes;

    symbols_find(symbols, address, &place);
    if (place.name != NULL)
        bytes = snprintf(text + used, room, "%s%.200s", used != 0 ? " < " : "", place.name);
    else
        bytes = snprintf(text + used, room, "%s[0x%lx]", used != 0 ? " < " : "",
                         trace_spaces_shown(place.start));
    return used + (size_t)bytes;
}

static char *where_of(const struct waits_row *row, struct symbols *symbols,
                      const struct stacks *stacks)
{
    uint64_t callers[FRAMES_SHOWN - 1];
    uint32_t count = row->stack < stacks->count
                         ? stacks_addresses(stacks, row->stack, callers, FRAMES_SHOWN - 1)
                         : 0;
    char text[WAITS_TEXT_BYTES] = "";
    size_t used = 0;

    if (row->ip == 0)
        return strdup("[before the thread's first sample]");
    used = put_function(text, used, symbols, row->ip);
    for (uint32_t i = 0; i < count && i < FRAMES_SHOWN - 1; i++)
        used = put_function(text, used, symbols, callers[i] - 1);
    return strdup(text);
}

static int by_text(const void *a, const void *b)
{
    const struct waits_row *x = a, *y = b;

    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return strcmp(x->where, y->where);
}

static int by_ticks(const void *a, const void *b)
{
    const struct waits_row *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    return by_text(a, b);
}

/* Rows with one text become one. */
static void join(struct waits *waits)
{
    uint32_t kept = 0;

    qsort(waits->rows, waits->count, sizeof waits->rows[0], by_text);
    for (uint32_t i = 0; i < waits->count; i++) {
        struct waits_row row = waits->rows[i];

        waits->rows[i].where = NULL;
        if (kept != 0 && by_text(&waits->rows[kept - 1], &row) == 0) {
            add(&waits->rows[kept - 1], row.count, row.ticks, row.longest);
            free(row.where);
        } else {
            waits->rows[kept++] = row;
        }
    }
    waits->count = kept;
    qsort(waits->rows, waits->count, sizeof waits->rows[0], by_ticks);
}

int waits_name(struct waits *waits, struct symbols *symbols, const struct stacks *stacks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < THREADS; i++)
        settle(waits, &waits->threads[i], WAITS_NO_CALL);
    for (uint32_t i = 0; i < ROWS; i++)
        if (waits->rows[i].count != 0) {
            struct waits_row row = waits->rows[i];

            waits->rows[i] = (struct waits_row){0};
            waits->rows[count] = row;
            waits->rows[count].where = where_of(&row, symbols, stacks);
            if (waits->rows[count++].where == NULL)
                return -ENOMEM;
        }
    waits->count = count;
    join(waits);
    return 0;
}
