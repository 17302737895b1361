# Lab 4's picture: the least cycles of an SM by resource, a panel for each chip, a group of bars for each stage.
# Set before loading: table (a block for each chip, separated by two empty lines, its first line the chip's name, then
# stage number and a column for each of 5 resources), out (output file without extension), n_chips, foot (problem and origin).

set terminal pngcairo noenhanced size 1100,480 font 'DejaVu Sans,12' background '#ffffff'
set output out.'.png'
array ink[5] = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9'] # colour-blind safe (Okabe and Ito)
array chip[n_chips]
do for [i = 1:n_chips] { stats table index i - 1 using (chip[i] = strcol(1), 1) every ::0::0 nooutput }

set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set key top right samplen 1.5
set yrange [0:*]
set xrange [-0.6:*]
set xlabel 'stage'
set ylabel 'cycles'
set bmargin 5
set label 1 foot at screen 0.01, screen 0.03 textcolor rgb '#555555' font ',10'
set multiplot layout 1,n_chips title 'Least cycles of an SM, resource by resource' font ',15'
do for [i = 1:n_chips] {
    set title chip[i]
    plot for [c = 2:6] table index i - 1 using c:xtic(1) linecolor rgb ink[c - 1] title columnheader(c)
    unset key
    unset label 1
}
unset multiplot
