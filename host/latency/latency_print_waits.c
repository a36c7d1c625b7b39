/* Writes what threads waited for. */
#include "host/latency/latency_print_waits.h"

#include <stdlib.h>
#include <string.h>

#include "host/latency/latency_waits.h"

/* Adds where in which block a lock is, and who allocated it: "heap 0x4c2010 (0x10 into 64 bytes of
 * make_cache)". */
static void add_block(const struct latency_print *p, const struct latency_wait *wait,
                      char room[WAIT_NAME_BYTES])
{
    const struct latency_block *block = &wait->block;
    char *function = NULL;
    size_t used = strlen(room);

    if (strncmp(room, "heap 0x", 7) != 0 && strncmp(room, "0x", 2) != 0)
        return; /* it is a global object's */
    if (block->function != TRACE_POINTS_NONE)
        function = latency_print_name(p, block->function);
    snprintf(room + used, WAIT_NAME_BYTES - used, " (0x%lx into %lu bytes%s%s)",
             wait->address - block->start, block->bytes, function != NULL ? " of " : "",
             function != NULL ? function : "");
    free(function);
}

/* Raw: may hold any character. */
static char *raw_name(const struct latency_print *p, const struct latency_wait *wait,
                      char room[WAIT_NAME_BYTES])
{
    const struct hr_rec_wait record = {.time = wait->from,
                                       .address = wait->address,
                                       .tid = wait->tid,
                                       .number = wait->number,
                                       .joins = wait->joins};

    room[0] = 0;
    if (wait->number == UINT32_MAX || (wait->address == 0 && latency_waits_is_futex(wait)))
        return room;
    wait_name(p->symbols, p->info, &record, room);
    if (wait->block.bytes != 0)
        add_block(p, wait, room);
    return room;
}

/* Writes a lock's or a system call's name, safe for a terminal: "cache_lock", "read".  Empty if
 * none is known. */
static const char *put_name(const struct latency_print *p, const struct latency_wait *wait,
                            char room[WAIT_NAME_BYTES])
{
    char name[WAIT_NAME_BYTES];

    return text_escape(room, WAIT_NAME_BYTES, raw_name(p, wait, name));
}

const char *latency_print_wait(const struct latency_print *p, const struct latency_wait *wait,
                               char room[WAIT_NAME_BYTES])
{
    char name[WAIT_NAME_BYTES];
    const char *text = put_name(p, wait, name);

    switch (wait->spent) {
    case LATENCY_READY:
    case LATENCY_SLEEP:
    case LATENCY_PAGES:
        return latency_waits_after[wait->spent];
    case LATENCY_LOCKS:
    case LATENCY_CONDITIONS:
    case LATENCY_JOINS:
        if (*text == 0)
            return wait->spent == LATENCY_LOCKS ? "for a lock" : latency_waits_after[wait->spent];
        snprintf(room, WAIT_NAME_BYTES, "%s %.*s", latency_waits_is_futex(wait) ? "for" : "in",
                 (int)WAIT_NAME_BYTES - 8, text);
        return room;
    default:
        if (*text == 0)
            return "for a child or a signal";
        snprintf(room, WAIT_NAME_BYTES, "in %.*s", (int)WAIT_NAME_BYTES - 8, text);
        return room;
    }
}

const char *latency_print_holder(const struct latency_print *p, const struct latency_wait *wait,
                                 char room[LATENCY_HOLDER_BYTES])
{
    const struct latency_holder *holder = &wait->holder;
    char name[128], *function;
    int used;

    room[0] = 0;
    if (holder->tid == 0)
        return room;
    used = snprintf(room, LATENCY_HOLDER_BYTES, ", %s by thread %u",
                    latency_waits_is_held(wait) ? "held" : "woken", holder->tid);
    if (holder->function != TRACE_POINTS_NONE) {
        function = latency_print_name(p, holder->function);
        used += snprintf(room + used, LATENCY_HOLDER_BYTES - (size_t)used, " in %s",
                         text_escape(name, sizeof name, function != NULL ? function : ""));
        free(function);
    }
    if (holder->works)
        snprintf(room + used, LATENCY_HOLDER_BYTES - (size_t)used, ", for request %lu",
                 holder->request);
    return room;
}

const char *latency_print_ready(const struct latency_print *p, const struct latency_wait *wait,
                                char room[LATENCY_READY_BYTES])
{
    char time[TEXT_QUANTITY_BYTES];

    room[0] = 0;
    if (wait->ready != 0)
        snprintf(room, LATENCY_READY_BYTES, "; then %s for a CPU",
                 text_time(time, (double)trace_info_ns(p->info, wait->ready)));
    return room;
}

void latency_print_wait_json(struct output *out, const struct latency_print *p,
                             const struct latency_wait *wait)
{
    char name[WAIT_NAME_BYTES], *function = NULL;

    raw_name(p, wait, name);
    output_json_print(out, ", \"for_cpu_ns\": %lu, \"name\": %s, \"holder\": ",
                      trace_info_ns(p->info, wait->ready), name[0] != 0 ? name : NULL);
    if (wait->holder.tid == 0) {
        output_text(out, "null");
        return;
    }
    if (wait->holder.function != TRACE_POINTS_NONE)
        function = latency_print_name(p, wait->holder.function);
    output_json_print(out, "{\"tid\": %u, \"function\": %s, \"held\": %d", wait->holder.tid,
                      function, latency_waits_is_held(wait));
    free(function);
    if (wait->holder.works)
        output_json_print(out, ", \"request\": %lu", wait->holder.request);
    output_char(out, '}');
}
