/* The host's side of files on demand for tests: serves a directory of this machine.  Include once.
 */
#ifndef TESTS_UNIT_GUEST_FAKE_SERVE_H
#define TESTS_UNIT_GUEST_FAKE_SERVE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/service/serve.h"

#define FAKE_NODES 4096
#define FAKE_LIST_BYTES 256u /* of one answer, so that lists take several */

static const char *fake_root; /* the directory; NULL: the host serves nothing */
static char fake_paths[FAKE_NODES][192]; /* of nodes, from the root; "" is the root */
static uint64_t fake_nodes;
static unsigned fake_requests;
static int fake_error; /* what every request fails with; 0: nothing */
static uint64_t fake_shorter; /* bytes that reads lack at the end of a file */
static uint8_t fake_payload[RUN_SERVE_BYTES_MAX];

bool serve_offered(void)
{
    return fake_root != NULL;
}

void serve_start(void)
{
    fake_nodes = RUN_SERVE_ROOT;
    fake_paths[RUN_SERVE_ROOT][0] = '\0';
    fake_requests = 0;
}

static void fake_path(char out[512], uint64_t node)
{
    snprintf(out, 512, "%s%s", fake_root != NULL ? fake_root : "", fake_paths[node]);
}

/* Describes a name at `out`; returns the bytes, or 0. */
static size_t fake_describe(uint64_t directory, const char *name, bool named, uint8_t *out)
{
    struct run_serve_node node = {.node = fake_nodes + 1};
    char path[512], target[256];
    struct stat status;
    ssize_t bytes = 0;

    memcpy(path, fake_paths[directory], sizeof fake_paths[0]);
    snprintf(fake_paths[node.node], sizeof fake_paths[0], "%.120s/%.60s", path, name);
    fake_path(path, node.node);
    if (lstat(path, &status) != 0)
        return 0;
    fake_nodes++;
    if (S_ISLNK(status.st_mode))
        bytes = readlink(path, target, sizeof target);
    node.mode = status.st_mode;
    node.bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    node.target_bytes = (uint16_t)bytes;
    node.name_bytes = named ? (uint16_t)strlen(name) : 0;
    memset(out, 0, sizeof node + 512);
    memcpy(out, &node, sizeof node);
    memcpy(out + sizeof node, name, node.name_bytes);
    memcpy(out + sizeof node + node.name_bytes, target, (size_t)bytes);
    return (sizeof node + node.name_bytes + (size_t)bytes + 7) & ~7ul;
}

static int fake_list(const struct run_serve_request *request, struct run_serve_answer *answer)
{
    struct dirent **names;
    char path[512];
    int count, error = 0;

    fake_path(path, request->node);
    count = scandir(path, &names, NULL, alphasort);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        if (i >= (int)request->offset && answer->next == 0 && strcmp(names[i]->d_name, ".") != 0 &&
            strcmp(names[i]->d_name, "..") != 0) {
            if (answer->bytes > FAKE_LIST_BYTES)
                answer->next = (uint64_t)i;
            else
                answer->bytes += (uint32_t)fake_describe(request->node, names[i]->d_name, true,
                                                         fake_payload + answer->bytes);
        }
        free(names[i]);
    }
    free(names);
    return error;
}

static int fake_read(const struct run_serve_request *request, struct run_serve_answer *answer)
{
    char path[512];
    ssize_t bytes;
    int fd;

    fake_path(path, request->node);
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return -errno;
    bytes = pread(fd, fake_payload, request->bytes, (off_t)request->offset);
    close(fd);
    if (bytes >= 0 && bytes < request->bytes)
        bytes -= (ssize_t)fake_shorter;
    answer->bytes = (uint32_t)bytes;
    return bytes < 0 ? -errno : 0;
}

int serve_ask(struct run_serve_request *request, const char *name, struct run_serve_answer *answer,
              const uint8_t **payload)
{
    *answer = (struct run_serve_answer){0};
    *payload = fake_payload;
    fake_requests++;
    if (fake_error)
        return fake_error;
    if (request->node == 0 || request->node > fake_nodes)
        return -EINVAL;
    if (request->type == RUN_SERVE_LIST)
        return fake_list(request, answer);
    if (request->type == RUN_SERVE_READ)
        return fake_read(request, answer);
    answer->bytes = (uint32_t)fake_describe(request->node, name, false, fake_payload);
    return answer->bytes != 0 ? 0 : -ENOENT;
}

#endif
