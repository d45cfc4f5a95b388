"""What a kernel made of one other kernel takes over from it."""

from __future__ import annotations

from mercer.kernels.base import Kernel


class OfKernel(Kernel):
    """A kernel made of another one, positive semi-definite and symmetric when that is."""

    kernel: Kernel

    @property
    def psd(self) -> bool:
        return self.kernel.psd

    @property
    def symmetric(self) -> bool:
        return self.kernel.symmetric

    @property
    def data_dependent(self) -> bool:
        return self.kernel.data_dependent
