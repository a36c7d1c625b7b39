/* Words the collector's messages. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/base/units.h"
#include "host/collect/stream_report.h"

#define DRAW_NS 250000000ull
#define REFUSED_NS UNITS_SECOND

void stream_report_init(struct report *r, bool quiet, uint64_t now_ns)
{
    *r = (struct report){.quiet = quiet, .drawn_ns = now_ns};
    progress_init(&r->progress, !quiet, now_ns);
}

void stream_report_listening(struct report *r, const char *where, const char *root, bool any_port,
                             bool in_danger)
{
    if (!r->quiet || any_port) /* only this line tells the port */
        error_print("listening on %s; results go to %s", where, root);
    if (in_danger)
        error_print("anyone who reaches this port may write results; set a secret with --token "
                    "FILE (docs/bare-metal.md)");
}

void stream_report_opened(struct report *r, const struct stream_run *run, const char *peer)
{
    char bytes[TEXT_QUANTITY_BYTES];

    if (r->quiet)
        return;
    progress_erase(&r->progress);
    if (run->place.is_new)
        error_print("%s: begins, from %s", run_place_name(&run->place), peer);
    else
        error_print("%s: goes on after %s, from %s", run_place_name(&run->place),
                    text_bytes(bytes, run->bytes), peer);
}

void stream_report_broken(struct report *r, const struct stream_run *run, const char *why)
{
    char bytes[TEXT_QUANTITY_BYTES];

    progress_erase(&r->progress);
    if (!r->quiet)
        error_print("%s: interrupted after %s: %s; it may go on", run_place_name(&run->place),
                    text_bytes(bytes, run->bytes), why);
}

void stream_report_disk(struct report *r, const struct stream_run *run)
{
    progress_erase(&r->progress);
    error_print("%s: cannot be written: %s; it may go on when that is mended",
                run_place_name(&run->place), strerror(run->error));
}

void stream_report_limit(struct report *r, const struct stream_run *run)
{
    char bytes[TEXT_QUANTITY_BYTES];

    r->failed++;
    progress_erase(&r->progress);
    error_print("%s: ended by --limit after %s; what came is kept", run_place_name(&run->place),
                text_bytes(bytes, run->bytes));
}

static void exit_text(char *out, size_t room, const struct collector *trace)
{
    uint32_t code = trace->exit.code;

    if (!trace->has_exit)
        snprintf(out, room, "how the program ended is not known");
    else if (trace->exit.kind == HR_EXIT_STATUS)
        snprintf(out, room, "the program ended with status %" PRIu32, code);
    else if (trace->exit.kind == HR_EXIT_SIGNAL)
        snprintf(out, room, "the program was killed by signal %" PRIu32, code);
    else if (trace->exit.kind == HR_EXIT_TIMEOUT)
        snprintf(out, room, "the program was stopped by its time limit");
    else
        snprintf(out, room, "the program could not be started");
}

/* Describes what is wrong with the trace; "" if nothing is. */
static void damage_text(char *out, size_t room, const struct stream_run *run)
{
    out[0] = 0;
    if (run->is_bad)
        snprintf(out, room, "; NO TRACE from there on: %s, see hr.bad",
                 run->bad != NULL ? run->bad : "it was damaged before");
    else if (!run->trace.has_header)
        snprintf(out, room, "; it sent NO TRACE");
    else if (!run->trace.has_end)
        snprintf(out, room, "; the END of its trace is missing");
}

void stream_report_complete(struct report *r, const struct stream_run *run)
{
    char samples[TEXT_QUANTITY_BYTES], lost[TEXT_QUANTITY_BYTES], bytes[TEXT_QUANTITY_BYTES];
    char damage[160], ended[80];
    bool whole;

    damage_text(damage, sizeof damage, run);
    exit_text(ended, sizeof ended, &run->trace);
    whole = damage[0] == 0 && run->files_bad == NULL;
    if (whole)
        r->complete++;
    else
        r->failed++;
    progress_erase(&r->progress);
    if (!r->quiet || !whole)
        error_print("%s: %s: %s samples, %s lost, %s; %s%s", run_place_name(&run->place),
                    whole ? "complete" : "ended", text_count(samples, run->trace.samples),
                    text_count(lost, run->trace.lost), text_bytes(bytes, run->bytes), ended,
                    damage);
    if (run->files_bad != NULL)
        error_print("%s: some of its files are missing: %s; files.stream has what arrived",
                    run_place_name(&run->place), run->files_bad);
}

static void print_refused(struct report *r, const char *what, const char *why)
{
    char more[TEXT_QUANTITY_BYTES];

    progress_erase(&r->progress);
    if (r->refused > 1)
        error_print("refused %s: %s; and %s more before", what, why,
                    text_count(more, r->refused - 1));
    else
        error_print("refused %s: %s", what, why);
    r->refused = 0;
}

void stream_report_refused(struct report *r, const char *peer, const char *why, uint64_t now_ns)
{
    r->refused++;
    if (r->refused_ns != 0 && now_ns - r->refused_ns < REFUSED_NS)
        return;
    r->refused_ns = now_ns;
    print_refused(r, peer, why);
}

void stream_report_end(struct report *r)
{
    char count[TEXT_QUANTITY_BYTES];

    progress_erase(&r->progress);
    if (r->refused > 0)
        error_print("refused %s more connections", text_count(count, r->refused));
    r->refused = 0;
}

uint64_t stream_report_draw(struct report *r, uint32_t machines, uint64_t now_ns)
{
    char text[160];
    char bytes[TEXT_QUANTITY_BYTES], rate[TEXT_QUANTITY_BYTES];
    double seconds = (double)(now_ns - r->drawn_ns) / (double)UNITS_SECOND;

    if (!r->progress.enabled)
        return UINT64_MAX;
    if (now_ns - r->drawn_ns < DRAW_NS)
        return r->drawn_ns + DRAW_NS;
    snprintf(text, sizeof text, "hr: %" PRIu32 " connected, %" PRIu32 " complete, %s, %s/s",
             machines, r->complete, text_bytes(bytes, r->received_bytes),
             text_bytes(rate, (uint64_t)((double)(r->received_bytes - r->drawn_bytes) / seconds)));
    progress_show(&r->progress, text);
    r->drawn_ns = now_ns;
    r->drawn_bytes = r->received_bytes;
    return now_ns + DRAW_NS;
}
