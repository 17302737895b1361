# The climb of a stage: for each head_dim a bar for each step, above it the share of time in which the
# tensor pipe was active; the mark is what the step was expected to reach, from the one before. Set before
# loading: dir (steps.txt and foot.txt, written by stages/steps.sh), out (without extension), term, heading.
table = dir.'/steps.txt'
if (term eq 'png') { set terminal pngcairo noenhanced size 1100,680 font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1100,680 font 'DejaVu Sans,12' background '#ffffff' }
set output out.'.'.term
set datafile missing '-'
array ink[2] = ['#0072b2', '#e69f00']
set style fill solid 0.9 noborder
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set key outside top center horizontal samplen 1.5
stats table index 0 using 2 name 'D' nooutput
set xrange [0.4:D_records + 0.6]
set yrange [0:*]
set offsets 0, 0, graph 0.08, 0
set title heading font ',15'
set ylabel 'TFLOPS'
set xtics rotate by -12
set bmargin 7
stats dir.'/foot.txt' using (foot = strcol(1), 1) nooutput
set label 1 foot at screen 0.01, screen 0.02 left font ',9' textcolor rgb '#555555'
width = 0.38
x_of(row, b) = row + 1 + (b - 1.5) * width
last = 0
# TFLOPS that the step was to reach: those of the row before times its factor.
expected(row, tflops, factor) = (goal = row > 0 && last > 0 ? last * factor : NaN, last = tflops, goal)
plot table index 0 using ($0 + 1):(NaN):xtic(1) with points notitle, \
     for [b = 1:2] table index b-1 using (x_of($0, b)):4:(width * 0.94) with boxes linecolor rgb ink[b] \
         title 'head_dim '.(b == 1 ? '64' : '128'), \
     for [b = 1:2] table index b-1 using (x_of($0, b)):4:(sprintf('%.0f%s', $4, $5 > 0 ? sprintf("\n%.0f %%", $5) : '')) \
         with labels offset 0,1.25 font ',9' notitle, \
     for [b = 1:2] table index b-1 using (x_of($0, b) - width * 0.45):(expected($0, $4, $8)):(width * 0.9):(0) \
         with vectors nohead linewidth 2 linecolor rgb '#d55e00' title b == 1 ? 'expected of the step' : '', \
     NaN with points pointtype -1 title '%: tensor pipe active'
