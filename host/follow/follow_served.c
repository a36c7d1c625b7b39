/* Follows requests from thread to thread. */
#include "host/follow/follow_served.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BITS 8u

void follow_served_free(struct follow_served *s)
{
    free(s->open);
    s->open = NULL;
}

static uint32_t home_of(const struct follow_served *s, uint64_t number)
{
    return (uint32_t)(number * 0x9e3779b97f4a7c15ull >> (64 - s->bits));
}

/* A free place for a request of this number. */
static uint32_t place_of(const struct follow_served *s, uint64_t number)
{
    uint32_t at = home_of(s, number);

    while (s->open[at].request.serial != 0)
        at = (at + 1) & ((1u << s->bits) - 1);
    return at;
}

static int grow(struct follow_served *s)
{
    struct follow_open *old = s->open;
    uint32_t places = old != NULL ? 1u << s->bits : 0;

    s->open = calloc(old != NULL ? 2ul * places : 1ul << FIRST_BITS, sizeof s->open[0]);
    if (s->open == NULL) {
        s->open = old;
        return -ENOMEM;
    }
    s->bits = old != NULL ? s->bits + 1 : FIRST_BITS;
    for (uint32_t i = 0; i < places; i++)
        if (old[i].request.serial != 0)
            s->open[place_of(s, old[i].request.number)] = old[i];
    free(old);
    return 0;
}

/* The open request of a number: that of the process, else the one that began last. */
static struct follow_open *find(struct follow_served *s, uint64_t number, uint32_t pid)
{
    struct follow_open *last = NULL;

    if (s->open == NULL)
        return NULL;
    for (uint32_t at = home_of(s, number); s->open[at].request.serial != 0;
         at = (at + 1) & ((1u << s->bits) - 1)) {
        struct follow_open *open = &s->open[at];

        if (open->request.number != number)
            continue;
        if (open->pid == pid)
            return open;
        if (last == NULL || open->request.serial > last->request.serial)
            last = open;
    }
    return last;
}

/* What a thread works for, if it is open. */
static struct follow_open *work_of(struct follow_served *s, const struct follow_thread *thread)
{
    if (s->open == NULL)
        return NULL;
    for (uint32_t at = home_of(s, thread->request); s->open[at].request.serial != 0;
         at = (at + 1) & ((1u << s->bits) - 1))
        if (s->open[at].request.serial == thread->serial)
            return &s->open[at];
    return NULL;
}

/* Frees a place; those after it that were displaced move up. */
static void drop(struct follow_served *s, struct follow_open *open)
{
    uint32_t mask = (1u << s->bits) - 1, hole = (uint32_t)(open - s->open);

    for (uint32_t at = (hole + 1) & mask; s->open[at].request.serial != 0; at = (at + 1) & mask) {
        uint32_t home = home_of(s, s->open[at].request.number);

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            s->open[hole] = s->open[at];
            hole = at;
        }
    }
    s->open[hole] = (struct follow_open){0};
    s->count--;
}

static void note(struct follow_served *s, int result)
{
    if (s->result == 0)
        s->result = result;
}

static void give_span(struct follow_served *s, const struct follow_span *span)
{
    if (s->visitor->worked != NULL && s->result == 0)
        note(s, s->visitor->worked(s->visitor->context, span));
}

static void unlink_worker(struct follow_served *s, struct follow_open *open,
                          const struct follow_thread *thread)
{
    struct follow_thread *next = follow_threads_find(s->threads, thread->next);
    struct follow_thread *before = follow_threads_find(s->threads, thread->before);

    if (next != NULL)
        next->before = thread->before;
    if (before != NULL)
        before->next = thread->next;
    else
        open->first = thread->next;
}

void follow_served_leave(struct follow_served *s, struct follow_thread *thread, uint64_t time)
{
    struct follow_span span = {.serial = thread->serial,
                               .number = thread->request,
                               .from = thread->working_since,
                               .to = time,
                               .tid = thread->tid};
    struct follow_open *open;

    if (thread->serial == 0)
        return;
    open = work_of(s, thread);
    thread->serial = 0;
    if (open != NULL) {
        unlink_worker(s, open, thread);
        open->request.worked += time - span.from;
    }
    give_span(s, &span);
}

static void end_block(struct follow_served *s, struct follow_open *open, uint64_t time)
{
    const struct follow_span span = {.serial = open->request.serial,
                                     .number = open->request.number,
                                     .from = open->blocked_since,
                                     .to = time};

    if (!open->blocked)
        return;
    open->blocked = false;
    open->request.blocked += time - span.from;
    give_span(s, &span);
}

static void end(struct follow_served *s, struct follow_open *open, uint64_t time)
{
    struct follow_thread *thread;

    end_block(s, open, time);
    while ((thread = follow_threads_find(s->threads, open->first)) != NULL &&
           thread->serial == open->request.serial) /* records of a thread that ended may lie */
        follow_served_leave(s, thread, time);
    open->request.end = time;
    if (s->visitor->answered != NULL && s->result == 0)
        note(s, s->visitor->answered(s->visitor->context, &open->request));
    drop(s, open);
}

static struct follow_open *begin(struct follow_served *s, const struct hr_rec_request *record,
                                 uint32_t pid)
{
    struct follow_open *open;

    if (s->count >= FOLLOW_SERVED_MAX ||
        ((s->open == NULL || 2 * s->count >= 1u << s->bits) && grow(s) != 0)) {
        s->refused++;
        return NULL;
    }
    open = &s->open[place_of(s, record->request)];
    open->request = (struct follow_request){.serial = ++s->serials,
                                            .number = record->request,
                                            .start = record->time,
                                            .tid = record->tid,
                                            .begun = record->kind == HR_REQUEST_BEGIN};
    open->pid = pid;
    s->count++;
    if (s->visitor->requested != NULL && s->result == 0)
        note(s, s->visitor->requested(s->visitor->context, &open->request));
    return open;
}

static void join(struct follow_served *s, struct follow_open *open, struct follow_thread *thread,
                 uint64_t time)
{
    struct follow_thread *first = follow_threads_find(s->threads, open->first);

    end_block(s, open, time);
    if (thread == NULL)
        return;
    if (first != NULL)
        first->before = thread->tid;
    thread->next = open->first;
    thread->before = 0;
    open->first = thread->tid;
    thread->serial = open->request.serial;
    thread->request = open->request.number;
    thread->working_since = time;
}

void follow_served_take(struct follow_served *s, const struct hr_rec_request *record)
{
    struct follow_thread *thread = follow_threads_get(s->threads, record->tid);
    uint32_t pid = trace_processes_pid(&s->info->processes, record->tid, record->time);
    struct follow_open *open = find(s, record->request, pid);

    if (record->kind < HR_REQUEST_BEGIN || record->kind > HR_REQUEST_BLOCK)
        return;
    if (record->kind == HR_REQUEST_BEGIN && open != NULL) {
        if (open->pid == pid) /* its number is used again */
            end(s, open, record->time);
        open = NULL;
    }
    if (thread != NULL)
        if (record->kind != HR_REQUEST_END ||
            (open != NULL && thread->serial == open->request.serial))
            follow_served_leave(s, thread, record->time);
    if (record->kind == HR_REQUEST_LEAVE)
        return;
    if (open == NULL)
        open = begin(s, record, pid);
    if (open == NULL)
        return;
    if (record->kind == HR_REQUEST_END) {
        open->request.ended = true;
        open->request.end_tid = record->tid;
        end(s, open, record->time);
    } else if (record->kind == HR_REQUEST_BLOCK) {
        end_block(s, open, record->time);
        open->blocked = true;
        open->blocked_since = record->time;
    } else {
        join(s, open, thread, record->time);
    }
}

void follow_served_finish(struct follow_served *s, uint64_t time)
{
    for (uint32_t i = 0; s->open != NULL && i < 1u << s->bits; i++)
        while (s->open[i].request.serial != 0)
            end(s, &s->open[i], time);
}
