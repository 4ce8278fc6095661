//! Merkle trees over journals: hashing, roots, proofs (`RFC 6962 §2.1`, `RFC 9162 §2.1`, `tamper-evidence §5`).
//!
//! A leaf is SHA-256 over a zero byte and the data, a node over a one byte and its two children, so that a leaf
//! can never pass as a node. A tree of *n* leaves splits at the largest power of two below *n*.
//!
//! Verification takes untrusted input, allocates nothing, and knows how long a path must be before it hashes
//! anything. It says that two hashes belong together, not that either comes from somebody you trust: that is
//! what a signed checkpoint is for.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::hash::{Hash, sha256};

/// The most hashes a proof may have: a witness reads at most 63 lines (`tamper-evidence §4`, `§7`).
pub const MAX_PROOF_HASHES: usize = 63;

/// Why a proof does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofError {
    /// The leaf's index is not below the size of the tree
    IndexBeyondTree {
        /// The leaf's index, from 0
        index: u64,
        /// The number of leaves
        size: u64,
    },
    /// The old tree is larger than the new one
    TreeShrank {
        /// The number of leaves of the old tree
        old_size: u64,
        /// The number of leaves of the new tree
        new_size: u64,
    },
    /// The old tree is empty, which proves nothing
    EmptyTree,
    /// The proof has more than [`MAX_PROOF_HASHES`] hashes
    TooLong {
        /// How many it has
        found: usize,
    },
    /// The proof has not the number of hashes that the sizes ask for
    WrongLength {
        /// How many it must have
        expected: usize,
        /// How many it has
        found: usize,
    },
    /// The proof does not lead to the root
    RootMismatch,
    /// The proof does not lead to the root of the old tree
    OldRootMismatch,
}

impl ProofError {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::IndexBeyondTree { .. } => "index_beyond_tree",
            Self::TreeShrank { .. } => "tree_shrank",
            Self::EmptyTree => "empty_tree",
            Self::TooLong { .. } => "proof_too_long",
            Self::WrongLength { .. } => "proof_length",
            Self::RootMismatch => "root_mismatch",
            Self::OldRootMismatch => "old_root_mismatch",
        }
    }
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexBeyondTree { index, size } => {
                write!(f, "index {index} is not in a tree of {size} leaves, indices below {size} are accepted")
            }
            Self::TreeShrank { old_size, new_size } => {
                write!(f, "the old tree has {old_size} leaves, more than the {new_size} of the new one")
            }
            Self::EmptyTree => f.write_str("the old tree is empty, at least one leaf is needed to prove anything"),
            Self::TooLong { found } => {
                write!(f, "the proof has {found} hashes, at most {MAX_PROOF_HASHES} are accepted")
            }
            Self::WrongLength { expected, found } => write!(f, "the proof has {found} hashes instead of {expected}"),
            Self::RootMismatch => f.write_str("the proof does not lead to the root"),
            Self::OldRootMismatch => f.write_str("the proof does not lead to the root of the old tree"),
        }
    }
}

impl core::error::Error for ProofError {}

/// The hash of a leaf.
pub fn leaf_hash(data: &[u8]) -> Hash {
    sha256(&[&[0], data])
}

/// The hash of a node.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    sha256(&[&[1], left, right])
}

/// The root of a tree without leaves: SHA-256 of nothing.
pub fn empty_root() -> Hash {
    sha256(&[])
}

/// The root over the hashes of leaves.
pub fn root(leaves: &[Hash]) -> Hash {
    let mut frontier = Frontier::new();
    for leaf in leaves {
        frontier.push(*leaf);
    }
    frontier.root()
}

/// The right edge of a growing tree: the roots of its complete subtrees, largest first.
///
/// Holds at most 64 hashes whatever the number of leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

impl Frontier {
    /// A tree without leaves.
    pub const fn new() -> Self {
        Self { size: 0, peaks: Vec::new() }
    }

    /// A tree of `size` leaves from the roots of its complete subtrees, largest first; `None` unless there is one
    /// for each bit set in `size`.
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (u32::try_from(peaks.len()) == Ok(size.count_ones())).then_some(Self { size, peaks })
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The roots of the complete subtrees, largest first.
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// Adds the hash of a leaf.
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = node_hash(&left, &hash);
            }
        }
        self.peaks.push(hash);
        self.size = self.size.wrapping_add(1); // 2^64 pushes are out of anyone's reach
    }

    /// The root over all leaves so far.
    pub fn root(&self) -> Hash {
        self.peaks.iter().rev().copied().reduce(|right, left| node_hash(&left, &right)).unwrap_or_else(empty_root)
    }
}

/// Checks that a leaf is in a tree (`RFC 9162 §2.1.3.2`).
///
/// `index` counts from 0, `size` is the number of leaves, `path` runs from the leaf's side to the root.
///
/// # Errors
///
/// [`ProofError`] if the proof does not hold.
pub fn verify_inclusion(index: u64, size: u64, leaf: &Hash, path: &[Hash], root: &Hash) -> Result<(), ProofError> {
    let Some(last) = size.checked_sub(1).filter(|last| index <= *last) else {
        return Err(ProofError::IndexBeyondTree { index, size });
    };
    check_length(path, inclusion_length(index, last))?;
    let mut climb = Climb { node: index, last };
    let mut hash = *leaf;
    for sibling in path {
        hash = match climb.step() {
            Side::Left => node_hash(sibling, &hash),
            Side::Right => node_hash(&hash, sibling),
        };
    }
    if hash == *root { Ok(()) } else { Err(ProofError::RootMismatch) }
}

/// Checks that a tree has grown out of an older one that has at least one leaf (`RFC 9162 §2.1.4.2`).
///
/// # Errors
///
/// [`ProofError`] if the proof does not hold, [`ProofError::EmptyTree`] if the old tree is empty: everything
/// grows out of nothing, so such a proof would say nothing. See [`verify_growth`] for the other policy.
pub fn verify_consistency(
    old_size: u64,
    new_size: u64,
    old_root: &Hash,
    new_root: &Hash,
    path: &[Hash],
) -> Result<(), ProofError> {
    if old_size > new_size {
        return Err(ProofError::TreeShrank { old_size, new_size });
    }
    let Some(old_last) = old_size.checked_sub(1) else { return Err(ProofError::EmptyTree) };
    if old_size == new_size {
        check_length(path, 0)?;
        return if old_root == new_root { Ok(()) } else { Err(ProofError::RootMismatch) };
    }
    let new_last = new_size.wrapping_sub(1);
    check_length(path, consistency_length(old_size, old_last, new_last))?;

    let mut climb = Climb { node: old_last, last: new_last };
    climb.shift(old_last.trailing_ones());
    // INVARIANT: only a power of two begins at its own root, and every other proof has at least one hash.
    let (seed, rest) =
        if old_size.is_power_of_two() { (old_root, path) } else { path.split_first().unwrap_or((old_root, &[])) };
    let (mut old_hash, mut new_hash) = (*seed, *seed);
    for sibling in rest {
        match climb.step() {
            Side::Left => {
                old_hash = node_hash(sibling, &old_hash);
                new_hash = node_hash(sibling, &new_hash);
            }
            Side::Right => new_hash = node_hash(&new_hash, sibling),
        }
    }
    if old_hash != *old_root {
        return Err(ProofError::OldRootMismatch);
    }
    if new_hash != *new_root {
        return Err(ProofError::RootMismatch);
    }
    Ok(())
}

/// [`verify_consistency`] as a witness needs it, for whom a log's first checkpoint grows out of an empty tree:
/// the empty root and an empty proof are accepted (`tamper-evidence §5`).
///
/// # Errors
///
/// [`ProofError`] if the proof does not hold.
pub fn verify_growth(
    old_size: u64,
    new_size: u64,
    old_root: &Hash,
    new_root: &Hash,
    path: &[Hash],
) -> Result<(), ProofError> {
    if old_size > 0 {
        return verify_consistency(old_size, new_size, old_root, new_root, path);
    }
    check_length(path, 0)?;
    if *old_root != empty_root() {
        return Err(ProofError::OldRootMismatch);
    }
    if new_size == 0 && new_root != old_root {
        return Err(ProofError::RootMismatch);
    }
    Ok(())
}

/// Which subtrees' roots prove that the leaf at `index` is in a tree of `size` leaves, from the leaf's side;
/// `None` if it is not.
pub fn inclusion_subtrees(index: u64, size: u64) -> Option<Vec<Range<u64>>> {
    if index >= size {
        return None;
    }
    let mut subtrees = Vec::new();
    let mut tree = 0..size;
    while let Some(split) = split(&tree) {
        if index < split {
            subtrees.push(split..tree.end);
            tree.end = split;
        } else {
            subtrees.push(tree.start..split);
            tree.start = split;
        }
    }
    subtrees.reverse();
    Some(subtrees)
}

/// Which subtrees' roots prove that a tree of `new_size` leaves has grown out of one of `old_size`
/// (`RFC 9162 §2.1.4.1`); `None` if the old tree is empty or larger.
pub fn consistency_subtrees(old_size: u64, new_size: u64) -> Option<Vec<Range<u64>>> {
    if old_size == 0 || old_size > new_size {
        return None;
    }
    let mut subtrees = Vec::new();
    let mut tree = 0..new_size;
    while tree.end > old_size {
        let split = split(&tree)?;
        if old_size <= split {
            subtrees.push(split..tree.end);
            tree.end = split;
        } else {
            subtrees.push(tree.start..split);
            tree.start = split;
        }
    }
    if tree.start > 0 {
        subtrees.push(tree);
    }
    subtrees.reverse();
    Some(subtrees)
}

/// The path for [`verify_inclusion`], over the hashes of all leaves; `None` if there is no leaf at `index`.
pub fn prove_inclusion(leaves: &[Hash], index: u64) -> Option<Vec<Hash>> {
    roots(leaves, &inclusion_subtrees(index, u64::try_from(leaves.len()).ok()?)?)
}

/// The path for [`verify_consistency`] from the first `old_size` leaves to all of them; `None` if that is no
/// leaf or more than there are.
pub fn prove_consistency(leaves: &[Hash], old_size: u64) -> Option<Vec<Hash>> {
    roots(leaves, &consistency_subtrees(old_size, u64::try_from(leaves.len()).ok()?)?)
}

fn roots(leaves: &[Hash], subtrees: &[Range<u64>]) -> Option<Vec<Hash>> {
    let place = |at: u64| usize::try_from(at).ok();
    subtrees.iter().map(|tree| leaves.get(place(tree.start)?..place(tree.end)?).map(root)).collect()
}

/// Where a tree splits: at the largest power of two below its size. `None` for a single leaf.
fn split(tree: &Range<u64>) -> Option<u64> {
    let last = tree.end.checked_sub(tree.start)?.checked_sub(1)?;
    tree.start.checked_add(1_u64.checked_shl(last.checked_ilog2()?)?)
}

/// On which side of the path the sibling stands.
enum Side {
    Left,
    Right,
}

/// The way from a node up to the root, beside the way from the last node.
struct Climb {
    node: u64,
    last: u64,
}

impl Climb {
    /// Where the next sibling stands; goes up past it.
    fn step(&mut self) -> Side {
        let side = if self.node & 1 == 1 || self.node == self.last {
            self.shift(self.node.trailing_zeros().min(63));
            Side::Left
        } else {
            Side::Right
        };
        self.shift(1);
        side
    }

    fn shift(&mut self, levels: u32) {
        self.node = self.node.checked_shr(levels).unwrap_or(0);
        self.last = self.last.checked_shr(levels).unwrap_or(0);
    }
}

fn check_length(path: &[Hash], expected: u32) -> Result<(), ProofError> {
    if path.len() > MAX_PROOF_HASHES {
        return Err(ProofError::TooLong { found: path.len() });
    }
    if u32::try_from(path.len()) != Ok(expected) {
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        return Err(ProofError::WrongLength { expected, found: path.len() });
    }
    Ok(())
}

/// How many levels two nodes of one level go up until they meet.
fn levels_apart(a: u64, b: u64) -> u32 {
    u64::BITS.saturating_sub((a ^ b).leading_zeros())
}

/// How many siblings a path has: each level below the meeting with the last leaf's path, then only those to the left.
fn inclusion_length(index: u64, last: u64) -> u32 {
    let inner = levels_apart(index, last);
    let border = index.checked_shr(inner).unwrap_or(0).count_ones();
    inner.saturating_add(border)
}

fn consistency_length(old_size: u64, old_last: u64, new_last: u64) -> u32 {
    let seed = u32::from(!old_size.is_power_of_two());
    inclusion_length(old_last, new_last).saturating_sub(old_size.trailing_zeros()).saturating_add(seed)
}
