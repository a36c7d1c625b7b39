/* How lwIP is built for the kernel: no threads, its callback interface, TCP as a client, DHCP.
 * Names and meanings: lwIP, src/include/lwip/opt.h.
 */
#pragma once

/* One CPU calls it, and never from an interrupt. */
#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0

/* All memory comes from guest/net/net_port.c; none is static, so that a kernel with an unused
 * network is no larger than one without. */
#define MEM_ALIGNMENT 16
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define mem_clib_malloc net_port_allocate
#define mem_clib_calloc net_port_allocate_zeroed
#define mem_clib_free net_port_free
#define PBUF_POOL_BUFSIZE 1536 /* a whole frame: NET_FRAME_MAX */

#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_ARP 1
#define LWIP_ETHERNET 1
#define LWIP_ICMP 1
#define LWIP_UDP 1
#define LWIP_DHCP 1
#define LWIP_TCP 1
#define LWIP_RAW 0
#define LWIP_DNS 0
#define IP_REASSEMBLY 0
#define IP_FRAG 0
#define IP_FORWARD 0
#define DHCP_DOES_ARP_CHECK 0 /* left to the server; would cost each run a second */
#define DHCP_CREATE_RAND_XID 1
#define LWIP_NETIF_HOSTNAME 1
#define LWIP_SINGLE_NETIF 1
#define LWIP_HAVE_LOOPIF 0
#define LWIP_STATS 0

/* Much is sent and hardly anything received.  A window of 1 MiB is 8 ms at 1 Gbit/s. */
#define TCP_MSS 1460
#define TCP_SND_BUF (1024 * 1024)
#define TCP_SND_QUEUELEN 8192
#define LWIP_WND_SCALE 1 /* also lets the peer announce more than 64 KiB */
#define TCP_RCV_SCALE 0
#define TCP_WND 32768
#define TCP_QUEUE_OOSEQ 0
#define LWIP_TCP_RTO_TIME 1000 /* RFC 6298, 2.1 */
#define TCP_LISTEN_BACKLOG 0
/* Another machine, or this one's next run, must not be mistaken for an old connection. */
#define LWIP_HOOK_TCP_ISN(local_ip, local_port, remote_ip, remote_port) net_port_random()

/* The checks are about pools, which MEMP_MEM_MALLOC does not use. */
#define LWIP_DISABLE_TCP_SANITY_CHECKS 1
#define MEMP_NUM_TCP_SEG TCP_SND_QUEUELEN

#define LWIP_CHKSUM net_checksum
