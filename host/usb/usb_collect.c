/* Copies results from a stick. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/usb/usb_collect.h"
#include "host/usb/usb_device.h"
#include "host/usb/usb_source.h"
#include "host/usb/usb_take.h"

#define NUMBER_DIGITS_MAX 9
#define COLUMN_BYTES 24 /* of a displayed text */

struct collection {
    const struct usb_options *options;
    struct usb_source source;
    struct usb_names numbers; /* "001" and so on, in order */
    size_t states[USB_NOT_TAKEN + 1];
    size_t known;
    uint64_t taken_bytes;
    struct run_failure *failure;
};

static void interrupt(int signal_number)
{
    usb_take_interrupted = signal_number;
}

static void watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt};

    sigemptyset(&action.sa_mask);
    signal(SIGXFSZ, SIG_IGN); /* so that write() fails at a limit on files */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

/* "001/" is the directory of a result; other entries are ignored. */
static bool is_number(char *name)
{
    size_t bytes = strlen(name);

    if (bytes < 2 || bytes - 1 > NUMBER_DIGITS_MAX || name[bytes - 1] != '/')
        return false;
    name[--bytes] = 0;
    for (size_t i = 0; i < bytes; i++)
        if (!isdigit((unsigned char)name[i]))
            return false;
    return true;
}

static int by_number(const void *left, const void *right)
{
    unsigned long a = strtoul(left, NULL, 10), b = strtoul(right, NULL, 10);

    return a != b ? (a > b) - (a < b) : strcmp(left, right);
}

static int find_results(struct collection *c)
{
    struct usb_names *names = &c->numbers;
    struct run_failure words = {0};
    size_t count = 0;

    if (usb_source_list(&c->source, "results", names, &words) != 0)
        return run_fail(c->failure,
                        "%s: no results can be read (%s); is it a stick that hr usb wrote?",
                        c->source.path, words.text);
    for (size_t i = 0; i < names->count; i++)
        if (is_number(names->names[i])) {
            memmove(names->names[count], names->names[i], sizeof names->names[i]);
            count++;
        }
    names->count = count;
    if (count > 0)
        qsort(names->names, count, sizeof *names->names, by_number);
    return 0;
}

static int open_all(struct collection *c)
{
    const struct usb_options *o = c->options;
    struct usb_device device;
    struct stat status;

    if (usb_source_open(&c->source, o->collect, c->failure) != 0)
        return -1;
    if (o->clear && stat(o->collect, &status) == 0 && S_ISBLK(status.st_mode) &&
        (usb_device_look_up(&device, "", o->collect, status.st_rdev, c->failure) != 0 ||
         usb_device_check_unused(&device, "", c->failure) != 0))
        return -1;
    if (mkdir(o->output, 0777) != 0 && errno != EEXIST)
        return run_fail(c->failure, "%s: %s", o->output, strerror(errno));
    return find_results(c);
}

/* Fits a text from the stick into a column of the table. */
static const char *column(char out[COLUMN_BYTES], const char *text)
{
    text_escape(out, COLUMN_BYTES, text[0] != 0 ? text : "-");
    return out;
}

static void print_head(void)
{
    printf("%-6s %-16s %-16s %-11s %-12s %12s %10s %10s\n", "result", "run", "machine", "end",
           "exit", "samples", "lost", "size");
}

static void print_row(const struct usb_take *t)
{
    const struct usb_result *r = &t->result;
    char run[COLUMN_BYTES], machine[COLUMN_BYTES], end[COLUMN_BYTES], exit[COLUMN_BYTES];
    char samples[TEXT_QUANTITY_BYTES] = "-", lost[TEXT_QUANTITY_BYTES] = "-";
    char size[TEXT_QUANTITY_BYTES], text[USB_RESULT_TEXT_BYTES + 32];

    snprintf(text, sizeof text, "%s", r->exit_kind);
    if (strcmp(r->exit_kind, "status") == 0 || strcmp(r->exit_kind, "signal") == 0)
        snprintf(text, sizeof text, "%s %lu", r->exit_kind, r->exit_code);
    if (t->has_trace) {
        text_count(samples, t->samples);
        text_count(lost, t->lost_samples);
    }
    printf("%-6s %-16s %-16s %-11s %-12s %12s %10s %10s%s\n", t->number, column(run, r->run),
           column(machine, r->machine), column(end, r->complete ? r->end : "incomplete"),
           column(exit, text), samples, lost, text_bytes(size, t->bytes),
           t->known ? "  (was here)" : "");
    fflush(stdout);
}

static void print_problems(const struct usb_take *t)
{
    for (size_t i = 0; i < t->problem_count; i++)
        error_print("%s: %s", t->number, t->problems[i]);
    if (t->result.complete && strcmp(t->result.end, "done") != 0 && t->result.reason[0] != 0)
        error_print("%s: %s: %s", t->number, t->result.end, t->result.reason);
}

/* Before removal from the stick, the copy must be on the disk. */
static int clear(struct collection *c, struct usb_take *t)
{
    struct run_failure words = {0};
    int fd = open(c->options->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd >= 0 ? syncfs(fd) : -1;

    if (fd >= 0)
        close(fd);
    if (result != 0)
        return run_fail(c->failure, "%s: %s", c->options->output, strerror(errno));
    if (usb_take_clear(t, &words) == 0)
        return 0;
    return run_fail(c->failure, "%s: %s cannot be removed from the stick: %s", c->source.path,
                    t->number, words.text);
}

static int take_one(struct collection *c, const char *number, struct usb_take *t)
{
    int result;

    memset(t, 0, sizeof *t);
    t->source = &c->source;
    t->directory = c->options->output;
    t->number = number;
    t->taken_bytes = c->taken_bytes;
    result = usb_take(t, c->failure);
    c->taken_bytes = t->taken_bytes;
    if (result == 0) {
        if (!c->options->run.quiet) {
            print_row(t);
            print_problems(t);
        }
        c->states[t->state]++;
        c->known += t->known;
    }
    if (result == 0 && c->options->clear && t->state == USB_TAKEN)
        result = clear(c, t);
    usb_take_free(t);
    return result;
}

/* Prints a summary line on standard error, because programs read the table, too. */
static void print_sum(const struct collection *c)
{
    size_t taken = c->numbers.count - c->states[USB_NOT_TAKEN];
    size_t kept = c->numbers.count - c->states[USB_TAKEN];

    if (c->numbers.count == 0) {
        fprintf(stderr, "hr: %s: there are no results on it yet\n", c->source.path);
        return;
    }
    fprintf(stderr, "hr: %zu %s in %s", taken, taken == 1 ? "result" : "results",
            c->options->output);
    if (c->states[USB_TAKEN_INCOMPLETE] != 0)
        fprintf(stderr, ", %zu incomplete", c->states[USB_TAKEN_INCOMPLETE]);
    if (c->states[USB_TAKEN_DAMAGED] != 0)
        fprintf(stderr, ", %zu damaged", c->states[USB_TAKEN_DAMAGED]);
    if (c->states[USB_NOT_TAKEN] != 0)
        fprintf(stderr, "; %zu not taken", c->states[USB_NOT_TAKEN]);
    if (c->options->clear)
        fprintf(stderr, "; %zu removed from the stick%s", c->states[USB_TAKEN],
                kept != 0 ? ", the others stay there" : "");
    fputc('\n', stderr);
}

int usb_collect(const struct usb_options *o, struct run_failure *failure)
{
    struct collection c = {.options = o, .source = {.fd = -1}, .failure = failure};
    struct usb_take *take = malloc(sizeof *take);
    int result =
        take != NULL ? open_all(&c) : run_fail(failure, "out of memory; end other programs");

    watch_signals();
    if (result == 0 && c.numbers.count > 0 && !o->run.quiet)
        print_head();
    for (size_t i = 0; i < c.numbers.count && result == 0; i++)
        result = take_one(&c, c.numbers.names[i], take);
    if (result == 0 && !o->run.quiet)
        print_sum(&c);
    usb_source_close(&c.source);
    free(c.numbers.names);
    free(take);
    if (result != 0)
        return -1;
    return c.states[USB_TAKEN] == c.numbers.count ? HR_EXIT_OK : HR_EXIT_FAILED;
}
