/* The boot code in a stick's master boot record.  UEFI firmware never runs it; a BIOS, or UEFI's
 * compatibility module, runs it at 0:7C00H in real mode.  It says why nothing starts and what to
 * do.  At most 440 bytes: the next bytes belong to the partition table (UEFI 2.10, "Protective
 * MBR").
 */
.code16
.section .text
.globl start
start:
	ljmp $0, $1f
1:	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %ss
	movw $0x7c00, %sp
	cld
	movw $message, %si
2:	lodsb
	testb %al, %al
	jz 3f
	movb $0x0e, %ah /* INT 10H: teletype output; page 0, grey */
	movw $0x0007, %bx
	int $0x10
	jmp 2b
3:	xorb %ah, %ah /* INT 16H: wait for a key */
	int $0x16
	movw $0x1234, 0x472 /* a warm start: no test of the memory */
	ljmp $0xffff, $0

message:
	.ascii "\r\nMicrotome: this PC started the stick as a BIOS does, and the stick needs UEFI.\r\n\r\n"
	.ascii "In the boot menu choose the entry of this stick that begins with UEFI.\r\n"
	.ascii "If there is none, go to the firmware's setup, set the boot mode to UEFI,\r\n"
	.ascii "and switch CSM (legacy boot) and Secure Boot off.\r\n\r\n"
	.asciz "Press a key to restart.\r\n"
	.org start + 440 /* an error if the code is too long */
