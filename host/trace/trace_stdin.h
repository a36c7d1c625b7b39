/* Standard input as a trace: the file that is called "-".
 *
 * A trace is read more than once, so what comes through a pipe is kept in a file without a name, in
 * $TMPDIR or /tmp, which is gone when hr ends.  A regular file is read where it is.  Never prints.
 */
#pragma once

/* Returns the descriptor of what has come so far, which stays open, or -errno. */
int trace_stdin_file(void);

/* Waits until there is something, and takes it.  Returns 1 if something came, 0 at the end, or
 * -errno. */
int trace_stdin_take(void);

/* Takes everything.  Returns a descriptor of the caller's own, or -errno. */
int trace_stdin_open(void);
