//! tmp
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing)]
use visakit_launch::{Case, Config};
use visakit_prove::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    for pair in args[1..].chunks(2) {
        let a = Case::open(pair[0].as_ref()).unwrap().allow_outside(true);
        let b = Case::open(pair[1].as_ref()).unwrap().allow_outside(true);
        let config = Config::default();
        let proof = a.launch(false, &config, |o| o, |k1, args, l1| {
            let r1 = *l1.range();
            b.launch(false, &config, |o| o, |k2, _, l2| {
                prove(Side{kernel:k1, range:r1}, Side{kernel:k2, range:*l2.range()}, args, &config, &Options::default())
            })
        });
        match proof {
            Ok(p) => {
                let v = match &p.verdict { Verdict::Proven => "proven".to_string(), Verdict::Refuted(r) => format!("refuted {:?}", r.difference), Verdict::Unknown(u) => format!("unknown {u}") };
                println!("{:30} {:>8.2}s {:>9} {}", a.name(), p.time.as_secs_f64(), p.terms, v);
            }
            Err(e) => println!("{:30} error {e}", a.name()),
        }
    }
}
