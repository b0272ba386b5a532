//! Media kernels: threads of a space instead of work-items.

use visakit_debug::{Console, Listing, MemorySpace, Session, Sources, Stop, Target};
use visakit_exec::Limits;
use visakit_launch::{
    Config, Dependency, Media, MediaSurface, Source, SurfaceShape, Target as MediaTarget,
    find_kernel,
};

const CELLS: (u32, u32) = (8, 9);

/// Passes on a sum over two dimensions, whose threads wait for those to the left and above.
fn sum<R>(
    group: Option<[u32; 2]>,
    then: impl FnOnce(&visakit_isa::object::Object<'_>, Media) -> R,
) -> R {
    let path = visakit_testing::fixtures().join("programs/prefix_sum_2d.visaasm");
    let source = Source::open(&path).unwrap();
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let mut media = Media::new(&object, id, 32, &Config::default()).unwrap();
    let surface = MediaSurface {
        bytes: vec![0; 400],
        shape: Some(SurfaceShape {
            width: 40,
            height: 10,
            pitch: 40,
        }),
    };
    media.surface(MediaTarget::Input(0), &surface).unwrap();
    media.input(1, "0,1,1,1").unwrap();
    media.space = [CELLS.0, CELLS.1];
    media.group = group;
    media.dependency = Dependency::Wavefront26;
    then(&object, media)
}

fn session(group: Option<[u32; 2]>) -> Session {
    sum(group, |object, media| {
        let listing = Listing::new(object, media.program().code(), 32);
        let target = Target::media(media, Limits::default()).unwrap();
        Session::new(target, listing).unwrap()
    })
}

#[test]
fn control_changes_nothing() {
    for group in [None, Some([1, 1])] {
        let alone = sum(group, |_, media| media.run(&Config::default()).unwrap());
        let mut session = session(group);
        assert_eq!(session.target().groups(), 72);
        assert_eq!(*session.go_on().unwrap(), Stop::Ended);
        let buffers = session.target().buffers();
        assert_eq!(buffers.len(), 1);
        assert_eq!(
            (buffers[0].name.as_str(), buffers[0].argument),
            ("input0", None)
        );
        let found = session.read(MemorySpace::Buffer(buffers[0].buffer), 0, 400);
        assert_eq!(alone.surface(MediaTarget::Input(0)), Some(found.as_slice()));
        // And back to the beginning.
        session.seek(0).unwrap();
        let found = session.read(MemorySpace::Buffer(buffers[0].buffer), 0, 400);
        assert!(found.iter().all(|byte| *byte == 0));
    }
}

/// Groups come in the order in which they wait for each other, and threads know their place.
#[test]
fn the_place_of_a_thread() {
    let mut console = Console::new(session(None), Sources::default());
    console.run("break 0 if $gid0 == 3 && $gid1 == 2").unwrap();
    console.run("continue").unwrap();
    let session = &console.session;
    assert_eq!(*session.stop(), Stop::Breakpoint(1));
    let number = session.time().group;
    assert_eq!(session.target().group_at(number), Some([3, 2, 0]));
    // All of those before that it waits for: x + 2 y is smaller.
    for before in 0..number {
        let [x, y, _] = session.target().group_at(before).unwrap();
        assert!(x + 2 * y <= 7, "{x} {y}");
    }
    assert_eq!(session.target().group_at(72), None);
    let reply = console.run("info buffers").unwrap();
    assert!(reply.text.starts_with("input0 ub "), "{}", reply.text);
}
