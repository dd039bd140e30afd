"""Every test runs with processor instructions that virtual machines keep their word on."""

import os

# Some virtual machines announce AMX and then end the process at its first instruction ("Illegal instruction"), which
# oneDNN uses in products of bfloat16. Set before TensorFlow is imported; processes that tests start inherit it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
