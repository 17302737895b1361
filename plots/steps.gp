# The climb of a stage: for each head_dim a bar for each step, in it its TFLOPS and the share of time in which the
# tensor pipe was active; the mark is what the step was expected to reach, from the one before. Set before
# loading: dir (steps.txt and foot.txt, written by stages/steps.sh), out (without extension), term, heading.
table = dir.'/steps.txt'
load 'plots/style.gp'
foot = wrap(system("sed 's/\"//g' '".dir."/foot.txt'"), 138)
stats table index 0 using (column('dim')) name 'D' nooutput
set xrange [0.4:D_records + 0.6]
set yrange [0:*]
set offsets 0, 0, graph 0.12, 0
set label 101 heading at screen 0.02, screen head_at left font ',21'
set label 102 'TFLOPS, and % of the time in which the tensor pipe is active; line: what was expected of the step' at screen 0.02, screen sub_at left font ',15' textcolor rgb soft
set label 1 foot at screen 0.02, screen foot_row * (n_lines(foot) - 0.3) left font small textcolor rgb soft
set ylabel 'TFLOPS'
set xtics rotate by -14 font ',14'
set bmargin at screen foot_row * n_lines(foot) + 92.0 / tall
set rmargin 6
width = 0.4
x_of(row, b) = row + 1 + (b - 1.5) * width
# The highest value, to tell bars that are too short for their words.
most = 0
do for [b = 1:2] { stats table index b-1 using (most = the('tflops') > most ? column('tflops') : most, 1) nooutput }
is_tall(v) = v > 0.16 * most
words_of(v, pct) = sprintf('%.0f', v).(pct > 0 ? sprintf("\n%.0f%%", pct) : '')
expected(row, tflops, factor) = (goal = row > 0 && last > 0 ? last * factor : NaN, last = tflops, goal)
last = 0
# TFLOPS that the step was to reach: those of the row before times its factor.
plot table index 0 using ($0 + 1):(NaN):xtic(strcol('step')) with points notitle, \
     for [b = 1:2] table index b-1 using (x_of($0, b)):(the('tflops')):(width * 0.94) with boxes linecolor rgb ink[b] notitle, \
     for [b = 1:2] table index b-1 using (x_of($0, b)):(is_tall(the('tflops')) ? 0 : the('tflops')):(words_of(the('tflops'), the('tensor_pct'))):(is_tall(the('tflops')) ? 0xffffff : 0x333333) \
         with labels offset 0,1.6 font small textcolor rgb variable notitle, \
     for [b = 1:2] table index b-1 using (x_of($0, b) - width * 0.47):(expected($0, the('tflops'), the('expected'))):(width * 0.94):(0) \
         with vectors nohead linewidth 3 linecolor rgb '#111111' notitle, \
     for [b = 1:2] table index b-1 using (x_of($0, b)):($0 == D_records - 1 ? the('tflops') : NaN):(sprintf('D%d', column('dim'))) \
         with labels offset 0,0.7 font ',15' textcolor rgb ink[b] notitle
