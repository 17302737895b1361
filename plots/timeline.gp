# What a GPU did over time, from `make stage-N timeline`: a panel for each table, all with the same axes.
# Set before loading: tables (results/timeline-*.tsv, separated by spaces), out (output file without
# extension), term (png or svg), and window (us, from the begin) if not 100.

set encoding utf8
n = words(tables)
tall = 80 + 450 * n
if (term eq 'png') { set terminal pngcairo noenhanced size 1100,tall font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1100,tall font 'DejaVu Sans,12' background '#ffffff' }
set output out.'.'.term

# The first lines of a table say what it is; as data they stay text, whatever is in them.
array what[n]
array how[n]
set datafile separator "\n"
set datafile commentschars ''
do for [i = 1:n] {
    stats word(tables, i) using (what[i] = strcol(1), 1) every ::0::0 nooutput
    stats word(tables, i) using (how[i] = strcol(1), 1) every ::1::1 nooutput
}
set datafile separator "\t"
set datafile commentschars '#'

set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set key outside top center horizontal samplen 1.5
set tmargin 5.5
set bmargin 6.2
set boxwidth 1 relative
set xlabel 'us'
set ylabel '% of all SMs'' peak'
set xrange [0:(exists('window') ? window : 100)]
set yrange [0:105]
set multiplot layout n,1 title 'Tensor pipe and special functions over time' font ',15'
do for [i = 1:n] {
    table = word(tables, i)
    if (i > 1) { unset key }
    on = strstrt(what[i], ', on ')
    set title substr(what[i], 3, on - 1)
    set label 1 substr(what[i], on + 2, strlen(what[i])).'; '.substr(how[i], 3, strlen(how[i])) at graph 0, graph 0 offset 0,-5 left font ',9' textcolor rgb '#555555'
    plot table using 1:2 every ::1 with boxes fill solid 1 noborder linecolor rgb '#e4e4e4' title 'SMs with work', \
         table using 1:3 every ::1 with histeps linewidth 2 linecolor rgb '#0072b2' title 'tensor pipe', \
         table using 1:4 every ::1 with histeps linewidth 2 linecolor rgb '#e69f00' title 'special functions (exp)'
}
unset multiplot
