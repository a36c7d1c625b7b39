/* Calls of the program that Microtome does not support. */
#include "guest/base/refused.h"

#include "guest/base/log.h"
#include "lib/program/syscall_names.h"

#define NUMBERS 512u /* Linux 6.1 has 451; the last one stands for all that do not exist */
#define LINES_MAX 24u /* of the notices: a fuzzer makes every call */

static struct {
    uint32_t count;
    uint8_t why;
} calls[NUMBERS];
static uint64_t last_unknown;

static const struct {
    const char *before, *after;
} texts[] = {
    [REFUSED_CALL] = {"the program made system call", "it is not supported, and got ENOSYS"},
    [REFUSED_NETWORK] = {"the program asked for", "there is no network"},
};

void refused_count(uint64_t number, enum refused_why why)
{
    uint64_t slot = number < NUMBERS ? number : NUMBERS - 1;

    if (slot == NUMBERS - 1)
        last_unknown = number;
    calls[slot].why = (uint8_t)why;
    if (calls[slot].count < UINT32_MAX)
        calls[slot].count++;
}

static void refused_log_call(uint32_t number)
{
    const char *name = syscall_name(number);
    uint32_t count = calls[number].count, why = calls[number].why;
    char other[64];

    if (name == NULL) {
        format_text(other, sizeof other, "%lu, which Linux 6.1 does not have,",
                    number == NUMBERS - 1 ? last_unknown : number);
        name = other;
    }
    log_notice("%s %s %u time%s: %s", texts[why].before, name, count, count == 1 ? "" : "s",
               texts[why].after);
}

void refused_report(void)
{
    uint32_t lines = 0, others = 0;
    uint64_t times = 0;

    for (uint32_t i = 0; i < NUMBERS; i++) {
        if (!calls[i].count)
            continue;
        if (lines < LINES_MAX) {
            refused_log_call(i);
            lines++;
        } else {
            others++;
            times += calls[i].count;
        }
    }
    if (others)
        log_notice("and %u more system calls, in all %lu times", others, times);
}
