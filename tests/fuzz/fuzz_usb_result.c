/* Fuzzes the parser of result.conf: what it takes is consistent, whatever the text. */
#include <string.h>

#include "host/usb/usb_result.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text)
{
    fuzz_check(memchr(text, 0, USB_RESULT_TEXT_BYTES) != NULL);
}

/* Parts of a stream are counted from 0, and each has one name. */
static void check_files(const struct usb_result *r)
{
    uint32_t next[USB_STREAMS] = {0};

    fuzz_check(r->file_count <= USB_RESULT_FILES_MAX);
    for (size_t i = 0; i < r->file_count; i++) {
        const struct usb_result_file *file = &r->files[i];
        char name[USB_RESULT_NAME_BYTES];
        enum usb_stream stream;
        uint32_t part;

        fuzz_check(file->stream < USB_STREAMS && file->part == next[file->stream]++);
        fuzz_check(file->bytes <= UINT32_MAX);
        fuzz_check(usb_result_parse_name(usb_result_name(name, file->stream, file->part), &stream,
                                         &part) == 0);
        fuzz_check(stream == file->stream && part == file->part);
        fuzz_check(strchr(name, '/') == NULL && name[0] != '.');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct usb_result result;
    char error[USB_RESULT_ERROR_BYTES];
    int status = usb_result_parse((const char *)data, size, &result, error);

    fuzz_check((status == 0) == (error[0] == 0));
    fuzz_check(memchr(error, 0, sizeof error) != NULL);
    fuzz_check(status == 0 || !result.complete);
    check_text(result.run);
    check_text(result.machine);
    check_text(result.end);
    check_text(result.exit_kind);
    check_text(result.reason);
    check_files(&result);
    return 0;
}
