//! Runs a kernel with the best instructions the machine has. Every kernel is one body, compiled twice:
//! plainly, and with AVX2. FMA is deliberately absent: it rounds once where a multiplication and an
//! addition round twice, and the same text would get other bits on another machine.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "code for AVX2 is called after the machine was asked, and a prefetch reads nothing"
    )
)]

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
    // SAFETY: the condition above returned for machines without AVX2.
    unsafe { with_avx2(kernel) }
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

/// Hints that the bytes around a place will be read soon.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is one instruction in the innermost loop")]
pub(crate) fn prefetch(bytes: &[i8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(byte) = bytes.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of a byte that was borrowed, and the instruction exists on every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(byte) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}
