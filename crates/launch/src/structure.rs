//! Structures by value whose metadata do not say where their members are.
//!
//! Metadata before version 1.9 list a piece of the payload for each member, in order, without its place in the argument;
//! and a piece has four bytes where the member has one or two. How many bytes a kernel reads of a piece says which; the
//! size of the argument often leaves only one place for each. Where it does not, the structure is refused. Thought of are
//! structures, vectors and arrays in each other, and packed structures of what has no padding.

use crate::agreement::payload_inputs;
use crate::argument::Argument;
use crate::error::LaunchError;
use crate::payload::{Layout, MOST_ALIGNED};
use crate::zeinfo::{ArgType, KernelInfo, PayloadArgument};
use std::collections::{BTreeMap, BTreeSet};
use visakit_exec::Program;

/// Bytes of padding beyond which places are not searched for.
const MOST_PADDING: u32 = 64;

/// Members beyond which places are not searched for.
const MOST_MEMBERS: usize = 256;

/// A member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    /// Bytes of its piece of the payload.
    piece: u32,
    /// Bytes of it that the kernel has in a variable; `None` where nobody reads it.
    read: Option<u32>,
}

impl Member {
    /// The sizes that it may have, the smallest first.
    fn sizes(self) -> impl Iterator<Item = u32> + Clone {
        let known = self.read.filter(|read| *read <= self.piece);
        let sizes: &[u32] = match (self.piece, known) {
            (4, Some(1)) => &[1],
            (4, Some(2)) => &[2],
            (4, None) => &[1, 2, 4],
            _ => &[],
        };
        let whole = sizes.is_empty().then_some(self.piece);
        sizes.iter().copied().chain(whole)
    }

    fn least(self) -> u32 {
        self.sizes().next().unwrap_or(self.piece)
    }
}

/// The end of a member, and the largest alignment among those up to it.
type State = (u32, u32);

/// A place of a member, and the states it leads to.
type Steps = BTreeMap<State, BTreeSet<(u32, State)>>;

/// The alignment of a number of this size.
const fn alignment(size: u32) -> u32 {
    let lowest = size & size.wrapping_neg();
    if lowest == 0 {
        1
    } else if lowest > MOST_ALIGNED {
        MOST_ALIGNED
    } else {
        lowest
    }
}

/// For each member the alignments that something which begins with it, or ends before it, may have, as a sum of powers of
/// two; and those of vectors alone in the whole. Members alike in a row may be a vector, which is aligned to all of its
/// lanes, whose number is rounded up to a power of two.
fn alignments(members: &[Member]) -> (Vec<u32>, u32) {
    let lanes = |j: usize, size: u32| {
        let like = members.iter().skip(j);
        let like = like.take_while(|member| member.sizes().any(|own| own == size));
        like.take(16).count()
    };
    // All powers of two from the alignment of a lane to that of all.
    let powers = |own: u32, lanes: usize| {
        let lanes = u32::try_from(lanes.next_power_of_two()).unwrap_or(1);
        let most = own.saturating_mul(lanes).min(MOST_ALIGNED);
        (2 * most - 1) & !(own - 1)
    };
    let (mut made, mut vectors) = (vec![0_u32; members.len()], 0);
    for (j, member) in members.iter().enumerate() {
        for size in member.sizes() {
            let (own, lanes) = (alignment(size), lanes(j, size));
            vectors |= powers(own, lanes) & !own;
            for (i, mask) in made.iter_mut().enumerate() {
                let lanes = if i > j { lanes.min(i - j) } else { lanes };
                *mask |= powers(own, lanes);
            }
        }
    }
    (made, vectors)
}

/// Where a member may be that has this size and comes after those that end there: next to them, as in packed structures,
/// or aligned, as it, or the vector or structure that begins with it, demands, with one of these alignments.
fn steps((end, aligned): State, size: u32, mask: u32) -> impl Iterator<Item = (u32, State)> {
    let own = alignment(size);
    let alignments = (0..=7).map(|n| 1_u32 << n);
    let alignments = alignments.filter(move |a| *a == own || mask & a != 0);
    let places = alignments.map(move |a| end.next_multiple_of(a));
    let step = move |at: u32| {
        let aligned = if at.is_multiple_of(own) {
            aligned.max(own)
        } else {
            aligned
        };
        (at, (at.saturating_add(size), aligned))
    };
    places.chain([end]).map(step)
}

/// Whether a structure may have this size whose members end there: without padding, if it is packed, or aligned as
/// the largest of its members, those in a packed one, or a vector in it, which may have one of these alignments.
fn ends((end, aligned): State, size: u32, mask: u32) -> bool {
    let alignments = (0..=7).map(|n| 1_u32 << n);
    let mut alignments = alignments.filter(|a| *a <= aligned || mask & a != 0);
    alignments.any(|a| end.next_multiple_of(a) == size)
}

/// The places of the members of a structure of this size; `None` where several arrangements are possible that differ in
/// a member that is read, or none is.
fn places(members: &[Member], size: u32) -> Option<Vec<u32>> {
    let least = members.iter().map(|member| u64::from(member.least()));
    let padding = u64::from(size).checked_sub(least.sum())?;
    if padding == 0 {
        let mut end = 0;
        let next = |member: &Member| {
            let at = end;
            end += member.least();
            at
        };
        return Some(members.iter().map(next).collect());
    }
    if padding > MOST_PADDING.into() || members.len() > MOST_MEMBERS {
        return None;
    }
    let (masks, vectors) = alignments(members);
    let mut states = BTreeSet::from([(0, 1)]);
    let mut all: Vec<Steps> = Vec::new();
    for (member, mask) in members.iter().zip(&masks) {
        let mut made = Steps::new();
        for state in &states {
            let ways = member.sizes().flat_map(|bytes| steps(*state, bytes, *mask));
            let ways = ways.filter(|(_, (end, _))| *end <= size);
            made.insert(*state, ways.collect());
        }
        let ends = made.values().flatten().map(|(_, next)| *next);
        states = ends.collect();
        all.push(made);
    }
    states.retain(|state| ends(*state, size, vectors));
    // Backwards: what leads to one of these ends.
    let mut found = Vec::new();
    for (member, made) in members.iter().zip(&all).rev() {
        let mut possible = BTreeSet::new();
        let leads = |ways: &BTreeSet<(u32, State)>, possible: &mut BTreeSet<u32>| {
            let mut leads = false;
            for (at, next) in ways {
                if states.contains(next) {
                    possible.insert(*at);
                    leads = true;
                }
            }
            leads
        };
        let before = made.iter().filter(|(_, ways)| leads(ways, &mut possible));
        let before: BTreeSet<State> = before.map(|(state, _)| *state).collect();
        states = before;
        let last = *possible.last()?;
        if member.read.is_some() && possible.len() > 1 {
            return None;
        }
        found.push(last);
    }
    found.reverse();
    Some(found)
}

/// The pieces of an argument's members, where there are several and none says its place: their numbers.
fn members(info: &KernelInfo, index: u32) -> Vec<usize> {
    let pieces = info.payload_arguments.iter().enumerate();
    let pieces = pieces.filter(|(_, piece)| {
        piece.arg_type == ArgType::ArgByvalue && piece.arg_index == Some(index) && piece.size > 0
    });
    let mut pieces: Vec<(usize, &PayloadArgument)> = pieces.collect();
    if pieces.len() < 2
        || pieces
            .iter()
            .any(|(_, piece)| piece.source_offset.is_some())
    {
        return Vec::new();
    }
    pieces.sort_by_key(|(_, piece)| piece.offset);
    pieces.into_iter().map(|(number, _)| number).collect()
}

/// Bytes of a structure with these members if each is as large as its piece and aligned to that.
fn extent(sizes: impl Iterator<Item = u32>) -> u32 {
    let (mut end, mut most) = (0_u32, 1);
    for size in sizes {
        let own = alignment(size);
        most = most.max(own);
        let at = end.checked_next_multiple_of(own).unwrap_or(end);
        end = at.saturating_add(size);
    }
    end.checked_next_multiple_of(most).unwrap_or(end)
}

/// Bytes of an argument whose pieces do not say their places, as far as these show; `None` for other arguments.
pub(crate) fn size(info: &KernelInfo, index: u32) -> Option<u32> {
    let members = members(info, index);
    let pieces = members
        .iter()
        .filter_map(|n| info.payload_arguments.get(*n));
    (!members.is_empty()).then(|| extent(pieces.map(|piece| piece.size)))
}

/// Bytes that inputs have of a piece of the payload.
fn read(piece: &PayloadArgument, inputs: &[(u32, u32)], layout: &Layout) -> Option<u32> {
    let from = layout.place(piece.offset);
    let to = layout.place(piece.offset.saturating_add(piece.size - 1));
    let inside = inputs.iter().filter_map(|(at, size)| {
        let end = at.saturating_add(*size);
        (*at <= to && end > from).then(|| end.saturating_sub(from))
    });
    inside.max()
}

/// The metadata with the places of members that they do not state; `None` if they state all.
///
/// # Errors
/// [`LaunchError::Argument`] where the places are not certain.
pub(crate) fn resolved(
    info: &KernelInfo,
    arguments: &[Argument],
    program: &Program,
    layout: &Layout,
) -> Result<Option<KernelInfo>, LaunchError> {
    let mut changed: Option<KernelInfo> = None;
    for (index, argument) in arguments.iter().enumerate() {
        let (Argument::Value(bytes), Ok(number)) = (argument, u32::try_from(index)) else {
            continue;
        };
        let numbers = members(info, number);
        if numbers.is_empty() {
            continue;
        }
        let inputs = payload_inputs(program);
        let pieces = numbers
            .iter()
            .filter_map(|n| info.payload_arguments.get(*n));
        let members = pieces.map(|piece| Member {
            piece: piece.size,
            read: read(piece, &inputs, layout),
        });
        let members: Vec<Member> = members.collect();
        let given = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let places = places(&members, given).ok_or_else(|| uncertain(index, given, &members))?;
        let changed = changed.get_or_insert_with(|| info.clone());
        for (n, at) in numbers.iter().zip(places) {
            if let Some(piece) = changed.payload_arguments.get_mut(*n) {
                piece.source_offset = Some(at);
            }
        }
    }
    Ok(changed)
}

/// The error for a structure whose members may be in several places, or do not fit into it.
fn uncertain(index: usize, given: u32, members: &[Member]) -> LaunchError {
    const MOST: usize = 16;
    let sizes = members.iter().take(MOST).map(|member| match member.read {
        Some(read) => read.min(member.piece).to_string(),
        None if member.piece == 4 => "up to 4".to_owned(),
        None => member.piece.to_string(),
    });
    let mut sizes: Vec<_> = sizes.collect();
    if members.len() > MOST {
        sizes.push("…".to_owned());
    }
    let likely = extent(
        members
            .iter()
            .map(|member| member.read.unwrap_or(member.piece)),
    );
    let (sizes, count) = (sizes.join(", "), members.len());
    let advice = if given == likely {
        "compile with a newer release".to_owned()
    } else {
        format!(
            "give it in the size that it has, such as {likely}, or compile with a newer release"
        )
    };
    LaunchError::Argument {
        index,
        message: format!(
            "the kernel wants a structure of {count} members, of {sizes} bytes, and the metadata, which are older than \
             version 1.9, do not tell where in {given} bytes they are: {advice}"
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    /// Members by how many bytes are read; 0 where none are.
    fn of(sizes: &[u32]) -> Vec<Member> {
        let member = |size: &u32| Member {
            piece: if *size == 8 { 8 } else { 4 },
            read: (*size > 0).then_some(*size),
        };
        sizes.iter().map(member).collect()
    }

    /// What Intel's compiler 1.0.5353 makes of structures in OpenCL C.
    #[test]
    fn places_of_members() {
        let known: [(&[u32], u32, &[u32]); 9] = [
            // {char; int}
            (&[1, 4], 8, &[0, 4]),
            // {int; long}
            (&[4, 8], 16, &[0, 8]),
            // {int; int; long}
            (&[4, 4, 8], 16, &[0, 4, 8]),
            // {char; char; int}
            (&[1, 1, 4], 8, &[0, 1, 4]),
            // {long; char}
            (&[8, 1], 16, &[0, 8]),
            // float4
            (&[4, 4, 4, 4], 16, &[0, 4, 8, 12]),
            // {float2; char}
            (&[4, 4, 1], 16, &[0, 4, 8]),
            // Packed {char; int; short}
            (&[1, 4, 2], 7, &[0, 1, 5]),
            (&[8, 8], 16, &[0, 8]),
        ];
        for (sizes, size, expected) in known {
            let members = of(sizes);
            let found = places(&members, size).unwrap_or_else(|| panic!("{sizes:?}"));
            for ((member, at), expected) in members.iter().zip(&found).zip(expected) {
                assert!(
                    member.read.is_none() || at == expected,
                    "{sizes:?}: {found:?}"
                );
            }
        }
        let unknown: [(&[u32], u32); 6] = [
            // Nobody reads the first three, and each may have one byte or four.
            (&[0, 0, 0, 8], 16),
            // {short[3]; int} and {short; {short[2]; int}}
            (&[2, 2, 2, 4], 12),
            // {float3; char; double}
            (&[4, 4, 4, 1, 8], 32),
            // {{short; char}; char; long} and {short; char; char; long}
            (&[2, 1, 1, 8], 16),
            // No such structure.
            (&[4, 8], 12 + 1),
            (&[4, 4], 7),
        ];
        for (sizes, size) in unknown {
            assert_eq!(places(&of(sizes), size), None, "{sizes:?} in {size}");
        }
        assert_eq!(extent([4, 4, 8].into_iter()), 16);
        assert_eq!(extent([4, 8].into_iter()), 16);
    }

    /// A type: numbers, vectors and structures of them.
    #[derive(Clone, Debug)]
    enum Type {
        Number(u32),
        Vector(u32, u32),
        Structure(Vec<Type>, bool),
    }

    impl Type {
        fn random(next: &mut impl FnMut(u32) -> u32, depth: u32, packed: bool) -> Self {
            let size = 1 << next(4);
            match next(6) {
                0 => Self::Vector(
                    size,
                    [2, 4, 8, 3][next(if packed { 3 } else { 4 }) as usize],
                ),
                1 if depth < 3 => Self::structure(next, depth, packed),
                _ => Self::Number(size),
            }
        }

        fn structure(next: &mut impl FnMut(u32) -> u32, depth: u32, packed: bool) -> Self {
            let (count, packed) = (1 + next(4), packed || next(8) == 0);
            let members = (0..count).map(|_| Self::random(next, depth + 1, packed));
            Self::Structure(members.collect(), packed)
        }

        /// Size and alignment; adds the numbers in it, at their places.
        fn lay(&self, at: u32, numbers: &mut Vec<(u32, u32)>) -> (u32, u32) {
            match self {
                Self::Number(size) => {
                    numbers.push((at, *size));
                    (*size, *size)
                }
                Self::Vector(size, lanes) => {
                    numbers.extend((0..*lanes).map(|lane| (at + lane * size, *size)));
                    let whole = size * lanes.next_power_of_two();
                    (whole, whole)
                }
                Self::Structure(members, packed) => {
                    let (mut end, mut most) = (0, 1);
                    for member in members {
                        let (_, own) = member.lay(0, &mut Vec::new());
                        let own = if *packed { 1 } else { own };
                        most = most.max(own);
                        end = u32::next_multiple_of(end, own);
                        end += member.lay(at + end, numbers).0;
                    }
                    (end.next_multiple_of(most), most)
                }
            }
        }
    }

    /// Places that are found are those of the type, whatever it is and whichever members are read.
    #[test]
    fn places_are_never_wrong() {
        let mut state = 1_u64;
        let mut next = |n: u32| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            u32::try_from((state >> 33) % u64::from(n)).unwrap()
        };
        let mut found = 0;
        for _ in 0..3000 {
            let made = Type::structure(&mut next, 0, false);
            let mut numbers = Vec::new();
            let (size, _) = made.lay(0, &mut numbers);
            let members = numbers.iter().map(|(_, size)| Member {
                piece: (*size).max(4),
                read: (next(4) > 0).then_some(*size),
            });
            let members: Vec<_> = members.collect();
            let Some(places) = places(&members, size) else {
                continue;
            };
            found += 1;
            for ((member, at), (expected, _)) in members.iter().zip(&places).zip(&numbers) {
                assert!(
                    member.read.is_none() || at == expected,
                    "{made:?}: {places:?}, not {numbers:?}"
                );
            }
        }
        assert!(found > 300, "{found}");
    }
}
