//! Switches of the compiler that make a fault vanish: keys of its environment, and options.
//!
//! Release builds honour only the keys that their source marks so, and ignore the others; names are facts of the public
//! Intel Graphics Compiler (`igc_flags.h`).

use std::fmt;

/// A switch: `IGC_KEY=VALUE` of the environment, or an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switch(&'static str);

/// Each turns off what is on by itself. What does something alike is near: groups are tried first.
const ALL: &[&str] = &[
    "-cl-opt-disable",
    "-cl-intel-greater-than-4GB-buffer-required",
    "-cl-intel-256-GRF-per-thread",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    // Scalar optimisation.
    "IGC_EnableJumpThreading=0",
    "IGC_EnableIndVarSimplification=0",
    "IGC_DisableLoopUnroll=1",
    "IGC_allowLICM=0",
    "IGC_DisableCodeScheduling=1",
    "IGC_DisableLoopSink=1",
    "IGC_EnableBitcastExtractInsertPattern=0",
    "IGC_EnableOCLNewPassManager=0",
    // Integers.
    "IGC_EnablePromoteI8=0",
    "IGC_EnablePromoteI8Vec=0",
    "IGC_EnableQWAddSupport=0",
    "IGC_EnableAdd3=0",
    "IGC_EnableBfn=0",
    "IGC_EnableQWRotateInstructions=0",
    "IGC_EnableConstIntDivReduction=0",
    "IGC_EnableMullh=0",
    "IGC_EnableWideMulMad=0",
    "IGC_EnablePartialEmuI64=0",
    // Vectors.
    "IGC_EnableVectorizer=0",
    "IGC_EnableVectorEmitter=0",
    "IGC_DisableOCLScalarizer=1",
    "IGC_DisablePHIScalarization=1",
    "IGC_EnableScalarPhisMerger=0",
    "IGC_EnablePromotePhiToSourceWidth=0",
    "IGC_EnableCoalesceScalarMoves=0",
    "IGC_VectorAlias=0",
    // Memory.
    "IGC_DisableMemOpt=1",
    "IGC_EnableLdStCombine=0",
    "IGC_DisableMergeStore=1",
    "IGC_EnableGEPLSR=0",
    "IGC_EnableGEPSimplification=0",
    "IGC_LscImmOffsMatch=0",
    "IGC_DisableInvariantLoad=1",
    "IGC_UseVMaskPredicateForLoads=0",
    // Private arrays.
    "IGC_EnablePrivMemNewSOATranspose=0",
    "IGC_NewSOATransposeForOpenCL=0",
    "IGC_DisableSOAPromotion=1",
    "IGC_DisableShrinkArrayAllocaPass=1",
    "IGC_DisableMergeAllocasPrivateMemory=1",
    "IGC_DisablePromoteToScratch=1",
    "IGC_EnableOCLScratchPrivateMemory=0",
    "IGC_DisablePreSplitOpts=1",
    "IGC_EnablePvtMemHalfToFloat=0",
    "IGC_AllowMem2Reg=1",
    // Functions.
    "IGC_EnableExplicitCopyForByVal=0",
    "IGC_EnableByValStructArgPromotion=0",
    "IGC_EnableUnmaskedFunctions=0",
    "IGC_ControlKernelTotalSize=0",
    "IGC_FunctionControl=1",
    "IGC_DetectCastToGAS=0",
    "IGC_DisableAddingAlwaysAttribute=1",
    // Choice of instructions.
    "IGC_DisableMatchRegisterRegion=1",
    "IGC_EnableMadLoopSlice=0",
    "IGC_DisableFastMathConstantHandling=1",
    "IGC_DisableEarlyRemat=1",
    "IGC_DisableLateRemat=1",
    "IGC_RematDataAllowCMP=0",
    "IGC_DisableRecompilation=1",
    "IGC_PreferSIMD32ForCompute=0",
];

/// What is tried together first.
const GROUP: usize = 8;

/// What becomes of a fault with some switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is still there.
    Remains,
    /// The result is right.
    Vanishes,
    /// There is no result.
    Unknown,
}

impl Switch {
    /// All that are tried.
    pub(crate) fn all() -> Vec<Self> {
        ALL.iter().map(|text| Self(text)).collect()
    }

    /// Variable and value, if it is one of the environment.
    pub(crate) fn key(self) -> Option<(&'static str, &'static str)> {
        self.0.split_once('=').filter(|_| self.option().is_none())
    }

    pub(crate) fn option(self) -> Option<&'static str> {
        self.0.starts_with('-').then_some(self.0)
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The switches each of which alone makes a fault vanish, by at most so many tests: groups first, then halves of those
/// without which it does not remain.
///
/// # Errors
/// Those of the test.
pub(crate) fn avoiding<E>(
    all: &[Switch],
    most: usize,
    test: &mut dyn FnMut(&[Switch]) -> Result<Effect, E>,
) -> Result<Vec<Switch>, E> {
    let mut found = Vec::new();
    let mut left = most;
    let mut groups: Vec<&[Switch]> = all.chunks(GROUP).rev().collect();
    while let Some(group) = groups.pop() {
        if left == 0 {
            break;
        }
        left -= 1;
        match (test(group)?, group) {
            (Effect::Remains, _) | (Effect::Unknown, [_]) => {}
            (Effect::Vanishes, [one]) => found.push(*one),
            _ => {
                let (first, second) = group.split_at(group.len() / 2);
                groups.extend([second, first].into_iter().filter(|g| !g.is_empty()));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn switches_are_keys_or_options() {
        for switch in Switch::all() {
            assert_ne!(
                switch.key().is_some(),
                switch.option().is_some(),
                "{switch}"
            );
            assert!(
                switch
                    .key()
                    .is_none_or(|(name, _)| name.starts_with("IGC_"))
            );
        }
    }

    proptest! {
        /// Whatever makes it vanish is found, whatever breaks the compilation is not, in fewer tests than one by one.
        #[test]
        fn those_that_avoid_it_are_found(
            good in prop::collection::vec(0..ALL.len(), 0..3),
            bad in prop::collection::vec(0..ALL.len(), 0..2),
        ) {
            let all = Switch::all();
            let named = |some: &[usize]| -> Vec<Switch> {
                all.iter().enumerate().filter(|(n, _)| some.contains(n)).map(|(_, s)| *s).collect()
            };
            let (good, bad) = (named(&good), named(&bad));
            let mut tests = 0;
            let found = avoiding::<()>(&all, 1000, &mut |some| {
                tests += 1;
                Ok(if some.iter().any(|s| bad.contains(s)) {
                    Effect::Unknown
                } else if some.iter().any(|s| good.contains(s)) {
                    Effect::Vanishes
                } else {
                    Effect::Remains
                })
            });
            let expected: Vec<_> = good.into_iter().filter(|s| !bad.contains(s)).collect();
            prop_assert_eq!(found, Ok(expected));
            prop_assert!(tests < all.len());
            let mut tests = 0;
            let _ = avoiding::<()>(&all, 5, &mut |_| {
                tests += 1;
                Ok(Effect::Unknown)
            });
            prop_assert_eq!(tests, 5);
        }
    }
}
