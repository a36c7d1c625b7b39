/* Reads a trace again as it grows. */
#include "host/view/server/view_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/scan/growth.h"
#include "host/view/html/view_page.h"

#define LEAST_NS 1000000000u /* from one reading to the next */
#define CPU_SHARE 50u /* readings take one part in so many of a CPU's time */

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What comes after the look is seen by the next one. */
static int look(struct view_live *l)
{
    l->begin_ns = monotonic_ns();
    l->begin_cpu_ns = cpu_ns();
    l->growing = growth_is_locked(l->fd);
    return fstat(l->fd, &l->trace) == 0 ? 0 : -errno;
}

int view_live_open(struct view_live *l, struct reader *reader, struct view_model *model)
{
    *l = (struct view_live){.reader = reader, .model = model, .page_fd = -1};
    l->fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return l->fd >= 0 ? look(l) : -errno;
}

/* The page in memory that other processes cannot reach by a name. */
static int write_page(struct view_live *l, json_t *facts)
{
    struct output *out = malloc(sizeof *out);
    int error = -ENOMEM;
    off_t bytes;

    l->page_fd = memfd_create("hr view", MFD_CLOEXEC);
    if (out == NULL || l->page_fd < 0) {
        json_decref(facts);
        free(out);
        return l->page_fd < 0 ? -errno : error;
    }
    output_init(out, l->page_fd);
    error = view_page_write(out, l->model, facts);
    output_flush(out);
    error = error != 0 ? error : out->error;
    bytes = lseek(l->page_fd, 0, SEEK_END);
    l->page_bytes = bytes > 0 ? (size_t)bytes : 0;
    free(out);
    return error;
}

int view_live_page(struct view_live *l, json_t *facts)
{
    uint64_t pause_ns;

    l->version++;
    json_object_set_new(
        facts, "server",
        json_pack("{s:I, s:b}", "version", (json_int_t)l->version, "growing", (int)l->growing));
    l->error = write_page(l, facts);
    pause_ns = CPU_SHARE * (cpu_ns() - l->begin_cpu_ns);
    l->due_ns = l->begin_ns + (pause_ns > LEAST_NS ? pause_ns : LEAST_NS);
    return l->error;
}

static void close_page(struct view_live *l)
{
    if (l->page_fd >= 0)
        close(l->page_fd);
    l->page_fd = -1;
}

void view_live_close(struct view_live *l)
{
    close_page(l);
    if (l->fd >= 0)
        close(l->fd);
}

bool view_live_is_due(const struct view_live *l)
{
    struct stat now;

    if (!l->growing)
        return false;
    if (!growth_is_locked(l->fd))
        return true;
    return monotonic_ns() >= l->due_ns && fstat(l->fd, &now) == 0 &&
           now.st_size != l->trace.st_size;
}

/* Gives the selection back to the reader, from which the model took it. */
static void drop_model(struct view_live *l)
{
    struct view_model *model = l->model;

    close_page(l);
    if (model->scanned) {
        l->reader->selection = model->scan.selection;
        selection_init(&model->scan.selection);
    }
    view_model_free(model);
}

int view_live_again(struct view_live *l)
{
    json_t *facts = NULL;
    int error = view_live_is_current(l) ? look(l) : -ESTALE;

    drop_model(l);
    if (error == 0)
        error = view_page_read(l->reader, l->model, &facts);
    if (error == 0 && l->model->exact &&
        trace_info_exact_problem(&l->model->scan.info, &l->model->scan.selection) != NULL)
        error = -EINVAL;
    if (error == 0)
        error = view_live_page(l, facts);
    else
        json_decref(facts);
    l->error = error;
    l->growing &= error == 0;
    return error;
}

bool view_live_is_current(const struct view_live *l)
{
    const struct stat *then = &l->trace;
    struct stat now;

    if (stat(l->reader->path, &now) != 0 || now.st_dev != then->st_dev ||
        now.st_ino != then->st_ino)
        return false;
    if (l->growing)
        return now.st_size >= then->st_size;
    return now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}
