/* libhr: finds out where the program runs, and makes its calls; regions' sums. */
#include "workloads/libhr.h"

#include <errno.h>

enum state { UNKNOWN, ELSEWHERE, MICROTOME };

static int state; /* enum state; two threads may find out at once, with one result */
static struct hr_abi_info info;
static uint64_t masks[HR_ABI_EVENTS_MAX];
static struct libhr_slot *no_slots[1 + HR_ABI_REGIONS_MAX]; /* of a thread without any */
static uint32_t last_region; /* ids given out so far */

__thread struct libhr_slot **libhr_slots = no_slots;
uint32_t libhr_counters[HR_ABI_EVENTS_MAX];
libhr_code *libhr_read_entry = (libhr_code *)libhr_read_slow;
libhr_code *libhr_begin_entry, *libhr_end_entry, *libhr_begin_reads, *libhr_end_reads;

static int not_here(void)
{
    return -ENOSYS;
}

/* Chooses the reader of the counters: the program, if RDPMC and RDTSC work in user mode. */
static void choose_code(void)
{
    int user = info.flags & HR_ABI_USER_COUNTERS;

    if (user)
        libhr_read_entry = libhr_read_by_count[info.event_count];
    libhr_begin_reads = libhr_begin_by_count[info.event_count];
    libhr_end_reads = libhr_end_by_count[info.event_count];
    user = user && info.flags & HR_ABI_USER_CLOCK;
    libhr_begin_entry = user ? libhr_begin_user : libhr_begin_kernel;
    libhr_end_entry = user ? libhr_end_user : libhr_end_kernel;
}

static __attribute__((noinline)) int find_out(void)
{
    int found = ELSEWHERE;

    if (libhr_call(HR_ABI_SYSCALL, HR_ABI_INFO, (long)&info, sizeof info) == 0 &&
        info.version == HR_ABI_VERSION && info.event_count <= HR_ABI_EVENTS_MAX) {
        found = MICROTOME;
        for (uint32_t i = 0; i < info.event_count; i++) {
            libhr_counters[i] = info.counters[i];
            masks[i] = ~0ull >> (64 - info.widths[i]);
        }
        choose_code();
    } else {
        libhr_read_entry = (libhr_code *)not_here;
    }
    __atomic_store_n(&state, found, __ATOMIC_RELEASE);
    return found;
}

static inline int here(void)
{
    int known = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

    if (__builtin_expect(known == UNKNOWN, 0))
        known = find_out();
    return known == MICROTOME;
}

static inline int ask(enum hr_abi_operation operation, long a, long b)
{
    return here() ? (int)libhr_call(HR_ABI_SYSCALL, operation, a, b) : -ENOSYS;
}

int hr_available(void)
{
    return here();
}

const char *hr_status_text(void)
{
    if (!here())
        return "not under Microtome: calls do nothing";
    return info.flags & HR_ABI_USER_COUNTERS ? "under Microtome, counters are read in user mode"
                                             : "under Microtome, the kernel reads the counters";
}

int hr_start(void)
{
    return ask(HR_ABI_START, 0, 0);
}

int hr_pause(void)
{
    return ask(HR_ABI_PAUSE, 0, 0);
}

int hr_poll(int scope)
{
    return ask(HR_ABI_POLL, scope, 0);
}

int hr_log(void)
{
    return ask(HR_ABI_LOG, 0, 0);
}

int hr_poll_log(void)
{
    int status = hr_poll(HR_THIS_CPU);

    return status ? status : hr_log();
}

/* Bytes of a name; 0 when it cannot be one. */
static uint32_t name_bytes(const char *name)
{
    uint32_t bytes = 0;

    while (name && name[bytes] && bytes <= HR_ABI_NAME_MAX)
        bytes++;
    return bytes <= HR_ABI_NAME_MAX ? bytes : 0;
}

int hr_mark(const char *name)
{
    return here() ? ask(HR_ABI_MARK, (long)name, name_bytes(name)) : -ENOSYS;
}

int hr_request_begin(uint64_t request)
{
    return ask(HR_ABI_REQUEST, HR_ABI_REQUEST_BEGIN, (long)request);
}

int hr_request_end(uint64_t request)
{
    return ask(HR_ABI_REQUEST, HR_ABI_REQUEST_END, (long)request);
}

int hr_request_join(uint64_t request)
{
    return ask(HR_ABI_REQUEST, HR_ABI_REQUEST_JOIN, (long)request);
}

int hr_request_leave(void)
{
    return ask(HR_ABI_REQUEST, HR_ABI_REQUEST_LEAVE, 0);
}

int hr_request_block(uint64_t request)
{
    return ask(HR_ABI_REQUEST, HR_ABI_REQUEST_BLOCK, (long)request);
}

int hr_event_count(void)
{
    return here() ? (int)info.event_count : -ENOSYS;
}

const char *hr_event_name(int event)
{
    return here() && event >= 0 && (uint32_t)event < info.event_count ? info.names[event] : NULL;
}

int hr_event_width(int event)
{
    if (!here())
        return -ENOSYS;
    return event >= 0 && (uint32_t)event < info.event_count ? info.widths[event] : -EINVAL;
}

/* Serves the first call of all, and every call where the kernel reads. */
int libhr_read_slow(uint64_t *values)
{
    uint64_t read[1 + HR_ABI_EVENTS_MAX];

    if (!here() || info.flags & HR_ABI_USER_COUNTERS)
        return hr_read(values);
    int status = (int)libhr_call(HR_ABI_SYSCALL, HR_ABI_READ, (long)read, 0);
    for (uint32_t i = 0; i < info.event_count && status == 0; i++)
        values[i] = read[1 + i];
    return status;
}

/* Gives a region its number; another thread may do so at once. */
static int number_region(struct hr_region *region)
{
    uint32_t last = __atomic_load_n(&last_region, __ATOMIC_RELAXED), none = 0;

    if (name_bytes(region->name) == 0)
        return -EINVAL;
    do {
        if (last == HR_ABI_REGIONS_MAX)
            return -ENOSPC;
    } while (!__atomic_compare_exchange_n(&last_region, &last, last + 1, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    __atomic_compare_exchange_n(&region->id, &none, last + 1, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return 0;
}

/* A slot for a region in this thread, known to the kernel. */
static int make_slot(const struct hr_region *region, struct libhr_slot **made)
{
    size_t bytes =
        sizeof(struct libhr_slot) + sizeof(struct hr_abi_aggregate) * (1 + info.event_count);
    struct libhr_slot *slot = libhr_allocate(bytes);

    if (!slot)
        return -ENOMEM;
    const struct hr_abi_region place = {.name = (uint64_t)region->name,
                                        .name_bytes = name_bytes(region->name),
                                        .aggregates = (uint64_t)slot->aggregates,
                                        .count = 1 + info.event_count};
    int status = (int)libhr_call(HR_ABI_SYSCALL, HR_ABI_REGION, (long)&place, 0);
    if (status)
        libhr_call(SYS_munmap, (long)slot, (long)bytes, 0);
    *made = slot;
    return status;
}

/* This thread has not been in the region yet: gives it a slot. */
int libhr_begin_slow(struct hr_region *region)
{
    struct libhr_slot *slot;
    int status = 0;

    if (!here())
        return -ENOSYS;
    if (!__atomic_load_n(&region->id, __ATOMIC_RELAXED))
        status = number_region(region);
    if (status)
        return status;
    if (libhr_slots == no_slots) {
        struct libhr_slot **slots = libhr_allocate((1 + HR_ABI_REGIONS_MAX) * sizeof *slots);
        if (!slots)
            return -ENOMEM;
        libhr_slots = slots;
    }
    status = make_slot(region, &slot);
    if (status)
        return status;
    libhr_slots[region->id] = slot;
    return 0;
}

int libhr_end_slow(struct hr_region *)
{
    return here() ? -EINVAL : -ENOSYS;
}

/* The readings are taken: adds them up. */
int libhr_close(struct libhr_slot *slot)
{
    if (!slot->open)
        return -EINVAL;
    slot->open = 0;
    hr_abi_add(&slot->aggregates[0], slot->stop[0] - slot->start[0]);
    for (uint32_t i = 0; i < info.event_count; i++)
        hr_abi_add(&slot->aggregates[1 + i], (slot->stop[1 + i] - slot->start[1 + i]) & masks[i]);
    return 0;
}
