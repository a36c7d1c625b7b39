/* result.conf: the loader's description of a run and its files (docs/bare-metal.md, "Files on the
 * stick").  It comes from a stick, which anyone may have written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USB_RESULT_BYTES_MAX (1u << 20)
#define USB_RESULT_FILES_MAX 1024
#define USB_RESULT_TEXT_BYTES 256
#define USB_RESULT_ERROR_BYTES 160

enum usb_stream { USB_STDOUT, USB_STDERR, USB_FILES, USB_TRACE, USB_LOG, USB_STREAMS };

struct usb_result_file { /* a part of a stream: at most 4 GB, the limit of FAT */
    enum usb_stream stream;
    uint32_t part; /* 0, 1, ... */
    uint64_t bytes;
    uint32_t crc32c;
};

struct usb_result {
    bool complete; /* it says how the run ended, so everything that it lists was written */
    char run[USB_RESULT_TEXT_BYTES];
    char machine[USB_RESULT_TEXT_BYTES];
    char end[USB_RESULT_TEXT_BYTES]; /* done, panic, hung, unsent, not-started */
    char exit_kind[USB_RESULT_TEXT_BYTES]; /* none, status, signal, timeout, refused */
    char reason[USB_RESULT_TEXT_BYTES];
    uint64_t repetition; /* from 1; 0: it does not say */
    uint64_t exit_code;
    uint64_t samples;
    uint64_t lost_samples;
    uint64_t elapsed_ns;
    uint64_t cut_bytes; /* bytes of all streams that did not fit on the stick */
    struct usb_result_file files[USB_RESULT_FILES_MAX]; /* parts of a stream are in order */
    size_t file_count;
};

/* Parses the text, which need not end with a NUL.  Ignores unknown keys, which a newer loader may
 * write.  Returns 0, or -EINVAL with a text in *error; *r then holds what was read before. */
int usb_result_parse(const char *text, size_t bytes, struct usb_result *r,
                     char error[USB_RESULT_ERROR_BYTES]);

/* Writes "hr.bin", or "hr.bin.N" for a further part; `name` has USB_RESULT_NAME_BYTES. */
#define USB_RESULT_NAME_BYTES 32
char *usb_result_name(char *name, enum usb_stream stream, uint32_t part);

/* Finds the stream and part of a file's name.  Returns 0, or -EINVAL if it is not a file of a
 * result. */
int usb_result_parse_name(const char *name, enum usb_stream *stream, uint32_t *part);
