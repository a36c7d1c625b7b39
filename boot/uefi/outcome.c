/* Describes how a run ended. */
#include "boot/uefi/outcome.h"

#include <string.h>

#include "include/hr_format.h"
#include "lib/array.h"
#include "lib/format.h"

static const char *const end_texts[] = {
    [OUTCOME_DONE] = "done",
    [OUTCOME_PANIC] = "panic",
    [OUTCOME_HUNG] = "hung",
    [OUTCOME_UNSENT] = "unsent",
    [OUTCOME_NOT_STARTED] = "not-started",
};

static const char *const kind_texts[] = {
    [0] = "none",
    [HR_EXIT_STATUS] = "status",
    [HR_EXIT_SIGNAL] = "signal",
    [HR_EXIT_TIMEOUT] = "timeout",
    [HR_EXIT_REFUSED] = "refused",
};

const char *outcome_end_text(enum outcome_end end)
{
    return end_texts[end];
}

const char *outcome_kind_text(uint32_t exit_kind)
{
    return exit_kind < ARRAY_COUNT(kind_texts) ? kind_texts[exit_kind] : "unknown";
}

/* Writes the first non-empty line of a report, printable; callers add "panic" themselves. */
static void first_line(char out[OUTCOME_TEXT_BYTES], const char *text, size_t bytes)
{
    static const char mark[] = "panic: ";
    size_t used = 0;

    for (; bytes > 0 && (*text == '\r' || *text == '\n' || *text == ' '); bytes--)
        text++;
    if (bytes >= sizeof mark && memcmp(text, mark, sizeof mark - 1) == 0) {
        text += sizeof mark - 1;
        bytes -= sizeof mark - 1;
    }
    while (used < bytes && used + 1 < OUTCOME_TEXT_BYTES && text[used] && text[used] != '\n') {
        out[used] = text[used] >= ' ' && text[used] <= '~' ? text[used] : '?';
        used++;
    }
    while (used > 0 && (out[used - 1] == '?' || out[used - 1] == ' ')) /* CR */
        used--;
    out[used] = '\0';
}

void outcome_of_kernel(struct outcome *outcome, uint64_t returned, const struct boot_result *result)
{
    static const enum outcome_end ends[] = {
        [BOOT_END_DONE] = OUTCOME_DONE,
        [BOOT_END_PANIC] = OUTCOME_PANIC,
        [BOOT_END_HUNG] = OUTCOME_HUNG,
        [BOOT_END_UNSENT] = OUTCOME_UNSENT,
    };
    size_t report =
        result->report_bytes < BOOT_REPORT_BYTES ? result->report_bytes : BOOT_REPORT_BYTES;

    memset(outcome, 0, sizeof *outcome);
    outcome->exit_kind = result->exit_kind;
    outcome->exit_code = result->exit_code;
    outcome->samples = result->samples;
    outcome->lost_samples = result->lost_samples;
    outcome->sent_bytes = result->sent_bytes;
    if (returned != result->end || result->end < BOOT_END_DONE || result->end > BOOT_END_UNSENT) {
        outcome->end = OUTCOME_PANIC;
        format_text(outcome->reason, sizeof outcome->reason,
                    "the kernel came back with %lu and says %u: its memory is damaged", returned,
                    result->end);
        return;
    }
    outcome->end = ends[result->end];
    first_line(outcome->reason, result->report, report);
}

void outcome_not_started(struct outcome *outcome, const char *reason)
{
    memset(outcome, 0, sizeof *outcome);
    outcome->end = OUTCOME_NOT_STARTED;
    first_line(outcome->reason, reason, strlen(reason));
}

bool outcome_lacks_reason(const struct outcome *o)
{
    return o->end == OUTCOME_DONE && o->reason[0] == '\0' &&
           (o->exit_kind == HR_EXIT_REFUSED || o->exit_kind == 0);
}

void outcome_reason(struct outcome *o, const char *reason)
{
    first_line(o->reason, reason, strlen(reason));
}

static void program_text(const struct outcome *o, char *out, size_t room)
{
    switch (o->exit_kind) {
    case HR_EXIT_STATUS:
        format_text(out, room, "program ended with status %u", o->exit_code);
        break;
    case HR_EXIT_SIGNAL:
        format_text(out, room, "program ended by signal %u", o->exit_code);
        break;
    case HR_EXIT_TIMEOUT:
        format_text(out, room, "program stopped after its time limit");
        break;
    case HR_EXIT_REFUSED:
        format_text(out, room, "program could not be started (error %u)%s", o->exit_code,
                    o->reason[0] ? "" : ", see the log");
        break;
    default:
        format_text(out, room, "program was not started%s", o->reason[0] ? "" : ", see the log");
        break;
    }
}

void outcome_short(const struct outcome *o, char *out, size_t room)
{
    if (o->end != OUTCOME_DONE)
        format_text(out, room, "%s", end_texts[o->end]);
    else if (o->exit_kind == HR_EXIT_STATUS || o->exit_kind == HR_EXIT_SIGNAL)
        format_text(out, room, "%s %u", kind_texts[o->exit_kind], o->exit_code);
    else
        format_text(out, room, "%s", outcome_kind_text(o->exit_kind));
}

void outcome_text(const struct outcome *o, char *out, size_t room)
{
    static const char *const befores[] = {
        [OUTCOME_DONE] = "",
        [OUTCOME_PANIC] = "the kernel gave up",
        [OUTCOME_HUNG] = "the kernel hung and was left",
        [OUTCOME_UNSENT] = "not everything was sent",
        [OUTCOME_NOT_STARTED] = "not started",
    };
    const char *between = o->reason[0] ? ": " : "";
    char program[80];

    program_text(o, program, sizeof program);
    if (o->end == OUTCOME_DONE)
        format_text(out, room, "%s%s%s", program, between, o->reason);
    else if (o->end == OUTCOME_NOT_STARTED || o->exit_kind == 0)
        format_text(out, room, "%s%s%s", befores[o->end], between, o->reason);
    else
        format_text(out, room, "%s; %s%s%s", befores[o->end], program, between, o->reason);
}

bool outcome_good(const struct outcome *o)
{
    return o->end == OUTCOME_DONE && o->exit_kind == HR_EXIT_STATUS;
}

bool outcome_final(const struct outcome *o)
{
    return o->end != OUTCOME_UNSENT && o->end != OUTCOME_NOT_STARTED;
}
