/* The marks by which hr recognises the files that it writes.
 *
 * Every format has a mark at a fixed place: its own magic number if no other format has it, or the
 * word Microtome if the format has room for it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum output_kind {
    OUTPUT_TRACE,
    OUTPUT_PAGE,
    OUTPUT_PICTURE,
    OUTPUT_EXPORT,
    OUTPUT_ARCHIVE,
    OUTPUT_IMAGE,
    OUTPUT_KINDS,
};

/* What writers put into the files. */
#define OUTPUT_MARK_PAGE "<!doctype html>\n<!-- Microtome: hr view -->"
#define OUTPUT_MARK_PICTURE "<?xml version='1.0' encoding='UTF-8'?>\n<!-- Microtome: hr plot -->\n"
#define OUTPUT_MARK_CSV "time_ns,cpu,tid,ip,symbol"
#define OUTPUT_MARK_FIREFOX "{\"meta\":{\"importedFrom\":\"Microtome\","
#define OUTPUT_MARK_GZIP "Microtome" /* the comment in gzip's header */
#define OUTPUT_MARK_PERF "Microtome export" /* after the header */
#define OUTPUT_MARK_SQLITE 0x4d63746d /* PRAGMA application_id */

/* Returns whether a file of `file_bytes` bytes that begins with these `count` bytes is of a format
 * without a mark. */
typedef bool output_kind_likeness(const uint8_t *bytes, size_t count, uint64_t file_bytes);

/* output_kind_name returns "trace", "page"; output_kind_words is unambiguous: "trace", "page of hr
 * view". */
const char *output_kind_name(enum output_kind kind);
const char *output_kind_words(enum output_kind kind);

/* Returns whether the regular file open at `fd` is of the kind.  An empty file is of every kind, an
 * unreadable one of none. */
bool output_kind_is(int fd, enum output_kind kind, output_kind_likeness *looks_alike);
