# Stage 4's tiles: a panel for each head_dim, in it two bars a tile, without a mask and causal; under its name
# registers, bytes spilled and CTAs on an SM. Set before loading: dir (sweep.txt and foot.txt, written by
# draw.sh), out (without extension) and term.
table = dir.'/sweep.txt'
if (term eq 'png') { set terminal pngcairo noenhanced size 1600,2200 font 'DejaVu Sans,10' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1600,2200 font 'DejaVu Sans,10' background '#ffffff' }
set output out.'.'.term
set datafile missing '-'
set style fill solid 0.9 noborder
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set yrange [0:*]
set ylabel 'TFLOPS'
set xtics rotate by 90 right font ',9'
set key outside top right horizontal samplen 1.5
set bmargin 13
set tmargin 3
stats dir.'/foot.txt' using (foot = strcol(1), 1) nooutput
stats table using 1 nooutput
label(tile, regs, spilled, ctas) = sprintf("%s\n%d regs, %s%d CTAs", tile, regs, spilled > 0 ? sprintf("%d spilled, ", spilled) : '', ctas)
rows = (STATS_blocks + 1) / 2
wide = 0.76 # of the picture, for the tiles of large problems: there are more of them
height = 0.98 / rows
set multiplot title 'Tiles of stage 4: BQ x BKV, warps x groups, stages, Q in registers, CTAS'
set label 1 foot at screen 0.01, screen 0.005 left font ',9' textcolor rgb '#555555'
do for [b = 0:STATS_blocks - 1] {
    stats table index b using 1 name 'SMALL' nooutput
    stats table index b using 2 name 'DIM' nooutput
    set title 'head_dim '.sprintf('%d', DIM_max).(SMALL_max > 0 ? ', small problems' : '')
    set origin b < rows ? 0 : wide, 0.98 - height * (b % rows + 1)
    set size b < rows ? wide : 1 - wide, height
    set xrange [-0.6:DIM_records - 0.4]
    plot table index b using ($0 - 0.2):4:(0.38):xtic(label(strcol(3), $6, $7, $8)) with boxes linecolor rgb '#0072b2' title 'no mask', \
         table index b using ($0 + 0.2):5:(0.38) with boxes linecolor rgb '#e69f00' title 'causal'
    unset label 1
    unset key
}
unset multiplot
