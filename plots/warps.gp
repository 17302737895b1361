# What the warps of one block do over time, from `make stage-N timeline DEVICE=emu`: a strip for each
# warp, by role, and the pipes of its SM. Set before loading: table (results/warps-stage-N.tsv), out
# (output file without extension), term (png or svg), window (us from the begin; 0: the whole block).
wide = 1300
what = system("sed -n '1s/^# //p' '".table."'")
set datafile separator "\t"
set datafile columnheaders
stats table using (column('lane')) name 'lane' nooutput
stats table using (column('end_us')) name 'end' nooutput
n = lane_max + 1
tall = 260 + 28 * n
load 'plots/style.gp'

# Colour-blind safe; works dark, waits pale. By the number of what is done (common/harness/watch/warps.c).
array ink[9] = ['#0072b2', '#b0b0b0', '#56b4e9', '#009e73', '#f0e442', '#e69f00', '#d55e00', '#cc79a7', '#333333']
array said[9]
do for [k = 1:9] { said[k] = '' }
stats table using (said[int(column('number')) + 1] = strcol('what'), 1) nooutput

set border 1 linecolor rgb '#444444'
unset grid
set xlabel 'us' offset 0,0.9
set xrange [0:(window > 0 && window < end_max ? window : end_max)]
set yrange [-0.6:n - 0.4]
set ytics scale 0
set key below left Left reverse horizontal samplen 1 maxcols 3 width 1 font ',14'
set lmargin 20
set rmargin 3
on = strstrt(what, ', on ')
set label 101 'One block, warp by warp: who works, and what the others wait for' at screen 0.02, screen head_at left font ',21'
set label 102 substr(what, 1, on - 1)."\n".wrap(substr(what, on + 2, strlen(what)), 165) at screen 0.02, screen sub_at left font ',14' textcolor rgb soft
set tmargin at screen 1 - 120.0 / tall
set style fill solid 1 noborder
# shares change every few pixels: boxes that only touch would show their seams
seamless(k, x) = k == 9 ? x + end_max / wide : x
bottom(x) = column('lane') - 0.42
top(x) = column('lane') - 0.42 + 0.84 * column('share')
plot table using (column('begin_us')):(column('lane')):(column('begin_us')):(column('end_us')):(bottom(0)):(top(0)):ytic(strcol('name')) with boxxyerror linecolor rgb '#ffffff' notitle, \
     for [k = 1:9] table using (column('number') == k - 1 ? column('begin_us') : NaN):(column('lane')):(column('begin_us')):(seamless(k, column('end_us'))):(bottom(0)):(top(0)) \
         with boxxyerror linecolor rgb ink[k] title (said[k] eq '' ? '' : said[k])
