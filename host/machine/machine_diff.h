/* `hr diff --machine`: the differences between the machines of two traces. */
#pragma once

#include "host/scan/reader.h"

/* Reads both traces and prints the differences, the most important ones first.  Returns the
 * command's exit status: HR_EXIT_OK whether anything differs or not. */
int machine_diff(const char *before, const char *after, enum reader_format format);

/* Writes the words of a list that another one lacks; those that fit. */
#define MACHINE_DIFF_BYTES 4096
void machine_diff_words(char out[MACHINE_DIFF_BYTES], const char *list, const char *other);
