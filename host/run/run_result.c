/* Ends a run: closes the trace, explains what went wrong, prints the summary. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/exact/exact_write.h"
#include "host/run/panic_report.h"
#include "host/run/run_hints.h"
#include "host/run/run_result.h"
#include "host/summary/summary.h"
#include "host/summary/summary_show.h"
#include "include/run_ports.h"

#define LOG_LINES 12
#define RECORD_NS 10000000000ull /* for reading once more the files that the program read */
#define RECORD_STOPPED_NS 1000000000ull /* after a signal of the user */

/* libvirt does not pass on the emulator's exit status: then the report on the console tells. */
static bool has_panicked(const struct run_result *r)
{
    if (r->options->libvirt)
        return !r->collector->has_end && panic_report_is_in(r->relay->console.text);
    return WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == RUN_EXIT_PANIC * 2 + 1;
}

static enum hr_host_reason reason_of(const struct run_result *r)
{
    if (has_panicked(r))
        return HR_HOST_GUEST_PANIC;
    if (r->collector->bad != NULL)
        return HR_HOST_BAD_STREAM;
    if (r->relay->timed_out)
        return HR_HOST_TIMEOUT;
    if (r->relay->user_signal != 0)
        return HR_HOST_INTERRUPTED;
    return r->collector->has_end ? HR_HOST_COMPLETE : HR_HOST_GUEST_DIED;
}

static void describe_death(const struct run_result *r, char *out, size_t room)
{
    if (r->relay->killed)
        snprintf(out, room, "did not end when asked and was killed");
    else if (r->options->libvirt)
        snprintf(out, room, "ended; libvirt's log /var/log/libvirt/qemu/microtome-%d.log says why",
                 (int)getpid());
    else if (WIFSIGNALED(r->wait_status))
        snprintf(out, room, "was killed by signal %d (%s)", WTERMSIG(r->wait_status),
                 strsignal(WTERMSIG(r->wait_status)));
    else
        snprintf(out, room, "ended with status %d", WEXITSTATUS(r->wait_status));
}

/* Writes what trace and user are told in addition to the reason (trace_info_host_reason). */
static void describe(const struct run_result *r, enum hr_host_reason reason, char *out, size_t room)
{
    char death[128];

    describe_death(r, death, sizeof death);
    switch (reason) {
    case HR_HOST_INTERRUPTED:
        snprintf(out, room, "signal %d (%s)", r->relay->user_signal,
                 strsignal(r->relay->user_signal));
        break;
    case HR_HOST_BAD_STREAM:
        snprintf(out, room, "%s", r->collector->bad);
        break;
    case HR_HOST_GUEST_DIED:
        snprintf(out, room, "the emulator (QEMU) %s", death);
        break;
    default:
        out[0] = 0;
        break;
    }
}

static void print_block(const char *title, const char *text)
{
    if (text[0] != 0)
        fprintf(stderr, "%s:\n%s%s", title, text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* Prints the last lines of emulator and kernel; with -v they were shown as they came. */
static void print_last_words(const struct run_result *r)
{
    if (r->options->verbose)
        return;
    print_block("the emulator said", relay_log_tail(&r->relay->errors, LOG_LINES));
    print_block("the kernel's log ended with", relay_log_tail(&r->relay->log, LOG_LINES));
    print_block("the console ended with", relay_log_tail(&r->relay->console, LOG_LINES));
}

/* A kernel that cannot count the events names them in a notice; its trace has none. */
static bool has_refused_events(const struct run_result *r)
{
    return r->collector->has_exit && r->collector->exit.kind == HR_EXIT_REFUSED &&
           r->collector->events == 0 && r->options->events.count != 0;
}

/* Says where the samples are: an empty trace has not replaced an earlier one. */
static const char *kept_words(const struct run_result *r, char *room, size_t bytes)
{
    char samples[TEXT_QUANTITY_BYTES];

    if (r->collector->named)
        snprintf(room, bytes, "%s samples up to there are in %s",
                 text_count(samples, r->collector->samples), r->options->output);
    else
        snprintf(room, bytes, "no trace was written");
    return room;
}

static void explain(const struct run_result *r, enum hr_host_reason reason, const char *message)
{
    char room[PATH_MAX + 64];
    const char *kept = kept_words(r, room, sizeof room);

    if (reason == HR_HOST_GUEST_PANIC) {
        error_print("the guest kernel panicked; this is a fault of Microtome; %s", kept);
        panic_report_print(stderr, r->relay->console.text, r->command->kernel);
    } else if (r->failure->exit_status != 0) {
        error_print("%s", r->failure->text);
    } else if (reason == HR_HOST_TIMEOUT) {
        error_print("--timeout: the program was stopped; %s", kept);
    } else if (reason == HR_HOST_GUEST_DIED) {
        error_print("%s before the trace was complete; %s", message, kept);
        print_last_words(r);
    } else if (reason == HR_HOST_INTERRUPTED && !r->collector->has_end) {
        error_print("interrupted by %s; %s", message, kept);
    } else if (r->collector->has_exit && r->collector->exit.kind == HR_EXIT_REFUSED &&
               !has_refused_events(r)) {
        error_print("the guest could not start %s: %s", r->options->program[0],
                    strerror((int)(r->collector->exit.code & 0xfff)));
    }
}

static int program_status(const struct run_result *r)
{
    const struct hr_rec_exit *exit = &r->collector->exit;

    if (!r->collector->has_exit)
        return RUN_EXIT_FAILED;
    switch (exit->kind) {
    case HR_EXIT_STATUS:
        return (int)(exit->code & 0xff);
    case HR_EXIT_SIGNAL:
        return RUN_EXIT_SIGNAL_BASE + (int)(exit->code & 0x7f);
    case HR_EXIT_TIMEOUT:
        return RUN_EXIT_TIMEOUT;
    case HR_EXIT_REFUSED:
        return has_refused_events(r) ? RUN_EXIT_FAILED : RUN_EXIT_NOT_EXECUTABLE;
    default:
        return RUN_EXIT_FAILED;
    }
}

static int exit_status(const struct run_result *r, enum hr_host_reason reason)
{
    if (r->failure->exit_status != 0)
        return r->failure->exit_status;
    switch (reason) {
    case HR_HOST_COMPLETE:
        return program_status(r);
    case HR_HOST_TIMEOUT:
        return RUN_EXIT_TIMEOUT;
    case HR_HOST_INTERRUPTED:
        return RUN_EXIT_SIGNAL_BASE + r->relay->user_signal;
    case HR_HOST_GUEST_DIED:
        /* A program whose reader went away dies natively, too; a slow one here may be stopped
         * first. */
        return r->relay->stop_signal != 0 ? RUN_EXIT_SIGNAL_BASE + r->relay->stop_signal
                                          : RUN_EXIT_FAILED;
    default:
        return RUN_EXIT_FAILED;
    }
}

static void print_summary(const struct run_result *r)
{
    static struct summary summary;
    struct stat status;

    if (r->options->quiet || r->options->repeat != 0 || has_refused_events(r) ||
        r->failure->exit_status != 0 || !r->collector->named ||
        stat(r->options->output, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    if (summary_from_file(r->options->output, &summary) != 0)
        return;
    summary_show(stderr, &summary);
    summary_free(&summary);
}

/* Files without names, because the guest ended early, keep their numbers. */
static void explain_files(const struct run_result *r, enum hr_host_reason reason)
{
    const struct keep_files *k = r->files;

    if (k->directory == NULL || k->ended)
        return;
    if (k->store.pending != 0)
        error_print("--keep-files: the guest ended before it named its files: %u of them are in "
                    "%s/%s, under numbers",
                    k->store.pending, k->directory, k->store.temporary_name);
    if (reason != HR_HOST_COMPLETE || r->failure->exit_status != 0)
        return;
    run_fail(r->failure, "--keep-files: the guest did not send all files");
    error_print("%s", r->failure->text);
}

/* Explains why the trace has no counts, or not all.  No earlier message does so. */
static void explain_exact(struct run_result *r, enum hr_host_reason reason, int error)
{
    const char *said = relay_log_tail(&r->relay->errors, 1);

    if (error == -ENODATA && reason == HR_HOST_GUEST_DIED && !r->collector->has_header)
        run_fail(
            r->failure,
            "--mode exact: %s did not load the plugin %s: %.*s; use Debian's QEMU, or another mode",
            r->command->qemu, r->command->plugin, (int)strcspn(said, "\n"),
            said[0] != 0 ? said : "it says nothing");
    else if (error == -ENODATA || error == -EBADMSG)
        run_fail(r->failure,
                 "--mode exact: what the emulator counted is %s; the trace has totals only",
                 error == -ENODATA ? "missing" : "damaged");
    else if (error != 0)
        run_fail(r->failure, "--mode exact: the counts cannot be put into the trace: %s",
                 strerror(-error));
}

/* Adds the emulator's counts to the trace. */
static void finish_exact(struct run_result *r, enum hr_host_reason reason)
{
    if (r->command->exact < 0)
        return;
    explain_exact(r, reason, exact_write(r->collector, r->command->exact));
    close(r->command->exact);
}

/* Adds the files that were read to the trace. */
static void finish_served(struct run_result *r)
{
    int error = serve_record(r->serve, r->collector,
                             r->relay->user_signal != 0 ? RECORD_STOPPED_NS : RECORD_NS);

    if (error != 0)
        run_fail(r->failure, "cannot put the files that the program read into the trace: %s",
                 strerror(-error));
}

static void explain_served(const struct run_result *r)
{
    char safe[PATH_MAX];

    if (r->serve->bad != NULL)
        error_print("the guest sent what is no request for a file (%s); no more files were served",
                    r->serve->bad);
    if (r->serve->late != 0)
        error_print("%u request%s for files had no answer within %u s, the first in %s; the "
                    "program got EIO",
                    r->serve->late, r->serve->late > 1 ? "s" : "",
                    (unsigned)(SERVE_LIMIT_NS / 1000000000u),
                    text_escape(safe, sizeof safe, r->serve->late_path));
    if (r->network->bad != NULL)
        error_print("the guest sent over the network port what may not be there (%s); the network "
                    "ended",
                    r->network->bad);
}

int run_result_finish(struct run_result *r)
{
    enum hr_host_reason reason = reason_of(r);
    char message[256];
    int result;

    describe(r, reason, message, sizeof message);
    finish_exact(r, reason);
    finish_served(r);
    result = collect_close(r->collector, reason, message);
    if (result != 0)
        run_fail(r->failure, "cannot finish the trace '%s': %s; %s", r->options->output,
                 strerror(-result),
                 r->collector->named ? "it is readable up to there" : "nothing was written");
    explain(r, reason, message);
    if (relay_lost_output(r->relay))
        error_print("the last of the program's output was not read in time and is lost");
    explain_files(r, reason);
    explain_served(r);
    print_summary(r);
    if (r->collector->has_exit)
        run_hints_print(r->options, &r->relay->log,
                        r->collector->exit.kind != HR_EXIT_STATUS || r->collector->exit.code != 0);
    if (r->options->missing && !r->options->dry_run)
        keep_files_print_missing(r->files, stderr);
    return exit_status(r, reason);
}
