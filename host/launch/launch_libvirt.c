/* Runs a guest as a transient domain of libvirt. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/base/run_failure.h"
#include "host/launch/launch_directory.h"
#include "host/launch/launch_domain.h"
#include "host/launch/launch_libvirt.h"

#define LIBVIRT_LIBRARY "libvirt.so.0"
#define DEFAULT_URI "qemu:///system"
#define LOOK_MS 500 /* between looks at the domain's state */
#define END_S 10 /* time limit for the emulator's end */

/* The functions of libvirt that a run uses.  The library is loaded when a run asks for libvirt, so
 * that other commands neither need it nor wait for it. */
struct launch_libvirt_api {
    __typeof__(virConnectOpen) *connect;
    __typeof__(virConnectClose) *disconnect;
    __typeof__(virConnectGetCapabilities) *capabilities;
    __typeof__(virDomainCreateXML) *create;
    __typeof__(virDomainResume) *resume;
    __typeof__(virDomainDestroy) *destroy;
    __typeof__(virDomainFree) *release;
    __typeof__(virDomainGetState) *state;
    __typeof__(virGetLastErrorMessage) *error;
    __typeof__(virSetErrorFunc) *set_error_function;
};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"virConnectOpen", offsetof(struct launch_libvirt_api, connect)},
    {"virConnectClose", offsetof(struct launch_libvirt_api, disconnect)},
    {"virConnectGetCapabilities", offsetof(struct launch_libvirt_api, capabilities)},
    {"virDomainCreateXML", offsetof(struct launch_libvirt_api, create)},
    {"virDomainResume", offsetof(struct launch_libvirt_api, resume)},
    {"virDomainDestroy", offsetof(struct launch_libvirt_api, destroy)},
    {"virDomainFree", offsetof(struct launch_libvirt_api, release)},
    {"virDomainGetState", offsetof(struct launch_libvirt_api, state)},
    {"virGetLastErrorMessage", offsetof(struct launch_libvirt_api, error)},
    {"virSetErrorFunc", offsetof(struct launch_libvirt_api, set_error_function)},
};

/* By default libvirt prints errors itself. */
static void say_nothing(void *, virErrorPtr /* error */)
{
}

/* Loads the library once.  Returns NULL with the failure filled if it is not installed. */
static const struct launch_libvirt_api *load_api(struct run_failure *failure)
{
    static struct launch_libvirt_api api;
    void *library;

    if (api.set_error_function != NULL)
        return &api;
    library = dlopen(LIBVIRT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        run_fail(failure,
                 "--libvirt: %s is not installed; apt-get install libvirt0 libvirt-daemon-system, "
                 "or leave the option out",
                 LIBVIRT_LIBRARY);
        return NULL;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL) {
            run_fail(failure, "--libvirt: %s has no %s; install a newer libvirt", LIBVIRT_LIBRARY,
                     functions[i].name);
            return NULL;
        }
        memcpy((char *)&api + functions[i].offset, &function, sizeof function);
    }
    api.set_error_function(NULL, say_nothing);
    return &api;
}

struct launch_libvirt {
    const struct launch_libvirt_api *api;
    virConnectPtr connection;
    virDomainPtr domain;
    int pidfd; /* belongs to the watcher */
    int errors; /* where the watcher reports a guest that cannot continue */
    bool watched;
    pthread_t watcher;
};

static void describe(const struct launch_command *command, struct launch_domain *domain)
{
    snprintf(domain->name, sizeof domain->name, "microtome-%d", (int)getpid());
    if (realpath(command->qemu, domain->emulator) == NULL)
        snprintf(domain->emulator, sizeof domain->emulator, "%s", command->qemu);
}

int launch_libvirt_print(const struct options *o, const struct launch_machine *machine,
                         const struct launch_command *command, FILE *out,
                         struct run_failure *failure)
{
    static struct launch_domain domain = {
        .directory = "/tmp/microtome-XXXXXX",
        .models = {"dac"},
    };

    describe(command, &domain);
    return launch_domain_write(o, machine, &domain, out, failure);
}

/* Finds the daemon's security models, the <secmodel> elements of its capabilities.  Each of them
 * must be told not to relabel the run's files. */
static void find_models(const struct launch_libvirt *l, struct launch_domain *domain)
{
    static const char mark[] = "<model>";
    char *text = l->api->capabilities(l->connection);
    const char *at = text;
    int count = 0;

    while (at != NULL && count < LAUNCH_DOMAIN_MODELS_MAX &&
           (at = strstr(at, "<secmodel>")) != NULL && (at = strstr(at, mark)) != NULL) {
        size_t bytes = strspn(at += strlen(mark), "abcdefghijklmnopqrstuvwxyz");

        if (at[bytes] != '<' || bytes == 0 || bytes >= sizeof domain->models[0] ||
            strncmp(at, "none<", 5) == 0)
            continue;
        memcpy(domain->models[count], at, bytes);
        domain->models[count++][bytes] = 0;
    }
    free(text);
}

/* A daemon may never answer, and nothing reads hr's signals yet.  Until then they end hr, which
 * holds nothing that outlives it (launch_guard.h, VIR_DOMAIN_START_AUTODESTROY). */
static void let_signals(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(how, &set, NULL);
}

static int open_connection(struct launch_libvirt *l, struct run_failure *failure)
{
    const char *uri = getenv("LIBVIRT_DEFAULT_URI");

    if (uri == NULL || uri[0] == 0)
        uri = DEFAULT_URI;
    let_signals(SIG_UNBLOCK);
    l->connection = l->api->connect(uri);
    let_signals(SIG_BLOCK);
    if (l->connection != NULL)
        return 0;
    return run_fail(failure,
                    "--libvirt: %s: %s; start the daemon with 'systemctl start libvirtd' and join "
                    "the group libvirt, or leave the option out",
                    uri, l->api->error());
}

static int create_domain(struct launch_libvirt *l, const struct options *o,
                         const struct launch_machine *machine, const struct launch_domain *domain,
                         struct run_failure *failure)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    int result = -1;

    if (out == NULL)
        return run_fail(failure, "out of memory; end other programs");
    result = launch_domain_write(o, machine, domain, out, failure);
    if (fclose(out) != 0 && result == 0)
        result = run_fail(failure, "out of memory; end other programs");
    if (result == 0) {
        let_signals(SIG_UNBLOCK);
        l->domain = l->api->create(l->connection, text,
                                   VIR_DOMAIN_START_AUTODESTROY | VIR_DOMAIN_START_PAUSED);
        let_signals(SIG_BLOCK);
        if (l->domain == NULL)
            result = run_fail(
                failure,
                "--libvirt: the domain does not start: %s; 'hr run --libvirt --dry-run' shows it",
                l->api->error());
    }
    free(text);
    return result;
}

/* If KVM cannot execute a guest it stops it, but QEMU stays, and its message is in libvirt's log.
 * So the watcher writes that message, and ends the stream with the emulator. */
static void *watch(void *argument)
{
    static const char words[] = "KVM internal error: libvirt says that the guest has stopped\n";
    struct launch_libvirt *l = argument;
    struct pollfd end = {.fd = l->pidfd, .events = POLLIN};
    bool told = false;

    while (poll(&end, 1, told ? -1 : LOOK_MS) == 0 || (end.revents == 0)) {
        int state, reason;

        if (told || l->api->state(l->domain, &state, &reason, 0) != 0 ||
            (state != VIR_DOMAIN_PAUSED && state != VIR_DOMAIN_CRASHED))
            continue;
        told = true;
        if (write(l->errors, words, sizeof words - 1) < 0)
            break;
    }
    close(l->errors);
    l->errors = -1;
    return NULL;
}

static int start_watcher(struct launch_libvirt *l, struct launch *launch,
                         struct run_failure *failure)
{
    int ends[2];
    int reason;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return run_fail(failure, "cannot make a pipe: %s", strerror(errno));
    launch->errors = ends[0];
    l->errors = ends[1];
    l->pidfd = fcntl(launch->pidfd, F_DUPFD_CLOEXEC, 0);
    reason = l->pidfd < 0 ? errno : pthread_create(&l->watcher, NULL, watch, l);
    if (reason != 0)
        return run_fail(failure, "cannot start a thread: %s", strerror(reason));
    l->watched = true;
    return 0;
}

/* A connection that is still open belongs to a living process, so the number was not reused. */
static int open_process(const struct launch *launch, pid_t emulator, int *pidfd,
                        struct run_failure *failure)
{
    struct pollfd port = {.fd = launch->ports[LAUNCH_CONTROL], .events = POLLIN};

    *pidfd = (int)syscall(SYS_pidfd_open, emulator, 0);
    if (*pidfd >= 0 && poll(&port, 1, 0) >= 0 && (port.revents & POLLHUP) == 0)
        return 0;
    if (*pidfd >= 0 || errno == ESRCH)
        return run_fail(failure,
                        "--libvirt: the emulator ended at once; libvirt's log "
                        "/var/log/libvirt/qemu/microtome-%d.log says why",
                        (int)getpid());
    return run_fail(failure, "--libvirt: cannot watch the emulator: %s", strerror(errno));
}

/* Lets the guest run.  A short one may end before its emulator's process can be opened, so it waits
 * for that, paused. */
static int resume(struct launch_libvirt *l, struct run_failure *failure)
{
    if (l->api->resume(l->domain) == 0)
        return 0;
    return run_fail(failure,
                    "--libvirt: the domain does not run: %s; libvirt's log "
                    "/var/log/libvirt/qemu/microtome-%d.log may say why",
                    l->api->error(), (int)getpid());
}

static int start(struct launch_libvirt *l, const struct options *o,
                 const struct launch_machine *machine, const struct launch_command *command,
                 int archive_fd, struct launch *launch, struct run_failure *failure)
{
    static struct launch_domain domain;
    static struct launch_directory directory;
    pid_t emulator;
    int result;

    describe(command, &domain);
    find_models(l, &domain);
    result =
        launch_directory_make(&directory, command->kernel, archive_fd, command->has_port, failure);
    snprintf(domain.directory, sizeof domain.directory, "%s", directory.path);
    if (result == 0)
        result = create_domain(l, o, machine, &domain, failure);
    if (result == 0)
        result = launch_directory_accept(&directory, launch->ports, &emulator, failure);
    launch_directory_remove(&directory); /* the emulator has read its files by now */
    launch->emulator = result == 0 ? emulator : 0;
    if (result != 0 || open_process(launch, emulator, &launch->pidfd, failure) != 0 ||
        resume(l, failure) != 0)
        return -1;
    return start_watcher(l, launch, failure);
}

int launch_libvirt_start(const struct options *o, const struct launch_machine *machine,
                         const struct launch_command *command, int archive_fd,
                         struct launch *launch, struct run_failure *failure)
{
    struct launch_libvirt *l = calloc(1, sizeof *l);

    *launch = (struct launch){.pid = -1, .pidfd = -1, .errors = -1, .qmp = -1, .libvirt = l};
    for (int i = 0; i < LAUNCH_PORTS; i++)
        launch->ports[i] = -1;
    if (l == NULL)
        return run_fail(failure, "out of memory; end other programs");
    l->pidfd = l->errors = -1;
    l->api = load_api(failure);
    if (l->api == NULL || open_connection(l, failure) != 0)
        return -1;
    return start(l, o, machine, command, archive_fd, launch, failure);
}

void launch_libvirt_kill(struct launch_libvirt *l)
{
    /* Only root may do this; it is the quick way. */
    if (l->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
    if (l->domain != NULL)
        (void)l->api->destroy(l->domain);
}

/* Without a daemon, an emulator of another user may outlive us until the daemon is back. */
static bool has_watcher_ended(const struct launch_libvirt *l)
{
    struct timespec limit;

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += END_S;
    return pthread_timedjoin_np(l->watcher, NULL, &limit) == 0;
}

void launch_libvirt_end(struct launch_libvirt *l)
{
    launch_libvirt_kill(l);
    if (l->watched && !has_watcher_ended(l))
        return; /* the watcher still uses the memory */
    if (l->domain != NULL)
        l->api->release(l->domain);
    if (l->connection != NULL)
        l->api->disconnect(l->connection);
    if (l->errors >= 0)
        close(l->errors);
    if (l->pidfd >= 0)
        close(l->pidfd);
    free(l);
}
