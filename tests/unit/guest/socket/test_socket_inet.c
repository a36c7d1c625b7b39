/* Addresses and the table of ports: who may bind where, and who gets what. */
#include "guest/socket/socket_address.c"
#include "guest/socket/socket_inet.c"

#include <arpa/inet.h>
#include <stdlib.h>

#include "tests/unit/test.h"

bool socket_outside_is_own(const struct socket_address *a)
{
    (void)a;
    return false;
}

void socket_outside_own(struct socket_address *a, bool v4)
{
    (void)a;
    (void)v4;
}

static struct socket_address address(const char *text, uint16_t port)
{
    struct socket_address a = {.port = port};

    if (inet_pton(AF_INET6, text, a.bytes) == 1)
        return a;
    socket_address_any(&a, true);
    assert_int_equal(inet_pton(AF_INET, text, a.bytes + 12), 1);
    return a;
}

static struct socket *make(int domain, uint32_t protocol)
{
    struct socket *s = calloc(1, sizeof *s);

    s->domain = (uint16_t)domain;
    s->protocol = (uint16_t)protocol;
    socket_inet_start(s);
    return s;
}

static int bind_at(struct socket *s, const char *text, uint16_t port)
{
    const struct socket_address a = address(text, port);

    return socket_inet_bind(s, &a);
}

static struct socket *find(uint32_t protocol, const char *text, uint16_t port)
{
    const struct socket_address to = address(text, port), from = address("127.0.0.1", 1);

    return socket_inet_find(protocol, &to, &from);
}

static void drop(struct socket *s)
{
    socket_inet_leave(s);
    free(s);
}

static void places(void **state)
{
    static const struct {
        const char *text;
        enum socket_place place;
    } cases[] = {{"0.0.0.0", SOCKET_PLACE_ANY},
                 {"::", SOCKET_PLACE_ANY},
                 {"127.0.0.1", SOCKET_PLACE_HERE},
                 {"127.255.0.9", SOCKET_PLACE_HERE},
                 {"::1", SOCKET_PLACE_HERE},
                 {"::ffff:127.0.0.3", SOCKET_PLACE_HERE},
                 {"::2", SOCKET_PLACE_ELSEWHERE},
                 {"::127.0.0.1", SOCKET_PLACE_ELSEWHERE},
                 {"fe80::1", SOCKET_PLACE_ELSEWHERE},
                 {"128.0.0.1", SOCKET_PLACE_ELSEWHERE},
                 {"255.255.255.255", SOCKET_PLACE_BROADCAST}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct socket_address a = address(cases[i].text, 0);

        assert_int_equal(socket_address_place(&a), cases[i].place);
    }
}

static void names_come_back(void **state)
{
    static const char *const texts[] = {"127.0.0.1", "::1", "0.0.0.0", "2001:db8::9"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const struct socket_address a = address(texts[i], 4321);
        uint32_t domain = socket_address_is_v4(&a) ? AF_INET : AF_INET6;
        uint8_t name[128];
        uint32_t bytes = socket_address_write(&a, domain, name);
        struct socket_address back;

        assert_int_equal(socket_address_read(&back, domain, name, bytes), 0);
        assert_true(socket_address_equal(&a, &back));
        assert_int_equal(socket_address_read(&back, domain, name, bytes - 5), -EINVAL);
        assert_int_equal(
            socket_address_read(&back, domain == AF_INET ? AF_INET6 : AF_INET, name, sizeof name),
            -EAFNOSUPPORT);
    }
}

/* Overlapping is mutual, and what fits one of two addresses fits both only if they overlap. */
static void overlaps(void **state)
{
    static const char *const texts[] = {"0.0.0.0", "127.0.0.1", "127.0.0.2", "::", "::1"};

    (void)state;
    for (int i = 0; i < 5 * 2 * 5 * 2; i++) {
        struct socket_address a = address(texts[i % 5], 1), b = address(texts[i / 10 % 5], 1);
        bool a6 = i / 5 % 2, b6 = i / 50, common = false;

        for (int k = 0; k < 5; k++) {
            const struct socket_address to = address(texts[k], 1);

            if (socket_address_place(&to) != SOCKET_PLACE_ANY)
                common |= socket_address_fits(&a, a6, &to) && socket_address_fits(&b, b6, &to);
        }
        assert_int_equal(socket_address_overlaps(&a, a6, &b, b6),
                         socket_address_overlaps(&b, b6, &a, a6));
        if (common)
            assert_true(socket_address_overlaps(&a, a6, &b, b6));
    }
}

static void taken_ports(void **state)
{
    struct socket *a = make(AF_INET, IPPROTO_TCP), *b = make(AF_INET, IPPROTO_TCP);
    struct socket *udp = make(AF_INET, IPPROTO_UDP), *six = make(AF_INET6, IPPROTO_TCP);

    (void)state;
    assert_int_equal(bind_at(a, "127.0.0.1", 80), 0);
    assert_int_equal(bind_at(a, "127.0.0.1", 81), -EINVAL);
    assert_int_equal(bind_at(b, "127.0.0.1", 80), -EADDRINUSE);
    assert_int_equal(bind_at(b, "0.0.0.0", 80), -EADDRINUSE);
    assert_int_equal(bind_at(b, "10.0.0.1", 80), -EADDRNOTAVAIL);
    assert_int_equal(bind_at(udp, "127.0.0.1", 80), 0);
    assert_int_equal(bind_at(six, "::", 80), -EADDRINUSE);
    six->options.only_v6 = true;
    assert_int_equal(bind_at(six, "::ffff:127.0.0.1", 90), -EINVAL);
    assert_int_equal(bind_at(six, "::", 80), 0);
    assert_int_equal(bind_at(b, "127.0.0.2", 80), 0);
    drop(b);
    b = make(AF_INET, IPPROTO_TCP);
    b->options.reuse_address = true;
    assert_int_equal(bind_at(b, "127.0.0.1", 80), -EADDRINUSE);
    a->options.reuse_address = true;
    a->state = SOCKET_LISTENS;
    assert_int_equal(bind_at(b, "127.0.0.1", 80), -EADDRINUSE);
    a->state = SOCKET_CONNECTED;
    assert_int_equal(bind_at(b, "127.0.0.1", 80), 0);
    a->state = SOCKET_LISTENS;
    assert_int_equal(socket_inet_listen(NULL, b), -EADDRINUSE);
    drop(a), drop(b), drop(udp), drop(six);
    assert_null(find(IPPROTO_TCP, "127.0.0.1", 80));
}

static void best_receiver(void **state)
{
    struct socket *any = make(AF_INET6, IPPROTO_UDP), *v4 = make(AF_INET, IPPROTO_UDP);
    struct socket *one = make(AF_INET, IPPROTO_UDP), *connected = make(AF_INET, IPPROTO_UDP);

    (void)state;
    any->options.reuse_address = v4->options.reuse_address = one->options.reuse_address =
        connected->options.reuse_address = true;
    assert_int_equal(bind_at(any, "::", 53), 0);
    assert_ptr_equal(find(IPPROTO_UDP, "127.0.0.1", 53), any);
    assert_int_equal(bind_at(v4, "0.0.0.0", 53), 0);
    assert_ptr_equal(find(IPPROTO_UDP, "127.0.0.1", 53), v4);
    assert_ptr_equal(find(IPPROTO_UDP, "::1", 53), any);
    assert_int_equal(bind_at(one, "127.0.0.1", 53), 0);
    assert_ptr_equal(find(IPPROTO_UDP, "127.0.0.1", 53), one);
    assert_ptr_equal(find(IPPROTO_UDP, "127.0.0.9", 53), v4);
    assert_int_equal(bind_at(connected, "0.0.0.0", 53), 0);
    connected->state = SOCKET_CONNECTED;
    connected->inet.remote = address("127.0.0.1", 2);
    assert_ptr_equal(find(IPPROTO_UDP, "127.0.0.1", 53), one);
    connected->inet.remote.port = 1;
    assert_ptr_equal(find(IPPROTO_UDP, "127.0.0.1", 53), connected);
    drop(any), drop(v4), drop(one), drop(connected);
}

/* Listeners that share a port get connections in turn. */
static void shared_port(void **state)
{
    struct socket *s[4];
    int count[4] = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        s[i] = make(AF_INET, IPPROTO_TCP);
        s[i]->options.reuse_port = true;
        assert_int_equal(bind_at(s[i], "127.0.0.1", 8080), 0);
        s[i]->state = SOCKET_LISTENS;
    }
    for (int n = 0; n < 1200; n++) {
        const struct socket *got = find(IPPROTO_TCP, "127.0.0.1", 8080);

        for (int i = 0; i < 4; i++)
            count[i] += got == s[i];
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(count[i], 300);
        drop(s[i]);
    }
}

static void own_ports(void **state)
{
    static struct socket *all[OWN_PORTS];
    struct socket *late = make(AF_INET, IPPROTO_TCP), *udp = make(AF_INET, IPPROTO_UDP);
    static uint8_t seen[65536];

    (void)state;
    for (uint32_t i = 0; i < OWN_PORTS; i++) {
        all[i] = make(AF_INET, IPPROTO_TCP);
        assert_int_equal(bind_at(all[i], "0.0.0.0", 0), 0);
        assert_false(seen[all[i]->inet.local.port]++);
    }
    assert_int_equal(bind_at(late, "0.0.0.0", 0), -EADDRINUSE);
    assert_int_equal(bind_at(udp, "0.0.0.0", 0), 0);
    drop(all[77]);
    assert_int_equal(bind_at(late, "0.0.0.0", 0), 0);
    all[77] = late;
    for (uint32_t i = 0; i < OWN_PORTS; i++)
        drop(all[i]);
    drop(udp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),        cmocka_unit_test(names_come_back),
        cmocka_unit_test(overlaps),      cmocka_unit_test(taken_ports),
        cmocka_unit_test(best_receiver), cmocka_unit_test(shared_port),
        cmocka_unit_test(own_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
