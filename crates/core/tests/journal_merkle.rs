//! Merkle hashing and proofs against the published roots, the public vectors, and each other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bailiwick_core::hash::{Hash, hex, sha256};
use bailiwick_core::journal::merkle::{
    Frontier, ProofError, empty_root, leaf_hash, node_hash, prove_consistency, prove_inclusion, root,
    verify_consistency, verify_growth, verify_inclusion,
};
use bailiwick_core::json::{Limits, Number, Value, parse};

/// The eight leaves that certificate transparency tests have used since 2013.
const CLASSIC: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

#[test]
fn the_classic_roots_come_out() {
    let leaves: Vec<Hash> = CLASSIC.iter().map(|data| leaf_hash(data)).collect();
    let expected = [
        ("e3b0c442", "b855"),
        ("6e340b9c", "a01d"),
        ("fac54203", "c125"),
        ("aeb6bcfe", "6e77"),
        ("d37ee418", "14b7"),
        ("4e3bbb1f", "64d4"),
        ("76e67dad", "87ef"),
        ("ddb89be4", "4c8c"),
        ("5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370ef", "f4604328"),
    ];
    for (size, (start, end)) in expected.into_iter().enumerate() {
        let root = hex(&root(&leaves[..size]));
        assert!(root.starts_with(start) && root.ends_with(end), "{size} leaves: {root}");
    }
}

#[test]
fn leaves_and_nodes_hash_as_published() {
    let (leaf, node) = (hex(&leaf_hash(b"L123456")), hex(&sha256_node(b"N123", b"N456")));
    assert!(leaf.starts_with("395aa064") && leaf.ends_with("4d56"), "{leaf}");
    assert!(node.starts_with("aa217fe8") && node.ends_with("6bbb"), "{node}");
}

/// The published node vector has children of four bytes.
fn sha256_node(left: &[u8], right: &[u8]) -> Hash {
    sha256(&[&[1], left, right])
}

fn leaves(count: u64) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}

#[test]
fn every_leaf_proves_its_inclusion_and_no_other() {
    for size in 1..34_u64 {
        let leaves = leaves(size);
        let root = root(&leaves);
        for index in 0..size {
            let path = prove_inclusion(&leaves, index).unwrap();
            let leaf = leaves[usize::try_from(index).unwrap()];
            assert_eq!(verify_inclusion(index, size, &leaf, &path, &root), Ok(()), "{index} in {size}");
            assert_eq!(
                verify_inclusion(index, size, &[7; 32], &path, &root),
                Err(ProofError::RootMismatch),
                "another leaf at {index} in {size}"
            );
            for other in 0..size + 2 {
                if other != index {
                    assert!(
                        verify_inclusion(other, size, &leaf, &path, &root).is_err(),
                        "{index} as {other} in {size}"
                    );
                }
            }
            if let Some((_, shorter)) = path.split_first() {
                let error = verify_inclusion(index, size, &leaf, shorter, &root).unwrap_err();
                assert_eq!(error, ProofError::WrongLength { expected: path.len(), found: shorter.len() });
            }
        }
        assert_eq!(prove_inclusion(&leaves, size), None);
    }
}

#[test]
fn every_prefix_proves_its_consistency() {
    for size in 1..34_u64 {
        let leaves = leaves(size);
        let new_root = root(&leaves);
        for old in 1..=size {
            let old_root = root(&leaves[..usize::try_from(old).unwrap()]);
            let path = prove_consistency(&leaves, old).unwrap();
            assert_eq!(verify_consistency(old, size, &old_root, &new_root, &path), Ok(()), "{old} to {size}");
            assert_eq!(verify_growth(old, size, &old_root, &new_root, &path), Ok(()), "{old} to {size}");
            assert!(verify_consistency(old, size, &[7; 32], &new_root, &path).is_err(), "{old} to {size}");
            assert!(verify_consistency(old, size, &old_root, &[7; 32], &path).is_err(), "{old} to {size}");
            for at in 0..path.len() {
                let mut bent = path.clone();
                bent[at][0] ^= 1;
                assert!(verify_consistency(old, size, &old_root, &new_root, &bent).is_err(), "{old} to {size} at {at}");
            }
            let mut longer = path.clone();
            longer.push([0; 32]);
            assert!(verify_consistency(old, size, &old_root, &new_root, &longer).is_err());
        }
        assert_eq!(prove_consistency(&leaves, 0), None);
        assert_eq!(prove_consistency(&leaves, size + 1), None);
    }
}

#[test]
fn the_two_policies_differ_over_an_empty_tree_only() {
    let (empty, one) = (empty_root(), leaf_hash(b"x"));
    assert_eq!(verify_consistency(0, 1, &empty, &one, &[]), Err(ProofError::EmptyTree));
    assert_eq!(verify_growth(0, 1, &empty, &one, &[]), Ok(()));
    assert_eq!(verify_growth(0, 0, &empty, &empty, &[]), Ok(()));
    assert_eq!(verify_growth(0, 0, &empty, &one, &[]), Err(ProofError::RootMismatch));
    assert_eq!(verify_growth(0, 1, &one, &one, &[]), Err(ProofError::OldRootMismatch));
    assert_eq!(verify_growth(0, 1, &empty, &one, &[one]), Err(ProofError::WrongLength { expected: 0, found: 1 }));
    assert_eq!(verify_growth(2, 1, &empty, &one, &[]), Err(ProofError::TreeShrank { old_size: 2, new_size: 1 }));
}

#[test]
fn the_largest_sizes_neither_overflow_nor_pass_the_cap() {
    let hash = [7; 32];
    for (index, size) in
        [(0, u64::MAX), (u64::MAX - 1, u64::MAX), (1 << 63, u64::MAX), (0, 1 << 63), ((1 << 63) - 1, 1 << 63)]
    {
        for length in [0, 1, 62, 63, 64, 65] {
            assert!(verify_inclusion(index, size, &hash, &vec![hash; length], &hash).is_err());
            assert!(verify_consistency(index, size, &hash, &hash, &vec![hash; length]).is_err());
        }
    }
    assert_eq!(verify_inclusion(0, 1 << 63, &hash, &[hash; 64], &hash), Err(ProofError::TooLong { found: 64 }));
    assert_eq!(verify_inclusion(0, 1 << 63, &hash, &[hash; 63], &hash), Err(ProofError::RootMismatch));
    assert_eq!(verify_inclusion(0, 0, &hash, &[], &hash), Err(ProofError::IndexBeyondTree { index: 0, size: 0 }));
}

#[test]
fn a_frontier_continues_from_its_peaks() {
    let leaves = leaves(37);
    let mut frontier = Frontier::new();
    for (size, leaf) in leaves.iter().enumerate() {
        assert_eq!(frontier.root(), root(&leaves[..size]));
        frontier = Frontier::from_peaks(frontier.size(), frontier.peaks().to_vec()).unwrap();
        frontier.push(*leaf);
    }
    assert_eq!(frontier.size(), 37);
    assert_eq!(Frontier::from_peaks(3, vec![[0; 32]]), None);
    assert_eq!(root(&leaves[..2]), node_hash(&leaves[0], &leaves[1]));
}

/// The public vectors of transparency-dev/merkle: 98 inclusion and 98 consistency proofs, most of them bad.
#[test]
fn the_public_vectors_get_their_verdicts() {
    let Some(folder) = std::env::var_os("BAILIWICK_VECTORS") else {
        println!("skipped: BAILIWICK_VECTORS names no folder");
        return;
    };
    let text = std::fs::read(std::path::Path::new(&folder).join("merkle.json")).unwrap();
    let vectors = parse(&text, &Limits::DOCUMENT).unwrap();
    let cases = |kind: &str| vectors.get(kind).unwrap().as_array().unwrap().to_vec();
    let number =
        |case: &Value, name: &str| case.get(name).unwrap().as_number().copied().and_then(Number::to_u64).unwrap();
    // Some vectors have words like "test root" for hashes, which our type can't hold: their digests stand for them,
    // so that two equal words are equal hashes. No hash at all stays none.
    let hash = |value: &Value| -> Option<Hash> {
        let bytes = Some(decode(value.as_str()?)).filter(|bytes| !bytes.is_empty())?;
        Some(Hash::try_from(bytes).unwrap_or_else(|bytes| sha256(&[&bytes])))
    };
    let (mut accepted, mut refused) = (0, 0);
    let mut compare = |case: &Value, verdict: Option<Result<(), ProofError>>| {
        let holds = verdict == Some(Ok(()));
        assert_eq!(Some(!holds), case.get("wantErr").unwrap().as_bool(), "{:?}: {verdict:?}", case.get("name"));
        if holds { accepted += 1 } else { refused += 1 }
    };
    let path = |case: &Value| -> Option<Vec<Hash>> {
        case.get("proof").unwrap().as_array().unwrap_or_default().iter().map(hash).collect()
    };
    for case in cases("inclusion") {
        let verdict = || {
            let (leaf, root) = (hash(case.get("leafHash")?)?, hash(case.get("root")?)?);
            Some(verify_inclusion(number(&case, "leafIdx"), number(&case, "treeSize"), &leaf, &path(&case)?, &root))
        };
        compare(&case, verdict());
    }
    for case in cases("consistency") {
        let verdict = || {
            let (old, new) = (hash(case.get("root1")?)?, hash(case.get("root2")?)?);
            Some(verify_consistency(number(&case, "size1"), number(&case, "size2"), &old, &new, &path(&case)?))
        };
        compare(&case, verdict());
    }
    assert_eq!((accepted, refused), (12, 184));
}

/// Base64, for vectors that are known to be well-formed.
fn decode(text: &str) -> Vec<u8> {
    let digit =
        |c: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|d| *d == c);
    let bits: Vec<u8> = text
        .bytes()
        .filter_map(digit)
        .flat_map(|digit| (0..6).rev().map(move |bit| u8::try_from((digit >> bit) & 1).unwrap()))
        .collect();
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit)).collect()
}
