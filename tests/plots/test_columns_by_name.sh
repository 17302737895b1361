#!/bin/bash
# gnuplot and the scripts of make compare read columns by their names, so that a new column moves none: a script that
# counts (using 1:2, $3, column(4), strcol(2), valid(5), xtic(1), awk's $6 and cut -f over a table) is named.
. tests/tap.sh

# Numbers of columns in gnuplot's scripts; $0 and column 0 are the number of the row, and (0.5) is a constant.
counted_in_gnuplot() { # FILE...
    awk '
        { line = $0; sub(/^[ \t]*#.*/, "", line) }
        line ~ /\$[1-9]/ || line ~ /(column|strcol|stringcolumn|valid|xtic|ytic|columnheader|xticlabels|yticlabels)\([1-9]/ ||
        line ~ /using ([0-9]+:)*[1-9][0-9]*([: ]|$)/ || line ~ /using .*[)"]:[1-9][0-9]*([: ]|$)/ || line ~ /using [^ ]*:[1-9][0-9]*([: ]|$)/ {
            print FILENAME ":" FNR ": " $0
            n++
        }
        END { exit !n }' "$@"
}
# A table of compare has a name for each column: no count in a line of a script that names the table.
counted_in_shell() { # FILE...
    awk '
        { text = text "\n" $0 }
        /(table|notes|labels)\.txt/ && (/\$[1-9][0-9]* *[!=~<>]|\$[1-9][0-9]*[,}]|NF *[<>=]/ || /cut [^|]*-f/) { print FILENAME ":" FNR ": " $0; n++ }
        /cut -d . . -f [0-9]/ { print FILENAME ":" FNR ": " $0; n++ }
        END { exit !n }' "$@"
}
none() { ! "$@"; }
mapfile -t scripts < <(git ls-files '*.gp')
check "there are scripts of gnuplot" [ "${#scripts[@]}" -gt 10 ]
check "they name columns" none counted_in_gnuplot "${scripts[@]}"
check "compare and report name columns" none counted_in_shell plots/compare.sh plots/report.sh

# Each way to count is found.
for planted in 'plot table using 1:2 with lines' 'plot table using ($0 + 1):5' 'y(x) = column(31)' 'stats labels using (a = strcol(1), 1)' \
    'v = valid(7)' "plot table using 'time_us':xtic(2)" 'plot table using (f($4))' 'stats table using 6 nooutput'; do
    cp plots/tensor.gp "$tap_dir/planted.gp"
    echo "$planted" >> "$tap_dir/planted.gp"
    check "planted: $planted" counted_in_gnuplot "$tap_dir/planted.gp"
done
for planted in "awk '\$5 != \"-\" && \$16 != \"-\"' \$out/table.txt" 'cut -d " " -f 1-12 $out/table.txt | column -t' "cut -d ' ' -f 1-12"; do
    cp plots/compare.sh "$tap_dir/planted.sh"
    echo "$planted" >> "$tap_dir/planted.sh"
    check "planted: $planted" counted_in_shell "$tap_dir/planted.sh"
done
tap_done
