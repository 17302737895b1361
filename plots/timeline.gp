# What a GPU did over time, from `make stage-N timeline`: a panel for each table, all with the same axes.
# Set before loading: tables (results/timeline-*.tsv, separated by spaces), out (output file without
# extension), term (png or svg), and window (us, from the begin) if not 100.
n = words(tables)
tall = 110 + 430 * n
load 'plots/style.gp'

# The first lines of a table say what it is; read as data they stay text, whatever is in them.
array what[n]
array how[n]
do for [i = 1:n] {
    what[i] = system("sed -n '1s/^# //p' '".word(tables, i)."'")
    how[i] = system("sed -n '2s/^# //p' '".word(tables, i)."'")
}
set datafile separator "\t"
unset tmargin
set tmargin 3
set bmargin 6.5
set boxwidth 1 relative
set xlabel 'us' offset 0,0.4
set ylabel '% of all SMs'' peak'
set xrange [0:(exists('window') ? window : 100)]
set yrange [0:105]
set label 101 'Tensor pipe and special functions over time' at screen 0.02, screen head_at left font ',21'
set label 102 'tensor pipe' at screen 0.02, screen sub_at left font ',15' textcolor rgb ink[1]
set label 103 'special functions (exp)' at screen 0.14, screen sub_at left font ',15' textcolor rgb ink[2]
set label 104 'grey: SMs with work' at screen 0.37, screen sub_at left font ',15' textcolor rgb '#777777'
set multiplot
do for [i = 1:n] {
    table = word(tables, i)
    on = strstrt(what[i], ', on ')
    set origin 0, (n - i) * 430.0 / tall
    set size 1, 430.0 / tall
    set title substr(what[i], 1, on - 1) font ',16'
    set label 1 wrap(substr(what[i], on + 2, strlen(what[i])).'; '.how[i], 138) at graph 0, graph 0 offset 0,-4 left font small textcolor rgb soft
    plot table using (column('us')):(column('sm_pct')) with boxes fill solid 1 noborder linecolor rgb '#e4e4e4' notitle, \
         table using (column('us')):(column('tensor_pct')) with histeps linewidth 2 linecolor rgb ink[1] notitle, \
         table using (column('us')):(column('mufu_pct')) with histeps linewidth 2 linecolor rgb ink[2] notitle
    unset label 101; unset label 102; unset label 103; unset label 104
}
unset multiplot
