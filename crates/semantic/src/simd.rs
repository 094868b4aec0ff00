//! Runs a kernel with the best instructions the machine has. Every kernel is one body, compiled twice:
//! plainly, and with AVX2. FMA is deliberately absent: it rounds once where a multiplication and an
//! addition round twice, and the same text would get other bits on another machine.

/// Work whose body is inlined into both compilations. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    type Out;

    fn run(self) -> Self::Out;
}

/// Runs a kernel as fast as the machine can.
#[cfg(target_arch = "x86_64")]
pub(crate) fn fastest<K: Kernel>(kernel: K) -> K::Out {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return kernel.run();
    }
    #[expect(unsafe_code, reason = "calling code for AVX2 is sound because the machine was just asked")]
    // SAFETY: the condition above returned for machines without AVX2.
    unsafe {
        with_avx2(kernel)
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fastest<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}
