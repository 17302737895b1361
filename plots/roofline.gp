# The roofline: how much arithmetic a byte gets, and how fast that runs. Each stage stands twice, by the bytes that
# came from DRAM and by those from L2; lines join the stages in order. Roofs are what this chip reached when it was
# measured (chips/), not its data sheet. Set before loading, besides what style.gp wants: ceilings, a file of
# "name kind value" (kind flop: TFLOPS; kind byte: TB/s).
load 'plots/style.gp'
n_roofs = 0
array roof_name[9]
array roof_kind[9]
array roof_value[9]
stats ceilings using (n_roofs = n_roofs + 1, roof_name[n_roofs] = strcol(1), roof_kind[n_roofs] = strcol(2), \
    roof_value[n_roofs] = $3, 1) nooutput
peak = 1
do for [r = 1:n_roofs] { if (roof_kind[r] eq 'flop' && roof_value[r] > peak) { peak = roof_value[r] } }
n_points = 0
do for [s = 1:n_series] {
    stats table index s-1 using (n_points = n_points + (valid(5) && valid(15) && column(15) > 0), 1) nooutput
}
set title 'Roofline: what a byte gets, and what comes of it'
set xlabel 'FLOP per byte (log scale)'
set ylabel 'TFLOPS (log scale)'
set logscale xy
set xrange [10:40000]
set yrange [8:1500]
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#eeeeee'
set key inside bottom right vertical samplen 2 font ',10'
set bmargin (is_dumb ? 4 : 6) + 1.4 * n_series
set datafile separator whitespace

short(name) = substr(name, 1, strstrt(name, ',') - 1) # "L2, read, loaded, at 1980 MHz,"
do for [r = 1:n_roofs] {
    if (roof_kind[r] eq 'flop') {
        set label 20 + r sprintf('%s %.0f TFLOPS', roof_name[r], roof_value[r]) at 38000, roof_value[r] * 1.1 right font ',9' textcolor rgb '#666666'
    } else {
        set label 20 + r sprintf('%s %.1f TB/s', short(roof_name[r]), roof_value[r]) at 10.5, 10.5 * roof_value[r] * 1.25 left rotate by 38 font ',9' textcolor rgb '#666666'
    }
}
roof(r, x) = roof_kind[r] eq 'flop' ? roof_value[r] : (x * roof_value[r] <= peak ? x * roof_value[r] : NaN)
level(c, bytes) = valid(5) && valid(c) && column(c) > 0 ? column(14) / (column(c) * bytes) : NaN
if (n_points == 0) {
    set label 1 'nothing to draw: no times with DRAM bytes here' at graph 0.5, graph 0.5 center
    plot for [r = 1:n_roofs] roof(r, x) with lines linewidth 1.5 linecolor rgb '#999999' notitle
} else {
    plot for [r = 1:n_roofs] roof(r, x) with lines linewidth 1.5 linecolor rgb '#999999' notitle, \
         for [s = 1:n_series] table index s-1 using (level(15, 1)):5 with linespoints pointtype 7 pointsize 1.4 linewidth 1.5 linecolor rgb ink[2 * s - 1] title 'by DRAM bytes, '.series_name[s], \
         for [s = 1:n_series] table index s-1 using (level(16, 32)):5 with linespoints pointtype 6 pointsize 1.4 linewidth 1.5 dashtype 2 linecolor rgb ink[2 * s] title 'by L2 bytes, '.series_name[s], \
         for [s = 1:n_series] table index s-1 using (level(15, 1)):5:1 with labels offset 1,0.6 font ',10' notitle, \
         for [s = 1:n_series] table index s-1 using (level(16, 32)):5:1 with labels offset 1,0.6 font ',10' notitle
}
