//! Kernels of a few lines, run with one buffer.

use std::sync::Arc;
use visakit_exec::Compiler;
use visakit_isa::Platform;
use visakit_jit::Jit;
use visakit_launch::{Argument, Compile, Config, Kernel, NdRange, Prepared, Variables, ZeInfo};
use visakit_profile::{InstructionProfile, KernelCode, KernelProfile, Watched};
use visakit_text::asm;

const HEAD: &str = "\
.version 4.1
.kernel \"k\"
.decl BASE v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl A v_type=G type=ud num_elts=16 align=GRF
.decl B v_type=G type=ud num_elts=16 align=GRF
.decl N v_type=G type=ud num_elts=1 align=GRF
.decl PTR v_type=G type=uq num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.input BASE offset=32 size=8
.kernel_attr SimdSize=16
    mov (M1_NM, 8) ID(0,0)<1> 0x76543210:v
    add (M1_NM, 8) ID(1,0)<1> ID(0,0)<1;1,0> 0x8:ud
    mov (M1_NM, 1) N(0,0)<1> 0x0:ud
";

/// Instructions before the lines of a test.
pub(crate) const FIRST: usize = 3;

const ZEINFO: &str = "---
version: '1.20'
kernels:
  - name: k
    execution_env:
      grf_count: 128
      simd_size: 16
      slm_size: 4096
      barrier_count: 1
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
        access_type: readwrite
";

/// The address of each lane's element, with this stride in bytes.
pub(crate) fn addresses(stride: u32) -> String {
    format!(
        "mul (M1_NM, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x{stride:x}:ud\n\
         mov (M1_NM, 16) PTR(0,0)<1> A(0,0)<1;1,0>\n\
         add (M1_NM, 16) PTR(0,0)<1> PTR(0,0)<1;1,0> BASE(0,0)<0;1,0>\n"
    )
}

/// Runs these lines in groups of this many work-items, with or without machine code.
pub(crate) fn profile(lines: &str, grid: (u32, u32), watched: Watched, jit: bool) -> KernelProfile {
    with_launches(lines, grid, jit, |code, config, launch| {
        let ran = visakit_profile::run(&code, launch(), config, watched);
        let (profile, outcome) = ran.unwrap();
        let steps = outcome.counts.unwrap();
        let times: u64 = steps.iter().map(|step| step.times).sum();
        assert_eq!(times, outcome.counters.instructions);
        profile
    })
}

/// Passes on launches of these lines, with their code and configuration.
pub(crate) fn with_launches<R>(
    lines: &str,
    (global, local): (u32, u32),
    jit: bool,
    then: impl FnOnce(KernelCode, &Config<'_>, &mut dyn FnMut() -> Prepared) -> R,
) -> R {
    let text = format!("{HEAD}{lines}\nret (M1, 1)\n");
    let object = asm::assemble(text.as_bytes(), &asm::Options::default()).unwrap();
    let kernel = Kernel::new(&object, "k", &ZeInfo::parse(ZEINFO).unwrap()).unwrap();
    let range = NdRange::new(&[global], &[local], &[]).unwrap();
    let compiler = Jit::host().map(|jit| Arc::new(jit) as Arc<dyn Compiler>);
    let config = visakit_profile::config(Config {
        compile: compiler.as_ref().filter(|_| jit).map(Compile::always),
        ..Config::default()
    });
    let variables = Arc::new(Variables::new(&[], &[]).unwrap());
    let loaded = kernel.load(&variables, &config).unwrap();
    let code = KernelCode::new(&object, loaded.program(), Some(Platform::Dg2));
    let arguments = [Argument::Buffer(vec![0; 1 << 16])];
    then(code, &config, &mut || {
        loaded.launch(&range, &arguments, None, &config).unwrap()
    })
}

/// Runs on one thread with everything sampled.
pub(crate) fn one_thread(lines: &str) -> KernelProfile {
    profile(lines, (16, 16), Watched::All, false)
}

/// The instructions with this mnemonic.
pub(crate) fn with<'p>(profile: &'p KernelProfile, mnemonic: &str) -> Vec<&'p InstructionProfile> {
    let all = profile.instructions.iter();
    all.filter(|i| i.text.contains(mnemonic)).collect()
}
