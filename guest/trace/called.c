/* Numbers functions and call sites: two open-addressed tables; nothing is ever removed. */
#include "guest/trace/called.h"

#include <stdbool.h>

#include "drivers/platform.h"
#include "guest/base/log.h"
#include "guest/trace/trace.h"
#include "lib/hash.h"

#define POINT_BITS 17u /* twice as many places as points: a search ends */
#define FUNCTION_BITS 15u
#define POINTS_OF_A_RECORD 512u

_Static_assert(1u << POINT_BITS >= 2 * CALLED_POINTS_MAX, "half full at most");
_Static_assert(1u << FUNCTION_BITS >= 2 * CALLED_FUNCTIONS_MAX, "half full at most");

struct called { /* a function, or a point */
    const struct vm_space *space; /* NULL: it has ended; atomic */
    uint64_t address; /* of the function */
    uint64_t time; /* function: of its first call; point: the call site */
    uint32_t tid; /* function: of its first call */
    uint32_t function; /* point: number */
};

struct called_table {
    struct called *all;
    uint32_t *index; /* number + 1; 0: free */
    uint32_t count, most, bits;
    uint32_t sent; /* so many are in the trace */
};

static struct called_table functions = {.most = CALLED_FUNCTIONS_MAX, .bits = FUNCTION_BITS};
static struct called_table points = {.most = CALLED_POINTS_MAX, .bits = POINT_BITS};

struct hr_rec_calls called_sums;

static void called_make(struct called_table *table)
{
    table->all = platform_allocate(table->most * sizeof *table->all);
    table->index = platform_allocate((sizeof *table->index) << table->bits);
    if (table->all == NULL || table->index == NULL)
        panic("no memory for --mode latency; give more with --mem");
}

void called_start(void)
{
    called_make(&functions);
    called_make(&points);
}

void called_announce(void)
{
    const struct hr_meta_probes probes = {.function_count = CALLED_FUNCTIONS_MAX,
                                          .point_count = CALLED_POINTS_MAX,
                                          .flags = HR_PROBES_CALLED};

    if (!trace_add_meta(HR_META_PROBES, &probes, sizeof probes, NULL, 0))
        panic("the trace has no room for the program's functions");
    trace_send_meta();
}

/* Returns the place of the index that has, or is to have, this key; `detail` is a call site. */
static uint32_t *called_place(const struct called_table *table, const struct vm_space *space,
                              uint64_t address, uint64_t detail)
{
    uint32_t mask = (1u << table->bits) - 1;
    uint32_t at = hash_place(hash_mix(hash_mix((uint64_t)space, address), detail), table->bits);

    for (; table->index[at] != 0; at = (at + 1) & mask) {
        const struct called *one = &table->all[table->index[at] - 1];

        if (one->space == space && one->address == address &&
            (table == &functions || one->time == detail))
            break;
    }
    return &table->index[at];
}

/* Returns the number of a new one. */
static uint32_t called_add(struct called_table *table, uint32_t *place, const struct called *one)
{
    if (table->count == table->most)
        return CALLED_NONE;
    table->all[table->count++] = *one;
    *place = table->count;
    return table->count - 1;
}

static uint32_t called_function(const struct vm_space *space, uint64_t address, uint32_t tid,
                                uint64_t time)
{
    uint32_t *place = called_place(&functions, space, address, 0);
    const struct called function = {.space = space, .address = address, .time = time, .tid = tid};

    return *place != 0 ? *place - 1 : called_add(&functions, place, &function);
}

uint32_t called_point(const struct vm_space *space, uint64_t function, uint64_t call_site,
                      uint32_t tid, uint64_t time)
{
    uint32_t *place = called_place(&points, space, function, call_site);
    struct called point = {.space = space, .address = function, .time = call_site};

    if (*place != 0)
        return *place - 1;
    point.function = called_function(space, function, tid, time);
    return point.function == CALLED_NONE ? CALLED_NONE : called_add(&points, place, &point);
}

static void called_forget(const struct called_table *table, const struct vm_space *space)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->all[i].space == space)
            __atomic_store_n(&table->all[i].space, NULL, __ATOMIC_RELAXED);
}

void called_space_ends(const struct vm_space *space)
{
    called_forget(&functions, space);
    called_forget(&points, space);
}

static bool send_functions(void)
{
    for (; functions.sent < functions.count; functions.sent++) {
        const struct called *one = &functions.all[functions.sent];
        const struct hr_meta_called record = {
            .address = one->address,
            .time = one->time,
            .number = functions.sent,
            .tid = one->tid,
        };

        if (!trace_add_meta(HR_META_CALLED, &record, sizeof record, NULL, 0))
            return false;
    }
    return true;
}

static void send_points(void)
{
    static struct hr_probe_point some[POINTS_OF_A_RECORD];

    while (points.sent < points.count) {
        struct hr_meta_probe_points head = {.first = points.sent};

        for (; head.count < POINTS_OF_A_RECORD && head.first + head.count < points.count;
             head.count++) {
            const struct called *one = &points.all[head.first + head.count];

            some[head.count] =
                (struct hr_probe_point){.address = one->time, .function = one->function};
        }
        if (!trace_add_meta(HR_META_PROBE_POINTS, &head, sizeof head, some,
                            head.count * (uint32_t)sizeof some[0]))
            return;
        points.sent += head.count;
    }
}

void called_send(void)
{
    if (points.sent == points.count && functions.sent == functions.count)
        return;
    if (send_functions())
        send_points();
    trace_send_meta();
}
