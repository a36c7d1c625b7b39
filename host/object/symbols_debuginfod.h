/* Files from debuginfod servers, where DEBUGINFOD_URLS names some: libdebuginfod asks them and
 * keeps what they give.  On a terminal a line on stderr shows what goes on; else this does not
 * print.  libdw loads the library when the variable was set before the process started.
 */
#ifndef HOST_OBJECT_SYMBOLS_DEBUGINFOD_H
#define HOST_OBJECT_SYMBOLS_DEBUGINFOD_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Settles whether servers are asked at all, and that none is waited for long unless the user says
 * how long (DEBUGINFOD_TIMEOUT).  Changes the process's environment: before other threads start.
 */
void symbols_debuginfod_init(bool wanted);

/* Whether there are servers to ask. */
bool symbols_debuginfod_ready(void);

/* Around a query: `name` is of the file for people, dwfl the session that asks (NULL: none does).
 * After one that was in vain and long, no server is asked again.
 */
void symbols_debuginfod_begin(const char *name, Dwfl *dwfl);
void symbols_debuginfod_end(bool found);

/* Whether a server was given up. */
bool symbols_debuginfod_gave_up(void);

/* The path of the program or library with that build-id, to be freed; NULL: not to be had. */
char *symbols_debuginfod_executable(const char *name, const uint8_t *build_id, size_t bytes);

#endif
