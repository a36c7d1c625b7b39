/* libhr: shadow stacks, where the hooks do not manage alone.
 *
 * A stack has a zeroed entry before the first one and one after the last one: no function is at
 * address 0, so a return finds that these are not its own, and comes here.
 */
#include "workloads/libhr.h"

#include <stdbool.h>

static struct hr_abi_shadow_entry no_entry; /* the last one of a thread without a stack */

/* The hooks find it by its name. */
__thread struct hr_abi_shadow libhr_thread
    __attribute__((tls_model("local-exec"))) = {.top = (uint64_t)(&no_entry + 1)};

/* The thread gets its stack at this moment, or was refused one. */
static __thread bool without __attribute__((tls_model("local-exec")));

uint32_t libhr_calls_mode;

static struct hr_abi_shadow_entry *entry(uint64_t address)
{
    return (struct hr_abi_shadow_entry *)address;
}

static uint32_t find_mode(void)
{
    long mode = libhr_call(HR_ABI_SYSCALL, HR_ABI_CALLS, 0, 0);

    if (mode != HR_ABI_CALLS_TOLD && mode != HR_ABI_CALLS_OBSERVED)
        mode = HR_ABI_CALLS_IGNORED;
    __atomic_store_n(&libhr_calls_mode, (uint32_t)mode, __ATOMIC_RELAXED);
    return (uint32_t)mode;
}

/* This thread's first call: makes its stack known to the kernel. */
static void make_stack(struct hr_abi_shadow *shadow)
{
    size_t bytes = sizeof(struct hr_abi_shadow_entry) * (HR_ABI_SHADOW_ENTRIES + 2);
    struct hr_abi_shadow_entry *entries = libhr_allocate(bytes);
    const struct hr_abi_calls calls = {.shadow = (uint64_t)shadow,
                                       .entries = (uint64_t)(entries + 1)};

    without = true; /* as signal handlers see it, and without memory */
    if (!entries)
        return;
    shadow->top = calls.entries;
    if (libhr_call(HR_ABI_SYSCALL, HR_ABI_CALLS, (long)&calls, 0) != HR_ABI_CALLS_OBSERVED) {
        shadow->top = (uint64_t)(&no_entry + 1);
        libhr_call(SYS_munmap, (long)entries, (long)bytes, 0);
        return;
    }
    shadow->limit = (uint64_t)(entries + 1 + HR_ABI_SHADOW_ENTRIES);
}

static void push(struct hr_abi_shadow *shadow, uint64_t function, uint64_t call_site)
{
    volatile struct hr_abi_shadow_entry *last = entry(shadow->top);

    last->generation++;
    __atomic_store_n(&shadow->top, shadow->top + sizeof *last, __ATOMIC_RELEASE);
    last->function = function;
    last->call_site = call_site;
    last->generation++;
}

uint32_t libhr_enter_rare(uint64_t function, uint64_t call_site)
{
    struct hr_abi_shadow *shadow = &libhr_thread;
    uint32_t mode = __atomic_load_n(&libhr_calls_mode, __ATOMIC_RELAXED);

    if (mode == 0)
        mode = find_mode();
    if (mode != HR_ABI_CALLS_OBSERVED)
        return mode;
    if (shadow->limit == 0 && !without)
        make_stack(shadow);
    if (shadow->limit == 0)
        return mode;
    if (shadow->top < shadow->limit) {
        push(shadow, function, call_site);
        return mode;
    }
    shadow->top = shadow->limit + sizeof(struct hr_abi_shadow_entry); /* after a zeroed entry */
    shadow->deep++;
    shadow->beyond++;
    return mode;
}

void libhr_leave_rare(uint64_t function, uint64_t call_site)
{
    struct hr_abi_shadow *shadow = &libhr_thread;
    uint64_t end = shadow->limit - sizeof(struct hr_abi_shadow_entry) * HR_ABI_SHADOW_ENTRIES;

    if (shadow->limit == 0)
        return;
    if (shadow->top > shadow->limit) {
        if (--shadow->deep == 0)
            shadow->top = shadow->limit;
        return;
    }
    for (uint64_t at = shadow->top; at > end; at -= sizeof(struct hr_abi_shadow_entry)) {
        const struct hr_abi_shadow_entry *last = entry(at) - 1;

        if (last->function == function && last->call_site == call_site) {
            shadow->top = (uint64_t)last; /* longjmp has left those above it */
            return;
        }
    }
}
