//! Images: what samplers read, and texels by messages of the data port.

use crate::pairs::{grf_bytes, object, pair, text};
use std::path::Path;
use visakit_isa::object::Object;
use visakit_launch::Case;
use visakit_prove::{Options, Proof, Verdict};

/// A case against itself with changed lines, on terms.
fn proof(path: &Path, trials: u64, change: impl Fn(&str) -> String) -> Proof {
    let case = Case::open(path).unwrap();
    let options = Options {
        by_steps: false,
        trials,
        ..Options::default()
    };
    let grf = grf_bytes(&case);
    let changed = |from: Object<'static>| {
        let text = text(&from, grf);
        let lines: Vec<String> = text.lines().map(change).collect();
        object(&(lines.join("\n") + "\n"), grf).unwrap()
    };
    pair(&case, &case, &options, changed).unwrap()
}

/// A line with these words exchanged, if it has them.
fn exchanged(line: &str, [first, second]: [&str; 2]) -> String {
    let exchange = |word| match word {
        word if word == first => second,
        word if word == second => first,
        word => word,
    };
    let has_both = [first, second]
        .iter()
        .all(|w| line.split(' ').any(|o| o == *w));
    match has_both {
        true => line.split(' ').map(exchange).collect::<Vec<_>>().join(" "),
        false => line.to_owned(),
    }
}

/// A sampler and stores of texels.
#[test]
fn texels_are_compared() {
    let path = visakit_testing::fixtures().join("cases/img_copy_ui/tgllp");
    let same = proof(&path, 0, str::to_owned);
    assert_eq!(same.verdict, Verdict::Proven);
    assert!(same.outputs.iter().any(|o| o.written > 0));
    // Coordinates of a sampler, of stored texels.
    for words in [["V0061.0", "V0063.0"], ["V0052.0", "V0059.0"]] {
        let change = |line: &str| exchanged(line, words);
        assert_ne!(
            proof(&path, 0, change).verdict,
            Verdict::Proven,
            "{words:?}"
        );
        let found = proof(&path, 48, change).verdict;
        assert!(matches!(found, Verdict::Refuted(_)), "{words:?}: {found:?}");
    }
    // Another channel is taken, another texel is stored, or nothing is known of its alpha.
    for (from, to) in [
        ("V0079(2,0)", "V0079(4,0)"),
        ("V0097.0", "V0098.0"),
        ("scatter4_typed.RGBA", "scatter4_typed.RGB"),
    ] {
        let change = |line: &str| line.replace(from, to);
        assert_ne!(proof(&path, 0, change).verdict, Verdict::Proven, "{from}");
    }
}

/// What two compilers made of kernels with images.
#[test]
fn two_compilers_made_the_same_of_images() {
    let folders = ["cases", "cases240"].map(|name| visakit_testing::shared("images", name));
    let [Some(old), Some(new)] = folders else {
        return;
    };
    for name in ["img_copy_ui", "img_nearest_f"] {
        for device in ["dg2", "tgllp", "skl"] {
            let paths = [&old, &new].map(|folder| folder.join(name).join(device));
            if !paths.iter().all(|path| path.is_dir()) {
                continue;
            }
            let [old, new] = paths.map(|path| Case::open(&path).unwrap());
            let options = Options {
                by_steps: false,
                ..Options::default()
            };
            let proof = pair(&old, &new, &options, |o| o).unwrap();
            assert_eq!(proof.verdict, Verdict::Proven, "{name}, {device}");
        }
    }
}
