/* Copies one result from a stick. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/usb/usb_take.h"
#include "host/usb/usb_take_stream.h"

#define TRACE_NAME "hr.bin"
#define CONF_NAME "result.conf"

/* Returns whether the first `bytes` of two files are equal. */
static bool same_start(const char *one, const char *other, uint64_t bytes)
{
    FILE *a = fopen(one, "re"), *b = fopen(other, "re");
    static char left[65536], right[65536];
    bool same = a != NULL && b != NULL;

    while (same && bytes > 0) {
        size_t now = bytes < sizeof left ? (size_t)bytes : sizeof left;

        same = fread(left, 1, now, a) == now && fread(right, 1, now, b) == now &&
               memcmp(left, right, now) == 0;
        bytes -= now;
    }
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return same;
}

static bool same_target(const char *one, const char *other)
{
    char left[PATH_MAX], right[PATH_MAX];
    ssize_t bytes = readlink(one, left, sizeof left);

    return bytes >= 0 && readlink(other, right, sizeof right) == bytes &&
           memcmp(left, right, (size_t)bytes) == 0;
}

/* Opens directories and regular files only, because a program may have left a named pipe, or a link
 * to one. */
static bool same_entry(const FTSENT *entry, const char *other, uint64_t trace_bytes)
{
    const struct stat *here = entry->fts_statp;
    bool trace = entry->fts_level == 1 && strcmp(entry->fts_name, TRACE_NAME) == 0;
    struct stat there;

    if (lstat(other, &there) != 0 || (there.st_mode & S_IFMT) != (here->st_mode & S_IFMT))
        return false;
    switch (entry->fts_info) {
    case FTS_D:
        return true;
    case FTS_F:
        return (trace || there.st_size == here->st_size) &&
               same_start(entry->fts_path, other, trace ? trace_bytes : (uint64_t)here->st_size);
    case FTS_SL:
    case FTS_SLNONE:
        return same_target(entry->fts_path, other);
    default:
        return false;
    }
}

/* Returns whether `place` contains everything in the directory `taken` with equal bytes, including
 * the program's files.  Of hr.bin only the first `trace_bytes` count, because the collector adds to
 * it.  Other contents of `place` do not matter.  An unreadable file counts as different, because
 * the stick may lose its copy if this returns true. */
static bool is_known(const char *taken, const char *place, uint64_t trace_bytes)
{
    char *const roots[] = {(char *)taken, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry = NULL;
    bool same = tree != NULL;
    bool any = false;

    while (same && (entry = fts_read(tree)) != NULL) {
        char other[2 * PATH_MAX];
        int bytes;

        if (entry->fts_info == FTS_DP)
            continue;
        bytes = snprintf(other, sizeof other, "%s%s", place, entry->fts_path + strlen(taken));
        any = any || entry->fts_level > 0;
        same = bytes > 0 && (size_t)bytes < sizeof other && same_entry(entry, other, trace_bytes);
    }
    if (tree != NULL)
        fts_close(tree);
    return same && any;
}

volatile int usb_take_interrupted;

void usb_take_problem(struct usb_take *t, enum usb_take_state state, const char *format, ...)
{
    char text[USB_TAKE_PROBLEM_BYTES];
    va_list arguments;

    if (state > t->state)
        t->state = state;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < t->problem_count; i++)
        if (strcmp(t->problems[i], text) == 0)
            return; /* an invalid trace is read twice */
    if (t->problem_count < USB_TAKE_PROBLEMS)
        memcpy(t->problems[t->problem_count++], text, sizeof text);
}

struct conf {
    char *text;
    size_t bytes;
};

static int append(void *context, const void *bytes, size_t count)
{
    struct conf *conf = context;

    if (count > USB_RESULT_BYTES_MAX - conf->bytes)
        return -1;
    memcpy(conf->text + conf->bytes, bytes, count);
    conf->bytes += count;
    return 0;
}

/* Keeps the file unchanged, for further inspection. */
static int keep_conf(struct usb_take *t, const struct conf *conf)
{
    char path[PATH_MAX + sizeof CONF_NAME + 1];
    ssize_t written = -1;
    int fd;

    snprintf(path, sizeof path, "%s/" CONF_NAME, t->temporary);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        written = write(fd, conf->text, conf->bytes);
        close(fd);
    }
    if (written == (ssize_t)conf->bytes)
        return 0;
    return run_fail(t->failure, "%s: %s", path, strerror(errno));
}

static int read_conf(struct usb_take *t)
{
    struct conf conf = {.text = malloc(USB_RESULT_BYTES_MAX)};
    char error[USB_RESULT_ERROR_BYTES];
    struct run_failure words = {0};
    enum usb_tool_end end;
    char path[128];
    int result = 0;

    if (conf.text == NULL)
        return run_fail(t->failure, "out of memory; end other programs");
    snprintf(path, sizeof path, "results/%.32s/" CONF_NAME, t->number);
    end = usb_source_read(t->source, path, append, &conf, &words);
    if (usb_take_interrupted != 0)
        result = run_fail(t->failure, "interrupted");
    else if (end == USB_TOOL_ABSENT)
        result = run_fail(t->failure, "%s", words.text);
    else if (end == USB_TOOL_STOPPED)
        usb_take_problem(t, USB_TAKEN_DAMAGED, CONF_NAME " is too long");
    else if (usb_result_parse(conf.text, conf.bytes, &t->result, error) != 0)
        usb_take_problem(t, USB_TAKEN_DAMAGED, CONF_NAME ", %s", error);
    else if (!t->result.complete)
        usb_take_problem(
            t, USB_TAKEN_INCOMPLETE,
            "it was not written to its end: the machine was switched off, or the stick pulled out");
    if (result == 0 && conf.bytes > 0)
        result = keep_conf(t, &conf);
    free(conf.text);
    return result;
}

static int take_streams(struct usb_take *t)
{
    static const enum usb_stream plain[] = {USB_STDOUT, USB_STDERR, USB_LOG};
    uint64_t bytes = 0;

    for (size_t i = 0; i < t->result.file_count; i++)
        bytes += t->result.files[i].bytes;
    progress_bar_init(&t->bar, true);
    progress_bar_begin(&t->bar, bytes);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (usb_take_has(t, plain[i]) && usb_take_plain(t, plain[i]) != 0)
            return -1;
    if (usb_take_has(t, USB_TRACE) && usb_take_trace(t) != 0)
        return -1;
    return usb_take_has(t, USB_FILES) ? usb_take_files(t) : 0;
}

static int remove_one(const char *path, const struct stat *, int /* type */, struct FTW *)
{
    return remove(path);
}

static void remove_temporary(struct usb_take *t)
{
    if (t->temporary[0] != 0)
        (void)nftw(t->temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    t->temporary[0] = 0;
}

/* Gives the result its name, unless that exists. */
static int publish(struct usb_take *t)
{
    char place[PATH_MAX];

    if (usb_take_interrupted != 0) /* an incomplete read may look complete */
        return run_fail(t->failure, "interrupted");
    snprintf(place, sizeof place, "%s/%s", t->directory, t->number);
    if (access(place, F_OK) != 0) {
        if (rename(t->temporary, place) != 0)
            return run_fail(t->failure, "%s: %s", place, strerror(errno));
        t->temporary[0] = 0;
        return 0;
    }
    t->known = is_known(t->temporary, place, t->trace_bytes);
    if (!t->known)
        usb_take_problem(t, USB_NOT_TAKEN,
                         "%s holds another result, which stays; name another directory with -o: "
                         "after --clear numbers begin at 001 again",
                         place);
    return 0;
}

static int make_temporary(struct usb_take *t)
{
    mode_t mask = umask(0);

    umask(mask);
    if (snprintf(t->temporary, sizeof t->temporary, "%s/%s.unfinished-XXXXXX", t->directory,
                 t->number) >= (int)sizeof t->temporary ||
        mkdtemp(t->temporary) == NULL || chmod(t->temporary, 0777 & ~mask) != 0) {
        run_fail(t->failure, "%s: %s", t->directory, strerror(errno));
        t->temporary[0] = 0;
        return -1;
    }
    return 0;
}

int usb_take(struct usb_take *t, struct run_failure *failure)
{
    struct run_failure words = {0};
    char path[128];
    int result;

    t->failure = failure;
    if (make_temporary(t) != 0)
        return -1;
    snprintf(path, sizeof path, "results/%.32s", t->number);
    if (usb_source_list(t->source, path, &t->names, &words) != 0)
        usb_take_problem(t, USB_TAKEN_DAMAGED, "its directory cannot be read: %s", words.text);
    result = read_conf(t);
    if (result == 0) {
        result = take_streams(t);
        progress_bar_end(&t->bar);
    }
    if (t->result.cut_bytes != 0)
        usb_take_problem(t, USB_TAKEN_INCOMPLETE, "the stick was full: %lu bytes are missing",
                         t->result.cut_bytes);
    if (result == 0)
        result = publish(t);
    remove_temporary(t);
    return result;
}

void usb_take_free(struct usb_take *t)
{
    free(t->names.names);
    t->names = (struct usb_names){0};
}

int usb_take_clear(struct usb_take *t, struct run_failure *failure)
{
    char path[128];

    for (size_t i = 0; i < t->names.count; i++) {
        enum usb_stream stream;
        uint32_t part;

        if (strcmp(t->names.names[i], CONF_NAME) != 0 &&
            usb_result_parse_name(t->names.names[i], &stream, &part) != 0)
            continue;
        snprintf(path, sizeof path, "results/%.32s/%.40s", t->number, t->names.names[i]);
        if (usb_source_remove(t->source, false, path, failure) != 0)
            return -1;
    }
    snprintf(path, sizeof path, "results/%.32s", t->number);
    return usb_source_remove(t->source, true, path, failure);
}
