/* hr stat --files: the files of the host that the program read. */
#pragma once

#include <stdbool.h>

/* Prints the files of a trace, sorted by path.  Returns the exit status; errors are said. */
int stat_files(const char *path, bool json);
