#!/bin/sh
# Finds words in comments that make them hard to read: tools/words.sh FOLDER...
# Reads only the comments of *.c, *.h, *.S and *.inc files, prints FILE:LINE: WORD, and fails if it prints anything.
set -eu
cd "$(dirname "$0")/.."
found=$(find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.S' -o -name '*.inc' \) -exec awk '
    # Returns the text of the comments in a line; `inside`: the line begins in a comment.
    function comments(line,    text, at, c) {
        for (text = " ";;) {
            if (inside) {
                at = index(line, "*/")
                if (at == 0)
                    return text line
                text = text substr(line, 1, at - 1) " "
                line = substr(line, at + 2)
                inside = 0
            }
            if (!match(line, /\/\*|\/\/|"|\047/))
                return text
            c = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            if (c == "//")
                return text line
            if (c == "/*")
                inside = 1
            else if (c == "\"" ? match(line, /^([^"\\]|\\.)*"/) : match(line, /^([^\047\\]|\\.)*\047/))
                line = substr(line, RLENGTH + 1) # the end of a string or a character
        }
    }
    FNR == 1 { inside = 0; carried = "" }
    !inside && !/\/[*\/]/ { carried = ""; next }
    {
        text = carried comments($0)
        gsub(/[^A-Za-z]+/, " ", text)
        text = text " "
        if (text ~ / The same /)
            print FILENAME ":" FNR ": The same"
        # The first word of two may be the last one of a line.
        carried = inside && match(text, / (any|[Ii]n|[Gg]oes|[Gg]o|The) $/) ? substr(text, RSTART) : ""
        for (text = tolower(text); match(text, words); text = substr(text, RSTART + RLENGTH - 1))
            print FILENAME ":" FNR ": " substr(text, RSTART + 1, RLENGTH - 2)
    }
    BEGIN { words = " (nobody|somebody|whoever|behind|rests|any ?more|meanwhile|beside|anew|in vain|goes on|go on) " }
    ' {} +)
[ -n "$found" ] || exit 0
printf '%s\n' "$found" | LC_ALL=C sort -t : -k 1,1 -k 2,2n
exit 1
