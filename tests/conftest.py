"""Every test runs with the processor instructions that virtual machines keep their word on."""

import os

# Some announce AMX and end the process at its first instruction ("Illegal instruction"); oneDNN
# uses it in products of bfloat16. Set before TensorFlow is imported, and inherited by processes.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
