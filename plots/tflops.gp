# Speed by stage: 4 B H Sq Sk D floating-point operations (half of that when causal) over the time.
load 'plots/table.gp'
n_columns = 1
array column_name[1] = [of_kind('tflops', 'launch_tflops')]
array column_title[1] = ['']
array column_ink[1] = [ink[1]]
array column_once[1] = [0]
title_text = 'Speed by stage'
sub_text = problem.'. TFLOPS, '.kind_of_time
set ylabel 'TFLOPS'
load 'plots/bars.gp'
