/* Reads and writes run.state. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/collect/stream_state.h"

#define NAME "run.state"
#define NAME_NEW NAME ".new"
#define TEXT_BYTES 512

static bool parse_id(const char *hex, uint8_t id[16])
{
    for (size_t i = 0; i < 16; i++) {
        char byte[3] = {hex[2 * i], 0, 0};
        char *end;

        byte[1] = byte[0] != 0 ? hex[2 * i + 1] : 0;
        if (byte[1] == 0 || strchr("+- ", byte[0]) != NULL)
            return false;
        id[i] = (uint8_t)strtoul(byte, &end, 16);
        if (*end != 0)
            return false;
    }
    return hex[32] == 0;
}

static int parse(char *text, struct run_state *state)
{
    bool has_id = false, has_state = false;
    char *rest = text;
    const char *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        if (strncmp(line, "id=", 3) == 0)
            has_id = parse_id(line + 3, state->id);
        else if (strncmp(line, "created=", 8) == 0)
            state->created_s = strtoull(line + 8, NULL, 10);
        else if (strcmp(line, "state=complete") == 0)
            has_state = state->complete = true;
        else if (strcmp(line, "state=open") == 0)
            has_state = true;
    }
    return has_id && has_state ? 0 : -EBADMSG;
}

int stream_state_read(int directory, struct run_state *state)
{
    char text[TEXT_BYTES];
    int fd = openat(directory, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t bytes;

    *state = (struct run_state){0};
    if (fd < 0)
        return -errno;
    bytes = read(fd, text, sizeof text - 1);
    close(fd);
    if (bytes < 0)
        return -errno;
    text[bytes] = 0;
    return parse(text, state);
}

static int format(char text[TEXT_BYTES], const struct run_state *state)
{
    char hex[33];

    for (size_t i = 0; i < sizeof state->id; i++)
        snprintf(hex + 2 * i, 3, "%02x", state->id[i]);
    return snprintf(text, TEXT_BYTES,
                    "# By this, hr collect goes on with a run after an interruption.\n"
                    "id=%s\ncreated=%" PRIu64 "\nstate=%s\n",
                    hex, state->created_s, state->complete ? "complete" : "open");
}

int stream_state_write(int directory, const struct run_state *state)
{
    char text[TEXT_BYTES];
    int bytes = format(text, state);
    int fd =
        openat(directory, NAME_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    ssize_t written;
    int result = 0;

    if (fd < 0)
        return -errno;
    written = write(fd, text, (size_t)bytes);
    if (written != bytes)
        result = written < 0 ? -errno : -ENOSPC;
    if (result == 0 && fdatasync(fd) != 0)
        result = -errno;
    if (close(fd) != 0 && result == 0)
        result = -errno;
    if (result == 0 && renameat(directory, NAME_NEW, directory, NAME) != 0)
        result = -errno;
    if (result == 0 && fsync(directory) != 0)
        result = -errno;
    if (result != 0)
        (void)unlinkat(directory, NAME_NEW, 0);
    return result;
}
