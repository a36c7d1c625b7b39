#!/bin/sh
# Drivers of network cards (a test build of the kernel) against the emulator's cards and its own network.
. "$(dirname "$0")/../lib.sh"
real_qemu=$(network_emulator) || skip_all 'no emulator with a user network'

cat >qemu.sh <<EOF
#!/bin/sh
exec "$real_qemu" "\$@" -netdev user,id=net,restrict=on \\
    -object filter-dump,id=dump,netdev=net,file=$work/net.pcap \\
    \$BUSES -device "\$NIC,netdev=net,mac=52:54:00:0a:0b:0c"
EOF
chmod +x qemu.sh
export NIC BUSES=

# The frames of type 88B5H in net.pcap: "N numbered frames" when they are numbered and filled as they were sent.
burst() {
    perl -e 'use strict; local $/; binmode STDIN; my $d = <STDIN>; my ($at, $n, $pad) = (24, 0, 0);
        while ($at + 16 <= length $d) {
            my $bytes = unpack "x8V", substr $d, $at, 16; my $f = substr $d, $at + 16, $bytes; $at += 16 + $bytes;
            next unless unpack("x12n", $f) == 0x88b5;
            die "frame $n: from another address\n" unless substr($f, 6, 6) eq "\x52\x54\x00\x0a\x0b\x0c";
            my $wanted = pack("n", $n) . chr($n & 255) x (60 + $n * 31 % (1514 - 59) - 16);
            die "frame $n: not as it was sent\n" unless substr($f, 14) eq $wanted;
            $n++;
        } print "$n numbered frames\n"' <net.pcap 2>&1
}

# try_card DEVICE: everything that net_test does, with a card.
try_card() {
    NIC=$1
    rm -f net.pcap
    run_hr run -v --accel tcg --qemu "$work/qemu.sh" --panic-test start-net "$WORKLOADS/hello"
    is "$NIC: status" "$status" 0
    like "$NIC: is found, and its address" err 'network card .*52:54:00:0a:0b:0c'
    like "$NIC: the host answers" err '10.0.2.2 is at 52:55:0a:00:02:02'
    like "$NIC: all echoes come back" err '1000 of 1000 echoes came back, 0 other'
    like "$NIC: nothing is dropped" err '2001 sent, [0-9]+ received, 0 dropped'
    is "$NIC: every frame arrives in order" "$(burst)" '1000 numbered frames'
}

for card in virtio-net-pci virtio-net-pci,disable-legacy=on virtio-net-pci,rx_queue_size=1024,tx_queue_size=256 \
    e1000 e1000-82545em e1000e; do
    try_card $card
done
like 'the link is told' err 'network card: link of 1000 Mb/s, full duplex'
# SeaBIOS numbers the buses behind bridges, which qboot does not: one bridge, and one of another host bridge.
BUSES='-bios bios-256k.bin -device pcie-root-port,id=below,chassis=1'
try_card virtio-net-pci,bus=below
like 'it is behind the bridge' err 'network card 1af4:1041 at 01:00.0'
BUSES="-bios bios-256k.bin -device pxb-pcie,id=other,bus_nr=128,bus=pcie.0 \
    -device pcie-root-port,id=below,chassis=1,bus=other"
try_card e1000e,bus=below
like 'it is behind the other host bridge' err 'network card 8086:10d3 at 81:00.0'
BUSES=
NIC=rtl8139
run_hr run -v --accel tcg --qemu "$work/qemu.sh" --panic-test start-net "$WORKLOADS/hello"
like 'a card without a driver is named' err 'network card 10ec:8139 .*no driver'
like 'and there is no other' err 'net-test: no card: error -19'
is 'the run goes on' "$status" 0
done_testing
