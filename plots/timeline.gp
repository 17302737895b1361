# What a GPU did over time, from `make stage-N timeline`. Set before loading: table (results/timeline-*.tsv),
# out (output file without extension), term (png, svg or dumb), and window (us, from the begin) if not 100.

set encoding utf8
if (term eq 'png') { set terminal pngcairo noenhanced size 1100,520 font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1100,520 font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'dumb') { set terminal dumb noenhanced size 100,32 mono }
if (term ne 'dumb') { set output out.'.'.term }

# The first line of the table says what it is; as data it stays text, whatever is in it.
foot = ''
set datafile separator "\n"
set datafile commentschars ''
stats table using (foot = strcol(1), 1) every ::0::1 nooutput
title_line = ''
stats table using (title_line = strcol(1), 1) every ::0::0 nooutput
set datafile separator "\t"
set datafile commentschars '#'

set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set key outside top center horizontal samplen 1.5
set title 'Tensor pipe and special functions over time' font ',15'
set label 1 title_line[3:*] at screen 0.02, screen 0.055 left font ',9' textcolor rgb '#555555'
set label 2 foot[3:*] at screen 0.02, screen 0.025 left font ',9' textcolor rgb '#555555'
set bmargin 6
set boxwidth 1 relative
set xlabel 'us'
set ylabel '% of all SMs'' peak'
set xrange [0:(exists('window') ? window : 100)]
set yrange [0:105]
plot table using 1:2 every ::1 with boxes fill solid 1 noborder linecolor rgb '#e4e4e4' title 'SMs with work', \
     table using 1:3 every ::1 with histeps linewidth 2 linecolor rgb '#0072b2' title 'tensor pipe', \
     table using 1:4 every ::1 with histeps linewidth 2 linecolor rgb '#e69f00' title 'special functions (exp)'
