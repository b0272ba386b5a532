//! GPUVerify's suite: `kernel.cl` begins with the verdict and the options of its command.

use super::{Asked, Theirs, files};
use std::error::Error;
use std::fs;
use std::path::Path;

/// Work-items of a group, and groups, that are enough to show what is wrong in most kernels. A launch is examined thread
/// by thread, where GPUVerify has two symbolic ones.
const MOST: [u32; 2] = [64, 2];

/// Words of its language of annotations, which say what else is to be proven, or may be assumed.
const ANNOTATIONS: [&str; 23] = [
    "__assert(",
    "__requires(",
    "__ensures(",
    "__assume(",
    "__axiom(",
    "_invariant(",
    "__invariant(",
    "__implies(",
    "__enabled(",
    "__other_",
    "__write(",
    "__read(",
    "__no_read(",
    "__no_write(",
    "__uniform_",
    "__spec_",
    "__equal_",
    "DECLARE_UF",
    "__requires_fresh",
    "__barrier_invariant",
    "__writes_to(",
    "__reads_from(",
    "__global_",
];

pub(super) fn found(folder: &Path, made: &Path) -> Result<Vec<Asked>, Box<dyn Error>> {
    let mut all = Vec::new();
    for file in files(folder, &|path| path.ends_with("kernel.cl"))? {
        let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
        let mut lines = text.lines();
        let (Some(verdict), Some(options)) = (lines.next(), lines.next()) else {
            continue;
        };
        let verdict = verdict.trim_start_matches('/').trim().to_lowercase();
        let options = options.trim_start_matches('/');
        let name = file.strip_prefix(folder)?.display().to_string();
        // The language of annotations is that of the address spaces, too: `__global int`.
        let annotated = ANNOTATIONS.iter().any(|word| text.contains(word));
        let theirs = match verdict.as_str() {
            _ if annotated => Theirs::Other("with annotations"),
            _ if options.contains("--only-") => Theirs::Other("about a part of the checks"),
            "pass" => Theirs::Right,
            "xfail:not_all_verified" => Theirs::Wrong("not verified".to_owned()),
            _ => Theirs::Other("refused by its front end"),
        };
        let (mut global, mut local) = (Vec::new(), Vec::new());
        let mut words = Vec::new();
        let mut defines = String::new();
        for option in options.split_whitespace() {
            if let Some(sizes) = option.strip_prefix("--local_size=") {
                local = numbers(sizes);
            } else if let Some(sizes) = option.strip_prefix("--num_groups=") {
                global = numbers(sizes);
            } else if let Some(sizes) = option.strip_prefix("--global_size=") {
                let whole = numbers(sizes);
                global = whole
                    .iter()
                    .zip(&local)
                    .map(|(global, local)| global / (*local).max(1))
                    .collect();
            } else if option.starts_with("-D") {
                defines += option;
                defines.push(' ');
            }
        }
        let (mut items, mut groups) = (MOST[0], MOST[1]);
        for size in &mut local {
            *size = (*size).min(items).max(1);
            items /= *size;
        }
        for (count, size) in global.iter_mut().zip(&local) {
            *count = (*count).min(groups).max(1);
            groups /= *count;
            *count *= size;
        }
        global.resize(local.len(), 1);
        if !defines.is_empty() {
            words.push(format!("--options={}", defines.trim()));
        }
        for (flag, sizes) in [("--global", &global), ("--local", &local)] {
            let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
            words.extend([flag.to_owned(), sizes.join(",")]);
        }
        // Two kernels of its folders have the same name.
        let copy = made.join(format!("{}.cl", all.len()));
        fs::copy(&file, &copy)?;
        all.push(Asked {
            name,
            file: copy,
            words,
            theirs,
        });
    }
    Ok(all)
}

/// `64` or `[8,8]`.
fn numbers(text: &str) -> Vec<u32> {
    let inner = text.trim_matches(['[', ']']);
    inner
        .split(',')
        .filter_map(|n| n.trim().parse().ok())
        .collect()
}
