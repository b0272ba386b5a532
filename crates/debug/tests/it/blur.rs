//! The session that tests of the debugger and of its screen share.

use visakit_debug::{Console, Listing, Session, Sources, Target};
use visakit_launch::{Argument, Config, Kernel, NdRange, Source, ZeInfo};

/// A session of `blur`, which has source lines: two groups of two threads of 32 lanes.
pub(crate) fn blur() -> Console {
    let folder = visakit_testing::fixtures().join("kernels");
    let source = Source::open(&folder.join("blur.dg2.visaasm")).unwrap();
    let object = source.object(32).unwrap();
    let zeinfo = std::fs::read_to_string(folder.join("blur.dg2.zeinfo")).unwrap();
    let zeinfo = ZeInfo::parse(&zeinfo).unwrap();
    let kernel = Kernel::new(&object, "blur", &zeinfo).unwrap();
    let numbers = (0..128_u8).flat_map(|n| f32::from(n).to_le_bytes());
    let arguments = [
        Argument::Buffer(numbers.collect()),
        Argument::Buffer(vec![0; 512]),
        Argument::Local(66 * 4),
        Argument::Value(128_i32.to_le_bytes().to_vec()),
    ];
    let range = NdRange::new(&[128], &[64], &[]).unwrap();
    let config = Config::default();
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    let listing = Listing::new(&object, launch.program().code(), 32);
    let target = Target::kernel(launch, config.limits);
    let session = Session::new(target, listing).unwrap();
    Console::new(session, Sources::new(vec![folder]))
}
