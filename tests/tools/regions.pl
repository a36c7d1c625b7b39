#!/usr/bin/perl
# Prints the HR_REC_REGION records of a trace, one a line, from docs/format.md alone:
# NAME EVENT passes=N sum=N min=N max=N threads=N buckets=INDEX:COUNT,...
use strict;
use warnings;

open(my $file, '<:raw', $ARGV[0]) or die "$ARGV[0]: $!\n";
my $bytes = do { local $/; <$file> };
my $at = unpack('V', substr($bytes, 12, 4));
while ($at + 64 <= length $bytes) {
    my ($magic, $type, $cpu, $sequence, $payload) = unpack('a4 v v V V', substr($bytes, $at, 16));
    die "no chunk at $at\n" if $magic ne 'HRCK';
    $at += 64;
    my $end = $at + $payload;
    while ($at + 4 <= $end) {
        my ($kind, undef, $size) = unpack('C C v', substr($bytes, $at, 4));
        my $body = substr($bytes, $at + 4, $size);
        $at += 4 + $size;
        next if $kind != 68;
        my ($passes, $sum, $min, $max, $event, $buckets, $name, $threads) = unpack('Q<4 v4', $body);
        die "a region record of $size bytes\n" if $size != 40 + 8 * $buckets + $name;
        my @counts = unpack("Q<$buckets", substr($body, 40));
        my @used = map { "$_:$counts[$_]" } grep { $counts[$_] } 0 .. $#counts;
        printf "%s %s passes=%s sum=%s min=%s max=%s threads=%s buckets=%s\n", substr($body, 40 + 8 * $buckets),
            $event == 0xffff ? 'time' : $event, $passes, $sum, $min, $max, $threads, join(',', @used);
    }
    $at = $end;
}
