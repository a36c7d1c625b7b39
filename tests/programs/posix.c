/* What POSIX's real-time library offers, as the C library makes it of system calls. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static sem_t rung;

static void ring(union sigval value)
{
    printf("timer %d\n", value.sival_int);
    sem_post(&rung);
}

static void timers(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring, .sigev_value.sival_int = 42};
    struct itimerspec when = {.it_value.tv_nsec = 1000000};
    timer_t timer;

    sem_init(&rung, 0, 0);
    printf("%d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
    printf("%d\n", timer_settime(timer, 0, &when, NULL));
    sem_wait(&rung);
    timer_delete(timer);
}

static void named(void)
{
    sem_t *semaphore = sem_open("/microtome-test", O_CREAT, 0600, 1);
    int fd = shm_open("/microtome-test", O_CREAT | O_RDWR, 0600);
    char *shared;

    printf("%d\n", semaphore != SEM_FAILED && sem_wait(semaphore) == 0);
    printf("%d\n", sem_trywait(semaphore) < 0 && errno == EAGAIN);
    printf("%d\n", ftruncate(fd, 4096));
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    strcpy(shared, "shared");
    puts(shared);
    sem_unlink("/microtome-test");
    shm_unlink("/microtome-test");
}

static void asynchronous(void)
{
    char text[] = "asynchronous", back[sizeof text] = "";
    FILE *file = tmpfile();
    struct aiocb block = {.aio_fildes = fileno(file), .aio_buf = text, .aio_nbytes = sizeof text};
    const struct aiocb *blocks[] = {&block};

    printf("%d\n", aio_write(&block));
    aio_suspend(blocks, 1, NULL);
    printf("%zd\n", aio_return(&block));
    printf("%zd\n", pread(fileno(file), back, sizeof back, 0));
    puts(back);
    fclose(file);
}

static void names(void)
{
    const struct passwd *user = getpwuid(getuid());
    char latin[] = "\xe9t\xe9", utf8[16] = "", *from = latin, *to = utf8;
    size_t left = strlen(latin), room = sizeof utf8 - 1;
    struct addrinfo *found;
    iconv_t converter = iconv_open("UTF-8", "ISO-8859-1");

    printf("%d\n", user && strcmp(user->pw_dir, getenv("HOME")) == 0);
    printf("%s\n", setlocale(LC_ALL, "") ? "a locale" : "no locale");
    printf("%d\n", (int)iconv(converter, &from, &left, &to, &room));
    puts(utf8);
    printf("%d\n", getaddrinfo("127.0.0.1", "80", NULL, &found));
    printf("%d\n", getaddrinfo("no-such-host.invalid", NULL, NULL, &found) != 0);
    printf("%d\n", dlopen("no-such-library.so", RTLD_NOW) == NULL);
}

int main(void)
{
    timers();
    named();
    asynchronous();
    names();
    return 5;
}
