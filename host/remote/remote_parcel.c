/* Writes and reads what a run brings home from another machine. */
#include "host/remote/remote_parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "include/version.h"

#define MAGIC "Microtome parcel 1"

/* A text of one line that stands in CSV without quotes. */
void remote_parcel_text(char *to, size_t room, const char *text)
{
    size_t used = 0;

    for (; *text != 0 && used + 1 < room; text++)
        to[used++] = *text > ' ' && *text <= '~' && *text != ',' && *text != '"' ? *text : ' ';
    while (used != 0 && to[used - 1] == ' ')
        used--;
    to[used] = 0;
}

static void read_processor(char *to)
{
    static const char key[] = "model name";
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');

        if (strncmp(line, key, sizeof key - 1) != 0 || value == NULL)
            continue;
        remote_parcel_text(to, REMOTE_FACT_BYTES, value + 1 + strspn(value + 1, " "));
        break;
    }
    if (file != NULL)
        fclose(file);
}

void remote_parcel_here(struct remote_parcel *parcel)
{
    const char *node = getenv("SLURMD_NODENAME"); /* several may be one machine */
    struct utsname names;
    char kernel[2 * sizeof names.release];

    uname(&names);
    *parcel = (struct remote_parcel){0};
    remote_parcel_text(parcel->version, sizeof parcel->version, VERSION_TEXT);
    remote_parcel_text(parcel->host, sizeof parcel->host, node != NULL ? node : names.nodename);
    (void)snprintf(kernel, sizeof kernel, "%s %s", names.sysname, names.release);
    remote_parcel_text(parcel->kernel, sizeof parcel->kernel, kernel);
    read_processor(parcel->processor);
}

static int send_file(int to, int from, uint64_t bytes)
{
    while (bytes != 0) {
        ssize_t count = sendfile(to, from, NULL, bytes < 1u << 30 ? bytes : 1u << 30);

        if (count <= 0)
            return count < 0 ? -errno : -EIO; /* it became shorter */
        bytes -= (uint64_t)count;
    }
    return 0;
}

int remote_parcel_write(struct remote_parcel *parcel, const char *const paths[REMOTE_PARTS], int fd,
                        struct run_failure *failure)
{
    int files[REMOTE_PARTS], error;
    struct stat status;

    for (size_t i = 0; i < REMOTE_PARTS; i++) {
        files[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
        parcel->sizes[i] =
            files[i] >= 0 && fstat(files[i], &status) == 0 ? (uint64_t)status.st_size : 0;
    }
    error =
        dprintf(fd,
                MAGIC "\nversion %s\nhost %s\nkernel %s\nprocessor %s\nstatus %d\nsizes %" PRIu64
                      " %" PRIu64 " %" PRIu64 "\n",
                parcel->version, parcel->host, parcel->kernel, parcel->processor, parcel->status,
                parcel->sizes[0], parcel->sizes[1], parcel->sizes[2]) < 0
            ? -errno
            : 0;
    for (size_t i = 0; i < REMOTE_PARTS; i++) {
        if (error == 0)
            error = send_file(fd, files[i], parcel->sizes[i]);
        if (files[i] >= 0)
            close(files[i]);
    }
    return error == 0 ? 0 : run_fail(failure, "cannot send the result: %s", strerror(-error));
}

/* Reads the line "KEY VALUE"; the value may be empty. */
static bool read_line(FILE *file, const char *key, char *value, size_t room)
{
    char line[256];
    size_t bytes = strlen(key);

    if (fgets(line, sizeof line, file) == NULL || strchr(line, '\n') == NULL ||
        strncmp(line, key, bytes) != 0 || (line[bytes] != ' ' && line[bytes] != '\n'))
        return false;
    remote_parcel_text(value, room, line + bytes + (line[bytes] == ' '));
    return true;
}

static bool read_head(FILE *file, struct remote_parcel *p)
{
    char text[96];

    if (!read_line(file, MAGIC, text, sizeof text) || text[0] != 0 ||
        !read_line(file, "version", p->version, sizeof p->version) ||
        !read_line(file, "host", p->host, sizeof p->host) ||
        !read_line(file, "kernel", p->kernel, sizeof p->kernel) ||
        !read_line(file, "processor", p->processor, sizeof p->processor) ||
        !read_line(file, "status", text, sizeof text) || sscanf(text, "%d", &p->status) != 1 ||
        p->status < 0 || p->status > 255 || !read_line(file, "sizes", text, sizeof text))
        return false;
    return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &p->sizes[0], &p->sizes[1],
                  &p->sizes[2]) == REMOTE_PARTS;
}

/* Copies the next bytes.  Returns 0 or -errno; -EBADMSG: there are fewer. */
static int read_part(FILE *file, uint64_t bytes, const char *path)
{
    char piece[65536];
    FILE *out = fopen(path, "we");
    int error = out != NULL ? 0 : -errno;

    while (bytes != 0 && error == 0) {
        size_t count = fread(piece, 1, bytes < sizeof piece ? bytes : sizeof piece, file);

        if (count == 0)
            error = ferror(file) != 0 ? -EIO : -EBADMSG;
        else if (fwrite(piece, 1, count, out) != count)
            error = -errno;
        bytes -= count;
    }
    if (out != NULL && fclose(out) != 0 && error == 0)
        error = -errno;
    return error;
}

int remote_parcel_read(struct remote_parcel *parcel, const char *file,
                       const char *const paths[REMOTE_PARTS], struct run_failure *failure)
{
    FILE *in = fopen(file, "re");
    int error = in != NULL ? 0 : -errno;

    *parcel = (struct remote_parcel){0};
    if (error == 0 && !read_head(in, parcel))
        error = -EBADMSG;
    for (size_t i = 0; i < REMOTE_PARTS && error == 0; i++)
        error = read_part(in, parcel->sizes[i], paths[i]);
    if (error == 0 && fgetc(in) != EOF)
        error = -EBADMSG;
    if (in != NULL)
        fclose(in);
    if (error == 0)
        return 0;
    return run_fail(failure, "%s",
                    error == -EBADMSG ? "what came back is no result, or is cut"
                                      : strerror(-error));
}
