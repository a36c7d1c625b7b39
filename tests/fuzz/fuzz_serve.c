/* Fuzzes the server of the host's files: whatever is asked, nothing outside of the tree is
 * answered, and every answer is whole.  The input is what a guest sends: requests, one after the
 * other.  An odd first byte means that the numbers of nodes are taken modulo a few, so that more of
 * them exist.
 */
#include <ftw.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/serve/serve.h"
#include "tests/fuzz/fuzz.h"

#define NODES 12u
#define SECRET "what is outside"

static char jail[] = "/tmp/fuzz_serve.XXXXXX";
static struct serve_reply reply;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_jail(void)
{
    (void)nftw(jail, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
    char full[PATH_MAX];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", jail, path);
    if (text == NULL) {
        fuzz_check(mkdir(full, 0755) == 0);
        return;
    }
    file = fopen(full, "w");
    fuzz_check(file != NULL);
    fputs(text, file);
    fuzz_check(fclose(file) == 0);
}

static void make_jail(void)
{
    char full[PATH_MAX];

    fuzz_check(mkdtemp(jail) != NULL && atexit(remove_jail) == 0);
    put("secret", SECRET);
    put("root", NULL);
    put("root/a", "what is inside");
    put("root/d", NULL);
    put("root/d/b", "");
    put("root/proc", NULL);
    put("root/proc/p", "what is the guest's");
    snprintf(full, sizeof full, "%s/root/up", jail);
    fuzz_check(symlink("..", full) == 0);
    snprintf(full, sizeof full, "%s/root/d/secret", jail);
    fuzz_check(symlink("../../secret", full) == 0);
    snprintf(full, sizeof full, "%s/root/fifo", jail);
    fuzz_check(mkfifo(full, 0644) == 0);
}

static void check_nodes(void)
{
    struct run_serve_node node;
    size_t whole;

    for (size_t at = 0; at < reply.answer.bytes; at += whole) {
        fuzz_check(reply.answer.bytes - at >= sizeof node);
        memcpy(&node, reply.bytes + at, sizeof node);
        whole = SERVE_NODE_BYTES(node.name_bytes, node.target_bytes);
        fuzz_check(whole <= reply.answer.bytes - at && node.node < NODES);
        fuzz_check(S_ISDIR(node.mode) || S_ISREG(node.mode) || S_ISLNK(node.mode));
        fuzz_check(S_ISLNK(node.mode) == (node.target_bytes != 0));
        fuzz_check(memchr(reply.bytes + at + sizeof node, '/', node.name_bytes) == NULL);
    }
}

static void check(const struct run_serve_request *request)
{
    fuzz_check(reply.answer.number == request->number);
    fuzz_check(reply.answer.bytes <= RUN_SERVE_BYTES_MAX);
    fuzz_check(reply.answer.error == 0 || reply.answer.bytes == 0);
    fuzz_check(memmem(reply.bytes, reply.answer.bytes, "outside", 7) == NULL);
    fuzz_check(memmem(reply.bytes, reply.answer.bytes, "guest's", 7) == NULL);
    if (request->type == RUN_SERVE_READ)
        fuzz_check(reply.answer.bytes <= request->bytes);
    else
        check_nodes();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct serve serve;
    static bool has_jail;
    char root[sizeof jail + 8];
    size_t at = 1;

    if (!has_jail)
        make_jail();
    has_jail = true;
    snprintf(root, sizeof root, "%s/root", jail);
    fuzz_check(serve_open_root(&serve, root) == 0);
    while (at + sizeof(struct run_serve_request) <= size) {
        struct run_serve_request request;
        size_t bytes;

        memcpy(&request, data + at, sizeof request);
        at += sizeof request;
        if ((data[0] & 1) != 0)
            request.node %= NODES;
        bytes = request.type == RUN_SERVE_LOOKUP ? request.bytes : 0;
        if (bytes > size - at || bytes > RUN_SERVE_BYTES_MAX)
            break;
        serve_answer(&serve, &request, data + at, &reply);
        check(&request);
        at += bytes;
    }
    serve_close(&serve);
    return 0;
}
