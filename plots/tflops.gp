# Speed by stage: 4 B H Sq Sk D floating-point operations (half of that when causal) over the time.
load 'plots/style.gp'
n_columns = 1
array column_number[1] = [5]
array column_name[1] = ['tflops']
array column_title[1] = ['TFLOPS']
set title 'Speed by stage'
set ylabel 'TFLOPS'
load 'plots/bars.gp'
