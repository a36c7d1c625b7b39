/* Reads the token. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/collect/stream_token.h"

#define VARIABLE "HR_TOKEN"

static int take(char token[RUN_STREAM_NAME_BYTES], const char *text, const char *from,
                struct run_failure *failure)
{
    size_t bytes = strcspn(text, "\r\n");

    if (bytes == 0)
        return run_fail(failure, "%s has no token in its first line", from);
    if (bytes >= RUN_STREAM_NAME_BYTES)
        return run_fail(failure, "the token in %s is too long: at most %u bytes", from,
                        RUN_STREAM_NAME_BYTES - 1);
    for (size_t i = 0; i < bytes; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '#')
            return run_fail(failure,
                            "the token in %s has characters that it may not have; use printable "
                            "ASCII characters without blanks and #",
                            from);
    memset(token, 0, RUN_STREAM_NAME_BYTES);
    memcpy(token, text, bytes);
    return 0;
}

int stream_token_read(char token[RUN_STREAM_NAME_BYTES], const char *path,
                      struct run_failure *failure)
{
    char text[2 * RUN_STREAM_NAME_BYTES] = {0};
    const char *variable = getenv(VARIABLE);
    FILE *file;
    int error;

    memset(token, 0, RUN_STREAM_NAME_BYTES);
    if (path == NULL)
        return variable != NULL ? take(token, variable, VARIABLE, failure) : 0;
    file = fopen(path, "re");
    if (file == NULL)
        return run_fail(failure, "--token %s: %s", path, strerror(errno));
    errno = 0;
    error = fgets(text, sizeof text, file) == NULL && ferror(file) ? errno : 0;
    fclose(file);
    if (error != 0)
        return run_fail(failure, "--token %s: %s", path, strerror(error));
    return take(token, text, path, failure);
}
