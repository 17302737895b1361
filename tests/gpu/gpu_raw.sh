# attnlab.RawKernel on a GPU, on the arrays of PyTorch and CuPy: tests/gpu/raw_gpu.py.
. tests/tap.sh
python=${PYTHON:-python3}
if ! $python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    skip "attnlab.RawKernel on a GPU" "no PyTorch with CUDA (PYTHON=... names one)"
    tap_done
fi
PYTHONPATH=runtime/python:tests:tests/runtime BUILD=$build $python tests/gpu/raw_gpu.py
