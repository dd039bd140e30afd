"""Every test runs with the processor instructions that virtual machines keep their word on."""

import os

# Some announce AMX or half precision and end the process at its first such instruction ("Illegal
# instruction"). TensorFlow leaves them to oneDNN alone. Set before it is imported, and inherited.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
