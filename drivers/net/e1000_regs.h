/* Registers and descriptors of Intel's gigabit controllers, as far as the driver uses them.
 *
 * 8254x: PCI/PCI-X Family of Gigabit Ethernet Controllers Software Developer's Manual, 317453,
 * revision 4.0, chapter 13 ("SDM" below).  82574: 82574 GbE Controller Family Datasheet, 317694,
 * revision 3.4, chapter 10.  Each register has a section of its name there.  I217, I218, I219: the
 * same registers are the chipset's ("PCH"); the PHY has a data sheet of its own.  What these leave
 * out or call reserved is marked "e1000e": Intel's own driver for Linux,
 * drivers/net/ethernet/intel/e1000e, is the source.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define E1000_REGISTER_BYTES 0x20000 /* of BAR 0 */

enum { /* offsets */
       E1000_CTRL = 0x0000,
       E1000_STATUS = 0x0008,
       E1000_EECD = 0x0010,
       E1000_EERD = 0x0014,
       E1000_CTRL_EXT = 0x0018,
       E1000_MDIC = 0x0020,
       E1000_ICR = 0x00c0, /* reading clears */
       E1000_IMC = 0x00d8,
       E1000_RCTL = 0x0100,
       E1000_TCTL = 0x0400,
       E1000_TIPG = 0x0410,
       E1000_EXTCNF_CTRL = 0x0f00, /* 82574 and PCH */
       E1000_IOSFPC = 0x0f28, /* I219: e1000e */
       E1000_PBECCSTS = 0x100c, /* PCH: e1000e */
       E1000_RDBAL = 0x2800,
       E1000_RDBAH = 0x2804,
       E1000_RDLEN = 0x2808,
       E1000_RDH = 0x2810,
       E1000_RDT = 0x2818,
       E1000_RDTR = 0x2820,
       E1000_RXDCTL = 0x2828,
       E1000_RADV = 0x282c,
       E1000_KABGTXD = 0x3004, /* PCH: e1000e */
       E1000_TDBAL = 0x3800,
       E1000_TDBAH = 0x3804,
       E1000_TDLEN = 0x3808,
       E1000_TDH = 0x3810,
       E1000_TDT = 0x3818,
       E1000_TXDCTL = 0x3828,
       E1000_TARC0 = 0x3840, /* 82574 and PCH */
       E1000_TXDCTL1 = 0x3928,
       E1000_TARC1 = 0x3940,
       E1000_RXCSUM = 0x5000,
       E1000_RFCTL = 0x5008, /* 82574 and PCH */
       E1000_MTA = 0x5200, /* 128 registers; 32 on PCH */
       E1000_RAL = 0x5400,
       E1000_RAH = 0x5404,
       E1000_WUC = 0x5800,
       E1000_MANC = 0x5820,
       E1000_GCR = 0x5b00, /* 82574 and PCH */
       E1000_GCR2 = 0x5b64, /* 82574 */
       E1000_FWSM = 0x5b54, /* PCH */
       E1000_FEXTNVM11 = 0x5bbc, /* I219: e1000e */
       E1000_FFLT_DBG = 0x5f04, /* I219: e1000e */
};

#define E1000_CTRL_MASTER_DISABLE (1u << 2) /* PCIe only */
#define E1000_CTRL_LRST (1u << 3)
#define E1000_CTRL_ASDE (1u << 5) /* 8254x only */
#define E1000_CTRL_SLU (1u << 6)
#define E1000_CTRL_FRCSPD (1u << 11)
#define E1000_CTRL_FRCDPX (1u << 12)
#define E1000_CTRL_LANPHYPC_OVERRIDE (1u << 16) /* PCH: power of the PHY */
#define E1000_CTRL_LANPHYPC_VALUE (1u << 17)
#define E1000_CTRL_MEHE \
    (1u << 19) /* PCH: errors of the packet buffer's memory are handled: e1000e */
#define E1000_CTRL_RST (1u << 26)
#define E1000_CTRL_BIT29 (1u << 29) /* 82574: to be clear: e1000e */
#define E1000_CTRL_RFCE (1u << 27)
#define E1000_CTRL_TFCE (1u << 28)
#define E1000_CTRL_VME (1u << 30)
#define E1000_CTRL_PHY_RST (1u << 31)

#define E1000_STATUS_FULL_DUPLEX (1u << 0)
#define E1000_STATUS_LINK_UP (1u << 1)
#define E1000_STATUS_SPEED(status) ((status) >> 6 & 3) /* 10, 100, 1000, 1000 Mb/s */
#define E1000_STATUS_MASTER_ENABLE (1u << 19) /* PCIe only */

#define E1000_EECD_AUTO_READ_DONE (1u << 9) /* 82574 */
#define E1000_EERD_START (1u << 0)

#define E1000_CTRL_EXT_LPCD (1u << 2) /* PCH: LANPHYPC is done: e1000e */
#define E1000_CTRL_EXT_FORCE_SMBUS (1u << 11) /* PCH: e1000e */
#define E1000_CTRL_EXT_RO_DIS (1u << 17) /* no relaxed ordering */
#define E1000_CTRL_EXT_PHYPDEN (1u << 20) /* PCH */
#define E1000_CTRL_EXT_BIT22 (1u << 22) /* PCIe: to be set: e1000e */
#define E1000_CTRL_EXT_BIT23 (1u << 23) /* 82574: to be clear: e1000e */
#define E1000_CTRL_EXT_DRV_LOAD (1u << 28) /* tells management firmware that a driver is there */

#define E1000_MDIC_REGISTER_SHIFT 16
#define E1000_MDIC_PHY_SHIFT 21
#define E1000_MDIC_WRITE (1u << 26)
#define E1000_MDIC_READ (2u << 26)
#define E1000_MDIC_READY (1u << 28)
#define E1000_MDIC_ERROR (1u << 30)

/* Buffers of 2048 bytes: BSIZE and BSEX 0 */
#define E1000_RCTL_EN (1u << 1)
#define E1000_RCTL_BAM (1u << 15) /* broadcasts */
#define E1000_RCTL_SECRC (1u << 26) /* the checksum is cut off */

/* With the SDM's recommended values for full duplex */
#define E1000_TCTL_EN (1u << 1)
#define E1000_TCTL_PSP (1u << 3) /* pads short frames */
#define E1000_TCTL_CT_MASK (0xffu << 4)
#define E1000_TCTL_CT (15u << 4)
#define E1000_TCTL_COLD_MASK (0x3ffu << 12)
#define E1000_TCTL_COLD (63u << 12)
#define E1000_TCTL_RTLC (1u << 24)
#define E1000_TCTL_MULR (1u << 28) /* PCIe */

/* The shortest gaps that IEEE 802.3 allows */
#define E1000_TIPG_8254X (10u | 8u << 10 | 6u << 20)

/* The software's turn on the PHY, which management firmware uses, too */
#define E1000_EXTCNF_CTRL_OWNED (1u << 5)

/* TXDCTL bit 22 is to be set on PCIe */
#define E1000_TXDCTL_PTHRESH_MASK 0x3fu
#define E1000_TXDCTL_PTHRESH 31u
#define E1000_TXDCTL_WTHRESH_MASK (0x3fu << 16)
#define E1000_TXDCTL_WTHRESH (1u << 16) /* each descriptor is written back at once */
#define E1000_TXDCTL_COUNT_DESC (1u << 22)
#define E1000_DCTL_GRAN (1u << 24) /* thresholds count descriptors */
#define E1000_RXDCTL_THRESH_MASK 0x3fffu
#define E1000_RXDCTL_PTHRESH 31u
#define E1000_RXDCTL_HTHRESH (1u << 8)

/* e1000e */
#define E1000_TARC0_82574 (1u << 26)
#define E1000_TARC0_82574_CLEAR (0xfu << 27)
#define E1000_TARC0_PCH (1u << 23 | 1u << 24 | 1u << 26 | 1u << 27)
#define E1000_TARC0_REQUESTS_MASK (3u << 28)
#define E1000_TARC0_REQUESTS_2 (2u << 28) /* outstanding at most: three overrun a buffer */
#define E1000_TARC1_PCH (1u << 24 | 1u << 26 | 1u << 30)
#define E1000_TARC1_BIT28 (1u << 28) /* to be TCTL.MULR's opposite */
#define E1000_RFCTL_NFS_DIS (3u << 6) /* filters of NFS, which corrupt descriptors */
#define E1000_RFCTL_EXTEN (1u << 15) /* receive descriptors of the extended layout */
#define E1000_PBECCSTS_ENABLE (1u << 16)
#define E1000_KABGTXD_BGSQLBIAS 0x00050000u
#define E1000_IOSFPC_BIT16 (1u << 16)
#define E1000_FEXTNVM11_DISABLE_MULR_FIX (1u << 13)
#define E1000_FFLT_DBG_DONT_GATE (1u << 12) /* of the DMA clock: else frames are lost */
#define E1000_GCR_NO_SNOOP 0x3fu /* six kinds of transfers that need not be snooped */
/* 82574: e1000e, for errata of its PCIe completions that stop transmission */
#define E1000_GCR_82574 (1u << 22)
#define E1000_GCR2_82574 (1u << 0)

#define E1000_RAH_AV (1u << 31)

#define E1000_MANC_ARP_EN (1u << 13) /* the controller answers ARP itself */

#define E1000_FWSM_RSPCIPHY (1u << 6) /* the PHY may be reset */
#define E1000_FWSM_ULP_CFG_DONE                                      \
    (1u << 10) /* e1000e: firmware is about to leave ultra low power \
                */
#define E1000_FWSM_FW_VALID (1u << 15)

/* Configuration space of the I219: e1000e */
#define E1000_PCI_RING_STATUS 0xe4
#define E1000_PCI_FLUSH_REQUIRED (1u << 8)

/* The PHY: IEEE 802.3, 22.2.4 */
enum { E1000_PHY_CONTROL = 0, E1000_PHY_STATUS = 1, E1000_PHY_ID = 2 };
#define E1000_PHY_CONTROL_RESTART (1u << 9)
#define E1000_PHY_CONTROL_ISOLATE (1u << 10)
#define E1000_PHY_CONTROL_POWER_DOWN (1u << 11)
#define E1000_PHY_CONTROL_NEGOTIATE (1u << 12)
#define E1000_PHY_STATUS_LINK (1u << 2) /* latches a lost link until it is read */

/* SDM, "Receive Descriptor Format": what is called the legacy layout with later controllers */
struct e1000_receive {
    uint64_t address;
    uint16_t bytes;
    uint16_t checksum;
    uint8_t status;
    uint8_t errors;
    uint16_t special;
};
_Static_assert(sizeof(struct e1000_receive) == 16, "e1000_receive");
_Static_assert(offsetof(struct e1000_receive, status) == 12, "e1000_receive.status");

#define E1000_RECEIVE_DONE (1u << 0)
#define E1000_RECEIVE_END (1u << 1) /* the frame's last descriptor */
#define E1000_RECEIVE_ERRORS \
    0x97u /* RXE, CXE, SEQ, SE, CE: the frame; the others: checksums in it */

/* SDM, "Legacy Transmit Descriptor Format" */
struct e1000_transmit {
    uint64_t address;
    uint16_t bytes;
    uint8_t checksum_offset;
    uint8_t command;
    uint8_t status;
    uint8_t checksum_start;
    uint16_t special;
};
_Static_assert(sizeof(struct e1000_transmit) == 16, "e1000_transmit");
_Static_assert(offsetof(struct e1000_transmit, status) == 12, "e1000_transmit.status");

#define E1000_TRANSMIT_END (1u << 0)
#define E1000_TRANSMIT_CHECKSUM (1u << 1) /* the frame's, at its end */
#define E1000_TRANSMIT_REPORT (1u << 3)
#define E1000_TRANSMIT_DONE (1u << 0) /* in status */

/* SDM, "TCP/IP Data Descriptor Format": the fields of a legacy one, with other meanings of
 * checksum_offset (bits 19:16 of the length and the type of descriptor) and checksum_start (which
 * checksums are to be made). */
#define E1000_TRANSMIT_CUT (1u << 2) /* TSE: as the last context says */
#define E1000_TRANSMIT_EXTENDED (1u << 5) /* not a legacy descriptor */
#define E1000_TRANSMIT_TYPE_DATA (1u << 4) /* in checksum_offset */
#define E1000_TRANSMIT_SUM_IP (1u << 0) /* in checksum_start */
#define E1000_TRANSMIT_SUM_TCP (1u << 1)

/* SDM, "TCP/IP Context Descriptor Format": what the data descriptors after it mean.  Offsets are
 * from the frame's first byte. */
struct e1000_context {
    uint8_t ip_start, ip_checksum;
    uint16_t ip_last; /* the last byte that counts */
    uint8_t tcp_start, tcp_checksum;
    uint16_t tcp_last; /* 0: the frame's */
    uint32_t payload_and_command; /* bits 19:0: bytes after the headers; 31:24: TUCMD */
    uint8_t status;
    uint8_t header_bytes; /* what every segment begins with */
    uint16_t segment; /* bytes of payload in each */
};
_Static_assert(sizeof(struct e1000_context) == 16, "e1000_context");
_Static_assert(offsetof(struct e1000_context, status) == 12, "e1000_context.status");

#define E1000_CONTEXT_TCP (1u << 24)
#define E1000_CONTEXT_IPV4 (1u << 25)
#define E1000_CONTEXT_CUT (1u << 26)
#define E1000_CONTEXT_EXTENDED (1u << 29)
