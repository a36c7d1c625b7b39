/* Reads --publish and --network. */
#include "host/options/options_network.h"

#include <arpa/inet.h>
#include <string.h>

#include "host/base/option.h"
#include "lib/array.h"

/* Takes what stands after the last `separator` off the text; NULL: there is none. */
static const char *take_last(char *text, char separator)
{
    char *at = strrchr(text, separator);

    if (at == NULL)
        return NULL;
    *at = 0;
    return at + 1;
}

static bool read_port(const char *text, uint64_t least, uint16_t *port)
{
    uint64_t value;

    if (text == NULL || option_number(text, least, UINT16_MAX, &value) != 0)
        return false;
    *port = (uint16_t)value;
    return true;
}

/* Copies an address; one of IPv6 stands in brackets. */
static bool read_address(char *text, struct options_published *p)
{
    size_t bytes = strlen(text);
    uint8_t any[16];

    p->v6 = bytes >= 2 && text[0] == '[' && text[bytes - 1] == ']';
    if (p->v6) {
        text[bytes - 1] = 0;
        text++;
    }
    if (strlen(text) >= sizeof p->address || inet_pton(p->v6 ? AF_INET6 : AF_INET, text, any) != 1)
        return false;
    strcpy(p->address, text);
    return true;
}

static bool read_published(char *text, struct options_published *p)
{
    char here[] = "127.0.0.1";
    const char *protocol = take_last(text, '/');
    const char *guest = take_last(text, ':');
    const char *host = take_last(text, ':');

    p->udp = protocol != NULL && strcmp(protocol, "udp") == 0;
    if (protocol != NULL && !p->udp && strcmp(protocol, "tcp") != 0)
        return false;
    if (host == NULL) { /* no address */
        host = text;
        text = here;
    }
    return read_port(guest, 1, &p->guest_port) && read_port(host, 0, &p->host_port) &&
           read_address(text, p);
}

int options_network_publish(struct options *o, const char *text, struct run_failure *failure)
{
    struct options_published *p = &o->published[o->published_count];
    char copy[128];

    if (o->published_count == ARRAY_COUNT(o->published))
        return run_fail(failure, "--publish: more than %zu ports", ARRAY_COUNT(o->published));
    if (strlen(text) < sizeof copy) {
        strcpy(copy, text);
        if (read_published(copy, p)) {
            o->published_count++;
            return 0;
        }
    }
    return run_fail(failure,
                    "--publish %s: write HOSTPORT:GUESTPORT, as 8080:80, with ADDRESS: before it "
                    "or /udp after it",
                    text);
}

int options_network_set(struct options *o, const char *text, struct run_failure *failure)
{
    static const char *const names[] = {"none", "user"};
    int found = option_word(text, names, ARRAY_COUNT(names));

    if (found < 0)
        return run_fail(failure, "--network %s: unknown; use user or none", text);
    o->network = found == 1;
    return 0;
}
