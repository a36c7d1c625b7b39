/* Where CPython keeps what a walk over its frames needs: offsets that differ between its versions.
 *
 * The host finds them (host/pack/archive/pack_python.c) and the manifest carries them as numbers,
 * so that the kernel knows no version.  Freestanding.
 */
#pragma once

#include <stdint.h>

enum python_layout_field {
    /* Less what an executable mapping of the file starts at, plus that mapping's offset in the
     * file: */
    PYTHON_RUNTIME, /* the address of _PyRuntime */
    PYTHON_CODE_TYPE, /* the address of PyCode_Type */
    /* Offsets in structs: */
    PYTHON_INTERPRETERS, /* _PyRuntime: the first interpreter */
    PYTHON_INTERPRETER_NEXT,
    PYTHON_THREADS, /* interpreter: its first thread */
    PYTHON_THREAD_NEXT,
    PYTHON_THREAD_ID, /* thread: as gettid() returns it */
    PYTHON_THREAD_FRAME, /* thread: the innermost frame, or what holds it */
    PYTHON_HOLDER_FRAME, /* in what holds it; PYTHON_NO_HOLDER */
    PYTHON_FRAME_CODE,
    PYTHON_FRAME_PREVIOUS,
    PYTHON_FRAME_INSTRUCTION, /* frame: address of the instruction that it executes */
    PYTHON_FRAME_OWNER, /* frame: a byte, PYTHON_OWNER_C for a frame that stands for C code */
    PYTHON_CODE_FIRST_LINE,
    PYTHON_CODE_FILE,
    PYTHON_CODE_NAME, /* the qualified one */
    PYTHON_CODE_LINES,
    PYTHON_CODE_UNITS, /* the instructions begin here */
    PYTHON_ASCII_BYTES, /* size of the header of a text of ASCII alone */
    PYTHON_COMPACT_BYTES, /* of another one */
    PYTHON_LAYOUT_FIELDS,
};

#define PYTHON_NO_HOLDER UINT64_MAX
#define PYTHON_OWNER_C 3u

struct python_layout {
    uint64_t at[PYTHON_LAYOUT_FIELDS];
};

#define PYTHON_LAYOUT_TEXT_BYTES (PYTHON_LAYOUT_FIELDS * 21u)

/* Writes the numbers in the order of the fields, with commas. */
void python_layout_write(const struct python_layout *layout, char text[PYTHON_LAYOUT_TEXT_BYTES]);

/* Returns 0, or -EINVAL: other than so many decimal numbers. */
int python_layout_read(struct python_layout *layout, const char *text);
