//! The instruction sets hot loops are compiled for, chosen once at run time.

/// An instruction set that hot loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// 512-bit byte dot products.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    /// 256-bit multiply-add of bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What every machine has; compilers vectorise it as they can.
    Portable,
}

impl Isa {
    /// The best this machine has.
    pub fn detect() -> Self {
        Self::available().first().copied().unwrap_or(Self::Portable)
    }

    /// All this machine has, best first.
    pub fn available() -> Vec<Self> {
        let mut available = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni")
            {
                available.push(Self::Avx512Vnni);
            }
            if is_x86_feature_detected!("avx2") {
                available.push(Self::Avx2);
            }
        }
        available.push(Self::Portable);
        available
    }
}

/// Defines `fn name(isa, …)` that runs the inlined body `plain(…)` compiled for each instruction
/// set. The arithmetic is the same in all of them: Rust neither fuses nor reorders floats.
macro_rules! per_isa {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $plain:ident) => {
        $(#[$doc])*
        pub(in $crate::search) fn $name(isa: $crate::search::isa::Isa, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::search::isa::Isa;

                /// # Safety
                /// The processor has AVX-512 F, BW and VL.
                #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
                unsafe fn wide($($argument: $type),*) {
                    $plain($($argument),*);
                }
                /// # Safety
                /// The processor has AVX2.
                #[target_feature(enable = "avx2")]
                unsafe fn medium($($argument: $type),*) {
                    $plain($($argument),*);
                }
                match isa {
                    // SAFETY: an instruction set is chosen only where the processor has it.
                    Isa::Avx512Vnni => return unsafe { wide($($argument),*) },
                    // SAFETY: as above.
                    Isa::Avx2 => return unsafe { medium($($argument),*) },
                    Isa::Portable => {}
                }
            }
            let _ = isa;
            $plain($($argument),*);
        }
    };
}

pub(in crate::search) use per_isa;
