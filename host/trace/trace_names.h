/* Names of code that no ELF file has: of Python's code objects, and of code that was made at run
 * time.  They are in META chunks.
 *
 * Nothing is read before trace_names_read(), which takes them from the whole trace at once, because
 * those of code made at run time come last.  Bounded; texts are raw (escape them before printing to
 * a terminal).  Any number of threads may read.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/trace/trace_file.h"
#include "host/trace/trace_jit.h"

#define TRACE_NAMES_CODES_MAX (1u << 20)
#define TRACE_NAMES_BYTES_MAX (256u << 20) /* of all texts, tables and files */
#define TRACE_NAMES_FILES_MAX 1024u

/* Code made at run time, where the trace knows processes: its address, and above the number of its
 * process's names.  No address of a program, of Python's code, nor a common one. */
#define TRACE_NAMES_TAG_SHIFT 48
#define TRACE_NAMES_TAGS 0x4b00ull /* the first */

struct trace_python_code {
    struct hr_meta_python_code meta;
    char *name; /* UTF-8; one allocation holds the name, the file and the lines */
    const char *file; /* UTF-8 */
    const uint8_t *lines; /* meta.line_bytes */
    const struct trace_python_code *first; /* after trace_names_sort: of those with this one's name,
                                              file and first line, that with the lowest start */
};

struct trace_names_made { /* what is in the files of one pid */
    uint32_t pid;
    struct trace_jit jit;
};

struct trace_names {
    struct trace_file file; /* shared; closed after it was read */
    pthread_mutex_t lock;
    unsigned int references;
    bool ready; /* the fields below are filled */
    struct trace_python_code *codes; /* in the order of their starts */
    size_t code_count;
    struct trace_jit_file *files;
    size_t file_count;
    struct trace_names_made *made; /* in the order in which the pids' first files come */
    size_t made_count;
    size_t bytes; /* of all */
    uint64_t ignored; /* records beyond the bounds */
};

/* Returns what the trace in `file` will be asked for, with one reference; NULL: no memory.  `file`
 * need not outlive this call. */
struct trace_names *trace_names_new(const struct trace_file *file);
struct trace_names *trace_names_hold(struct trace_names *names); /* may be NULL, likewise: */
void trace_names_release(struct trace_names *names);

/* Fills the fields at the first call.  Returns 0, or -errno: what there is, then, is less than the
 * trace has. */
int trace_names_read(struct trace_names *names);

/* Returns the code object with the place, or NULL. */
const struct trace_python_code *trace_names_python(const struct trace_names *names, uint64_t place);

/* Returns the code at an address, which may be a place or have a tag as below, or NULL; *jit is
 * what it is in.  Of several pids' the last one counts. */
const struct trace_jit_code *trace_names_made(const struct trace_names *names, uint64_t address,
                                              const struct trace_jit **jit);

/* Returns what to look up for code that a process ran at an address at a time, in nanoseconds: a
 * place, or the address with a tag.  0: the process has no name for it. */
uint64_t trace_names_of_pid(const struct trace_names *names, uint32_t pid, uint64_t address,
                            uint64_t time_ns);

/* Likewise where the trace does not know processes: a place, or the address. */
uint64_t trace_names_place(const struct trace_names *names, uint64_t address, uint64_t time_ns);

/* Returns the address without a tag. */
static inline uint64_t trace_names_untagged(uint64_t address)
{
    return (address >> TRACE_NAMES_TAG_SHIFT) - TRACE_NAMES_TAGS < TRACE_NAMES_FILES_MAX
               ? address & ((1ull << TRACE_NAMES_TAG_SHIFT) - 1)
               : address;
}

/* Returns whether a record of these types is what the format says; others are. */
bool trace_names_valid(const struct trace_record *record);

/* Writes text of `unit` bytes a character as UTF-8 and a NUL: at most 2 * bytes + 1.  Returns what
 * follows. */
char *trace_names_text(char *to, const uint8_t *text, size_t bytes, uint8_t unit);

/* Takes a record, whose chunk need not be kept.  Returns 0 or -ENOMEM.  For a reader that has the
 * chunks itself. */
int trace_names_take(struct trace_names *names, const struct trace_record *record);
void trace_names_sort(struct trace_names *names);

/* Fills `made` from `files`: a part of trace_names_read.  Returns 0 or -ENOMEM. */
int trace_names_make(struct trace_names *names);
