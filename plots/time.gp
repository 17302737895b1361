# Time by stage, on a logarithmic scale: each stage's lesson is a factor.
load 'plots/style.gp'
n_columns = 1
array column_number[1] = [3]
array column_name[1] = ['time_us']
array column_title[1] = ['time']
set title 'Time by stage'
set ylabel 'microseconds (log scale)'
set logscale y
set yrange [1:*]
floor_y = 1.0
load 'plots/bars.gp'
