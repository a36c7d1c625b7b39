/* Gets files from the debuginfod servers in DEBUGINFOD_URLS: libdebuginfod asks them and caches the
 * results.  On a terminal a line on stderr shows the progress; otherwise nothing is printed.  libdw
 * loads the library if the variable was set before the process started. */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decides whether servers are asked at all, and limits the time to wait for one unless the user
 * sets it (DEBUGINFOD_TIMEOUT).  Changes the process's environment, so call it before other threads
 * start. */
void symbols_debuginfod_init(bool wanted);

/* Returns whether there are servers to ask. */
bool symbols_debuginfod_ready(void);

/* Bracket a query: `name` names the file for people, dwfl is the session that asks (may be NULL).
 * After a long query without a result, no server is asked again. */
void symbols_debuginfod_begin(const char *name, Dwfl *dwfl);
void symbols_debuginfod_end(bool found);

/* Returns whether servers are no longer asked after such a query. */
bool symbols_debuginfod_gave_up(void);

/* Returns the path of the program or library with that build-id, which the caller frees; NULL if
 * there is none. */
char *symbols_debuginfod_executable(const char *name, const uint8_t *build_id, size_t bytes);
