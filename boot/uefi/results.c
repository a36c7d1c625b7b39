/* Writes \results\NNN. */
#include "boot/uefi/results.h"

#include <string.h>

#include "boot/uefi/results_file.h"
#include "boot/uefi/say.h"
#include "include/version.h"
#include "lib/array.h"
#include "lib/format.h"
#include "lib/x86.h"

#define CONF_BYTES 1536 /* of result.conf without its list of files */
#define LOG_SPARE_BYTES 2048 /* for messages while files are written */

static const struct stream {
    enum run_stream_port port;
    const char *name;
    bool always; /* even if it is empty */
} streams[] = {
    /* The trace comes last: even if it is cut, its first part is usable. */
    {RUN_STREAM_STDOUT, "stdout", true},
    {RUN_STREAM_STDERR, "stderr", true},
    {RUN_STREAM_FILES, "files.bin", false},
    {RUN_STREAM_TRACE, "hr.bin", false},
};

struct place { /* state of one result */
    char directory[RESULTS_PATH_BYTES];
    EFI_FILE *conf, *log;
    uint64_t conf_bytes, log_bytes; /* reserved */
    uint64_t log_used;
    size_t log_said; /* bytes of the loader's log that are in log.txt */
    struct results_list list;
};

static uint8_t *buffer; /* of RESULTS_BUFFER_BYTES */
static uint64_t part_bytes_max;
static uint32_t next_number;

bool results_init(uint64_t part_bytes, char why[VOLUME_WHY_BYTES])
{
    EFI_STATUS status;
    EFI_FILE *directory = volume_file("\\results", VOLUME_DIRECTORY | VOLUME_CREATE, &status);

    part_bytes_max = part_bytes;
    buffer = (uint8_t *)(uintptr_t)firmware_pages(RESULTS_BUFFER_BYTES);
    if (directory == NULL || buffer == NULL) {
        format_text(why, VOLUME_WHY_BYTES, "\\results cannot be written: %s",
                    firmware_error(directory != NULL ? EFI_OUT_OF_RESOURCES : status));
        return false;
    }
    next_number = volume_highest_number(directory) + 1;
    directory->Close(directory);
    return true;
}

/* Creates a new directory. */
static EFI_STATUS make_directory(struct place *place)
{
    EFI_STATUS status;
    EFI_FILE *directory;

    for (;; next_number++) {
        format_text(place->directory, sizeof place->directory, "\\results\\%03u", next_number);
        directory = volume_file(place->directory, VOLUME_DIRECTORY, &status);
        if (directory == NULL)
            break;
        directory->Close(directory);
    }
    directory = volume_file(place->directory, VOLUME_DIRECTORY | VOLUME_CREATE, &status);
    if (directory == NULL)
        return status;
    directory->Close(directory);
    next_number++;
    return EFI_SUCCESS;
}

static EFI_FILE *create(const struct place *place, const char *name, EFI_STATUS *status)
{
    char path[RESULTS_PATH_BYTES + 16];

    format_text(path, sizeof path, "%s\\%s", place->directory, name);
    return volume_file(path, VOLUME_CREATE, status);
}

static EFI_STATUS write_all(EFI_FILE *file, const void *bytes, uint64_t count)
{
    EFI_STATUS status = EFI_SUCCESS;

    if (count > 0)
        results_file_write(file, bytes, count, &status);
    return status;
}

/* Fills reserved room with blank lines. */
static EFI_STATUS write_blank(EFI_FILE *file, uint64_t count)
{
    EFI_STATUS status = EFI_SUCCESS;

    memset(buffer, '\n', RESULTS_BUFFER_BYTES);
    while (count > 0 && !EFI_ERROR(status)) {
        uint64_t now = count < RESULTS_BUFFER_BYTES ? count : RESULTS_BUFFER_BYTES;

        status = write_all(file, buffer, now);
        count -= now;
    }
    return status;
}

static EFI_STATUS reserve_conf(struct place *place, const struct frames *frames)
{
    static const char note[] = "# This result is not complete: the machine was switched off while "
                               "it was written.\n";
    EFI_STATUS status;

    place->list.room = 0;
    for (size_t i = 0; i < ARRAY_COUNT(streams); i++)
        place->list.room += results_file_list_bytes(frames->ports[streams[i].port], part_bytes_max);
    place->list.room += results_file_list_bytes(0, part_bytes_max); /* log.txt */
    place->conf_bytes = CONF_BYTES + place->list.room;
    place->list.text = (char *)(uintptr_t)firmware_pages(place->list.room);
    if (place->list.text == NULL)
        return EFI_OUT_OF_RESOURCES;
    place->conf = create(place, "result.conf", &status);
    if (place->conf == NULL)
        return status;
    status = write_all(place->conf, note, sizeof note - 1);
    return EFI_ERROR(status) ? status
                             : write_blank(place->conf, place->conf_bytes - (sizeof note - 1));
}

static EFI_STATUS put_log(struct place *place, const void *bytes, uint64_t count)
{
    EFI_STATUS status = write_all(place->log, bytes, count);

    place->log_used += EFI_ERROR(status) ? 0 : count;
    return status;
}

/* Writes the kernel's log, its report if it panicked, and the loader's log, and reserves room for
 * more. */
static EFI_STATUS reserve_log(struct place *place, const struct results_run *run)
{
    struct frames_walk walk;
    struct frames_piece piece;
    EFI_STATUS status;
    const char *said = say_log(&place->log_said);

    place->log = create(place, "log.txt", &status);
    if (place->log == NULL)
        return status;
    frames_walk(&walk, run->frames);
    while (!EFI_ERROR(status) && frames_next(&walk, RUN_STREAM_LOG, &piece))
        status = put_log(place, piece.bytes, piece.count);
    if (!EFI_ERROR(status) && run->report_bytes > 0)
        status = put_log(place, run->report, run->report_bytes);
    if (!EFI_ERROR(status) && run->report_bytes > 0 && run->report[run->report_bytes - 1] != '\n')
        status = put_log(place, "\n", 1);
    if (!EFI_ERROR(status))
        status = put_log(place, said, place->log_said);
    return EFI_ERROR(status) ? status : write_blank(place->log, LOG_SPARE_BYTES);
}

/* Writes one stream.  Returns true if it is complete. */
static bool write_stream(struct place *place, const struct results_run *run,
                         const struct stream *stream, uint64_t *bytes)
{
    struct results_file file = {
        .directory = place->directory,
        .part_bytes = part_bytes_max,
        .buffer = buffer,
        .list = &place->list,
        .written = run->written,
    };
    struct frames_walk walk;
    struct frames_piece piece;

    if (run->log_only || (run->frames->ports[stream->port] == 0 && !stream->always))
        return true;
    results_file_begin(&file, stream->name);
    frames_walk(&walk, run->frames);
    while (frames_next(&walk, stream->port, &piece))
        results_file_put(&file, piece.bytes, piece.count);
    results_file_end(&file);
    *bytes += file.done;
    if (!EFI_ERROR(file.status))
        return true;
    say_error("%s\\%s: %s: %lu bytes are there, %lu are missing", place->directory, stream->name,
              firmware_error(file.status), file.done, file.cut);
    return false;
}

/* Writes result.conf over its reserved room. */
static EFI_STATUS finish_conf(struct place *place, const struct results_run *run)
{
    const struct outcome *o = run->outcome;
    char text[CONF_BYTES];
    uint64_t used;
    EFI_STATUS status;

    used = (uint64_t)format_text(
        text, sizeof text,
        "version = 1\nloader = %s\nrun = %s\narchive = %s\nrepetition = %u\nmachine = %s\n"
        "end = %s\nexit-kind = %s\nexit-code = %u\nsamples = %lu\nlost-samples = %lu\n"
        "seconds = %lu.%06lu\n%s%s%s%s%s%s",
        VERSION_TEXT, run->run, run->archive, run->repetition, run->machine,
        outcome_end_text(o->end), outcome_kind_text(o->exit_kind), o->exit_code, o->samples,
        o->lost_samples, run->elapsed_ns / 1000000000, run->elapsed_ns / 1000 % 1000000,
        run->started[0] ? "started = " : "", run->started, run->started[0] ? "\n" : "",
        o->reason[0] ? "reason = " : "", o->reason, o->reason[0] ? "\n" : "");
    place->conf->SetPosition(place->conf, 0);
    status = write_all(place->conf, text, used);
    if (!EFI_ERROR(status))
        status = write_all(place->conf, place->list.text, place->list.bytes);
    used += place->list.bytes;
    if (!EFI_ERROR(status))
        status = write_blank(place->conf, place->conf_bytes - used);
    if (!EFI_ERROR(status))
        status = place->conf->Flush(place->conf);
    if (!EFI_ERROR(status))
        volume_resize(place->conf, used); /* if this fails, it ends with blank lines */
    return status;
}

static void finish_log(struct place *place)
{
    size_t bytes;
    const char *said = say_log(&bytes);

    if (place->log == NULL)
        return;
    bytes -= place->log_said;
    if (bytes > LOG_SPARE_BYTES)
        bytes = LOG_SPARE_BYTES;
    place->log->SetPosition(place->log, place->log_used);
    put_log(place, said + place->log_said, bytes);
    volume_resize(place->log, place->log_used);
    place->log->Close(place->log);
}

static void list_cut_log(struct place *place)
{
    const char line[] = "cut = log.txt 1\n";

    memcpy(place->list.text, line, sizeof line - 1);
    place->list.bytes = sizeof line - 1;
}

/* Removes an unfinished result; a directory that is not empty stays. */
static void remove_place(struct place *place)
{
    EFI_STATUS status;
    EFI_FILE *directory;

    if (place->conf != NULL)
        place->conf->Delete(place->conf);
    place->conf = NULL;
    directory = volume_file(place->directory, VOLUME_DIRECTORY, &status);
    if (directory != NULL)
        directory->Delete(directory);
}

/* Creates the directory with room for result.conf and the log; omits a log that does not fit. */
static bool reserve(struct place *place, const struct results_run *run)
{
    EFI_STATUS status = make_directory(place);

    if (EFI_ERROR(status)) {
        say_error("%s: %s: nothing of this run is kept", place->directory, firmware_error(status));
        return false;
    }
    status = reserve_conf(place, run->frames);
    if (EFI_ERROR(status)) {
        say_error("%s: %s: nothing of this run is kept", place->directory, firmware_error(status));
        remove_place(place);
        return false;
    }
    status = reserve_log(place, run);
    if (EFI_ERROR(status)) {
        say_error("%s\\log.txt: %s: it is left out", place->directory, firmware_error(status));
        if (place->log != NULL)
            place->log->Delete(place->log);
        place->log = NULL;
        list_cut_log(place);
    }
    return true;
}

bool results_write(const struct results_run *run, uint64_t *bytes)
{
    struct place place = {.conf = NULL};
    uint64_t start = x86_rdtsc(), elapsed;
    EFI_STATUS status;
    bool good;

    *bytes = 0;
    good = reserve(&place, run);
    if (good) {
        good = place.log != NULL;
        for (size_t i = 0; i < ARRAY_COUNT(streams); i++)
            good = write_stream(&place, run, &streams[i], bytes) && good;
        elapsed = firmware_elapsed_ns(start);
        say("results are in %s: %lu bytes in %lu.%03u s", place.directory, *bytes,
            elapsed / 1000000000, (unsigned)(elapsed / 1000000 % 1000));
        finish_log(&place);
        status = finish_conf(&place, run);
        place.conf->Close(place.conf);
        if (EFI_ERROR(status))
            say_error("%s\\result.conf: %s", place.directory, firmware_error(status));
        good = good && !EFI_ERROR(status);
    }
    if (place.list.text != NULL)
        firmware_free((uintptr_t)place.list.text, place.list.room);
    return good;
}
