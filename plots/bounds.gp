# Lab 4's picture: the least cycles of an SM by resource, a panel for each chip, a group of bars for each stage.
# Set before loading: table (a block for each chip, separated by two empty lines, its first line the chip's name, which heads
# the column of stages, and the resources), out (output file without extension), n_chips, foot (problem and origin).
term = 'png'
wide = 1040
tall = 480
load 'plots/style.gp'
n_resources = 5
array resource[n_resources] = ['tensor cores', 'issue', 'shared memory', 'fp32', 'exponentials']
chips = system("sed -n 's/^\\([a-z][^ ]*\\) .*/\\1/p' '".table."'")

set style data histograms
set style histogram clustered gap 1
set key top right samplen 1.5 font ',14'
set yrange [0:*]
set xrange [-0.6:*]
set xlabel 'stage'
set ylabel 'cycles'
unset tmargin
set bmargin 4.5
set label 1 foot at screen 0.02, screen 0.03 textcolor rgb soft font small
set multiplot layout 1,n_chips title 'Least cycles of an SM, resource by resource' font ',20'
do for [i = 1:n_chips] {
    set title word(chips, i)
    plot for [c = 1:n_resources] table index i - 1 using (column(resource[c])):xtic(strcol(word(chips, i))) linecolor rgb ink[c] title resource[c]
    unset key
    unset label 1
}
unset multiplot
