/* Prints the files of the host that the program read, as a table or as JSON. */
#include "host/stat/stat_files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "host/base/commands.h"
#include "host/base/text.h"
#include "host/scan/about.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

#define NS_PER_S 1000000000u
#define TIME_BYTES 32
#define HASH_BYTES 20

static const char *hash_text(const struct hr_host_file *file, const char *changed,
                             const char *not_read, char room[HASH_BYTES])
{
    if ((file->flags & HR_FILE_CHANGED) != 0)
        return changed;
    if ((file->flags & HR_FILE_NO_HASH) != 0)
        return not_read;
    snprintf(room, HASH_BYTES, "%016" PRIx64, file->hash);
    return room;
}

static void print_table(const struct trace_info *info)
{
    const char *left_out = trace_info_text(info, "files.left_out", NULL);
    char safe[PATH_MAX], bytes[TEXT_QUANTITY_BYTES], hash[HASH_BYTES], changed[TIME_BYTES];
    struct tm calendar;

    if (info->files.count == 0) {
        printf("The program read no files of the host but those that were packed for it.\n");
        return;
    }
    printf("%20s  %-19s  %-16s  %s\n", "bytes", "last change (UTC)", "hash", "file");
    for (size_t i = 0; i < info->files.count; i++) {
        const struct trace_used_file *used = &info->files.all[i];
        time_t seconds = (time_t)(used->file.modified / NS_PER_S);

        strftime(changed, sizeof changed, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &calendar));
        printf("%20s  %-19s  %-16s  %s\n", text_count(bytes, used->file.bytes), changed,
               hash_text(&used->file, "changed since", "not read again", hash),
               text_escape(safe, sizeof safe, used->path));
    }
    if (left_out != NULL)
        printf("# %s more\n", text_escape(safe, sizeof safe, left_out));
}

static int print_json(const struct trace_info *info)
{
    struct output *out = reader_output_open();
    char hash[HASH_BYTES];

    if (out == NULL)
        return HR_EXIT_FAILED;
    output_text(out, "{\"files\":[");
    for (size_t i = 0; i < info->files.count; i++) {
        const struct trace_used_file *used = &info->files.all[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(
            out, "{\"path\":%s,\"bytes\":%lu,\"modified_ns\":%lu,\"hash\":%s,\"changed\":%d}",
            used->path, used->file.bytes, used->file.modified,
            hash_text(&used->file, NULL, NULL, hash), (used->file.flags & HR_FILE_CHANGED) != 0);
    }
    output_json_print(out, "],\"left_out\":%s}\n", trace_info_text(info, "files.left_out", "0"));
    return reader_output_close(out);
}

int stat_files(const char *path, bool json)
{
    struct trace_info info;
    int error, status = HR_EXIT_OK;

    trace_info_init(&info);
    error = about_read(&info, path);
    if (error != 0) {
        status = reader_fail(path, error);
    } else {
        trace_files_sort(&info.files);
        if (json)
            status = print_json(&info);
        else
            print_table(&info);
    }
    trace_info_free(&info);
    return status;
}
