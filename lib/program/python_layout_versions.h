/* Offsets in the structs of CPython's versions that do not describe themselves: CPython's
 * Include/internal.  They are initialisers of struct python_layout. */
#pragma once

#include "lib/program/python_layout.h"

#define PYTHON_LAYOUT_3_11                                                                     \
    {                                                                                          \
        {                                                                                      \
            [PYTHON_INTERPRETERS] = 40, [PYTHON_INTERPRETER_NEXT] = 0, [PYTHON_THREADS] = 16,  \
            [PYTHON_THREAD_NEXT] = 8, [PYTHON_THREAD_ID] = 160, [PYTHON_THREAD_FRAME] = 56,    \
            [PYTHON_HOLDER_FRAME] = 8, [PYTHON_FRAME_CODE] = 32, [PYTHON_FRAME_PREVIOUS] = 48, \
            [PYTHON_FRAME_INSTRUCTION] = 56, [PYTHON_FRAME_OWNER] = 69,                        \
            [PYTHON_CODE_FIRST_LINE] = 72, [PYTHON_CODE_FILE] = 112, [PYTHON_CODE_NAME] = 128, \
            [PYTHON_CODE_LINES] = 136, [PYTHON_CODE_UNITS] = 184, [PYTHON_ASCII_BYTES] = 48,   \
            [PYTHON_COMPACT_BYTES] = 72                                                        \
        }                                                                                      \
    }

#define PYTHON_LAYOUT_3_12                                                                     \
    {                                                                                          \
        {                                                                                      \
            [PYTHON_INTERPRETERS] = 40, [PYTHON_INTERPRETER_NEXT] = 0, [PYTHON_THREADS] = 72,  \
            [PYTHON_THREAD_NEXT] = 8, [PYTHON_THREAD_ID] = 144, [PYTHON_THREAD_FRAME] = 56,    \
            [PYTHON_HOLDER_FRAME] = 0, [PYTHON_FRAME_CODE] = 0, [PYTHON_FRAME_PREVIOUS] = 8,   \
            [PYTHON_FRAME_INSTRUCTION] = 56, [PYTHON_FRAME_OWNER] = 70,                        \
            [PYTHON_CODE_FIRST_LINE] = 68, [PYTHON_CODE_FILE] = 112, [PYTHON_CODE_NAME] = 128, \
            [PYTHON_CODE_LINES] = 136, [PYTHON_CODE_UNITS] = 192, [PYTHON_ASCII_BYTES] = 40,   \
            [PYTHON_COMPACT_BYTES] = 56                                                        \
        }                                                                                      \
    }
