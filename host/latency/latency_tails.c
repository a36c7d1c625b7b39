/* Reads a trace again for the waits of the longest calls. */
#include <errno.h>
#include <stdlib.h>

#include "host/latency/latency_tail.h"

#define WAITS 256u /* of a thread, that are kept: an invocation's last ones */

#define DEPTH \
    8u /* open invocations of the functions in a thread, of which it is known what they call */

struct notes { /* of a thread, while one of the functions is open in it */
    uint64_t count;
    struct latency_wait waits[WAITS];
    struct latency_functions computed; /* by its calls */
    uint32_t open_count;
    struct open {
        uint32_t slot;
        struct latency_functions before; /* computed at its entry */
    } open[DEPTH];
};

static uint64_t length(const struct latency_row *row)
{
    struct latency_values *ticks = (struct latency_values *)(uintptr_t)&row->ticks;

    return ticks->largest - latency_values_at(ticks, 0.5);
}

/* The rows with the longest tails, the longest first; those that have none are left out. */
static void choose(struct latency_tails *tails, const struct latency_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        struct latency_row *row = rows->all[i];
        uint32_t at = tails->count;

        if (row->ticks.count < 2 || length(row) == 0)
            continue;
        while (at != 0 && length(tails->rows[at - 1].row) < length(row))
            at--;
        if (at == LATENCY_TAILS_MAX)
            continue;
        if (tails->count < LATENCY_TAILS_MAX)
            tails->count++;
        for (uint32_t n = tails->count - 1; n > at; n--)
            tails->rows[n].row = tails->rows[n - 1].row;
        tails->rows[at].row = row;
    }
    for (uint32_t i = 0; i < tails->count; i++)
        latency_tail_begin(&tails->rows[i].tail, &tails->rows[i].row->ticks);
}

static bool is_followed(const struct latency_tails *tails, uint32_t function)
{
    for (uint32_t i = 0; i < tails->count; i++)
        if (tails->rows[i].row->function == function)
            return true;
    return false;
}

static struct notes *notes_of(struct latency_tails *tails, struct latency_thread *thread)
{
    if (thread->notes == NULL)
        thread->notes = calloc(1, sizeof(struct notes));
    if (thread->notes == NULL)
        tails->error = -ENOMEM;
    return thread->notes;
}

static void entered(void *context, struct latency_thread *thread, uint32_t slot)
{
    struct latency_tails *tails = context;
    struct notes *notes;

    if (!is_followed(tails, thread->open.open[slot].function))
        return;
    notes = notes_of(tails, thread);
    if (notes == NULL)
        return;
    thread->entries[slot].mark = notes->count;
    if (notes->open_count < DEPTH)
        notes->open[notes->open_count++] = (struct open){slot, notes->computed};
}

/* Takes what is kept of an open invocation away, and of those inside it; NULL: nothing was. */
static const struct open *take_open(struct notes *notes, uint32_t slot)
{
    for (uint32_t i = notes->open_count; i-- > 0;)
        if (notes->open[i].slot == slot) {
            notes->open_count = i;
            return &notes->open[i];
        }
    return NULL;
}

static void lost(void *context, const struct latency_thread *thread, uint32_t slot,
                 enum invocations_end end)
{
    (void)context;
    (void)end;
    if (thread->notes != NULL)
        take_open(thread->notes, slot);
}

static void waited(void *context, struct latency_thread *thread, const struct latency_wait *wait)
{
    struct notes *notes = thread->notes;

    (void)context;
    if (notes != NULL)
        notes->waits[notes->count++ % WAITS] = *wait;
}

/* Adds in which functions a call computed: what the thread's calls have since its entry. */
static void add_functions(struct latency_tail *tail, const struct notes *notes,
                          const struct open *open)
{
    for (uint32_t i = 0; i < notes->computed.count; i++) {
        const struct latency_function *now = &notes->computed.all[i];
        uint64_t before = i < open->before.count ? open->before.all[i].ticks : 0;

        if (now->ticks != before)
            latency_functions_add(&tail->functions, now->function, now->ticks - before);
    }
}

static void add_call(struct latency_tails *tails, struct latency_tail *tail,
                     const struct latency_call *call, const struct open *open)
{
    const struct notes *notes = call->thread->notes;
    uint64_t mark = call->entry->mark;

    latency_tail_call(tail, call->ticks, call->spent);
    if (notes == NULL)
        return;
    if (open != NULL)
        add_functions(tail, notes, open);
    if (notes->count > mark + WAITS)
        mark = notes->count - WAITS;
    for (; mark < notes->count && tails->error == 0; mark++) {
        const struct latency_wait *wait = &notes->waits[mark % WAITS];

        tails->error = latency_tail_wait(tail, wait, wait->ticks);
    }
}

static void returned(void *context, const struct latency_call *call)
{
    struct latency_tails *tails = context;
    uint32_t key = latency_rows_key(tails->by, tails->threads.info, call->thread, call->entry);
    struct notes *notes = call->thread->notes;
    const struct open *open = NULL;

    if (notes != NULL) {
        latency_functions_add(&notes->computed, call->function, call->own_on_cpu);
        open = take_open(notes, (uint32_t)(call->entry - call->thread->entries));
    }
    for (uint32_t i = 0; i < tails->count; i++) {
        struct latency_tail_row *r = &tails->rows[i];

        if (r->row->function == call->function && r->row->key == key && call->ticks > r->tail.above)
            add_call(tails, &r->tail, call, open);
    }
}

struct again {
    struct latency_tails *tails;
    struct trace_scan scan;
};

static int begin(void *context)
{
    struct again *again = context;
    struct latency_threads *threads = &again->tails->threads;

    threads->follower = (struct latency_follower){.context = again->tails,
                                                  .entered = entered,
                                                  .returned = returned,
                                                  .lost = lost,
                                                  .waited = waited};
    return latency_threads_init(threads, &again->scan.info);
}

int latency_tails_read(struct latency_tails *tails, const struct latency_rows *rows,
                       const struct trace_scan *scan)
{
    struct latency_sink sink = latency_threads_sink(&tails->threads);
    struct again again = {.tails = tails};
    int error;

    tails->by = rows->by;
    choose(tails, rows);
    if (tails->count == 0)
        return 0;
    error = trace_scan_again(&again.scan, scan);
    if (error != 0)
        return error;
    error = latency_order_run(&again.scan, begin, &again, &sink);
    if (error == 0)
        latency_threads_finish(&tails->threads);
    latency_threads_free(&tails->threads);
    trace_scan_close(&again.scan);
    return error != 0 ? error : tails->error;
}

void latency_tails_free(struct latency_tails *tails)
{
    for (uint32_t i = 0; i < tails->count; i++)
        latency_tail_free(&tails->rows[i].tail);
    tails->count = 0;
}
