//! A child pass never allows what its parent does not: tools, budget, deadline, staging; and no input does harm.
//!
//! Passes are signed and verified as anywhere: what is tried here is the whole way, not a rule by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use bailiwick_core::jose::{Algorithm, KeySet, SigningKey};
use bailiwick_core::json::{Number, Object, Value};
use bailiwick_core::time::{Millis, format};
use bailiwick_core::work::pass::{Check, Code, Pass, verify, verify_chain};
use bailiwick_core::work::{UNITS, Unit};
use proptest::prelude::*;

const NOW: Millis = Millis(1_772_438_700_000);

fn key() -> SigningKey {
    SigningKey::from_secret(Algorithm::Ed25519, &[7; 32]).unwrap()
}

fn keys() -> KeySet {
    KeySet::of(key().public().clone())
}

/// What narrows.
#[derive(Debug, Clone)]
struct Authority {
    tools: Vec<String>,
    staged: Vec<String>,
    budget: Vec<(Unit, Number)>,
    /// Seconds from now
    deadline: i64,
    lifetime: i64,
}

impl Authority {
    fn of(tools: &[&str], staged: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|pattern| (*pattern).to_owned()).collect();
        let budget = vec![(Unit::Usd, Number::Integer(1))];
        Self { tools: owned(tools), staged: owned(staged), budget, deadline: 600, lifetime: 300 }
    }

    /// A pass for it, as the link of a chain.
    fn token(&self, link: usize) -> String {
        let seconds = |from_now: i64| Value::from(NOW.0 / 1000 + from_now);
        let mut budget = Object::new();
        for (unit, amount) in &self.budget {
            budget.insert(unit.as_str(), *amount);
        }
        let deadline = NOW.checked_add_seconds(self.deadline).unwrap();
        let claims = Object::new()
            .with("iss", "desk")
            .with("sub", "w")
            .with("jti", format!("p{link}"))
            .with("iat", seconds(0))
            .with("nbf", seconds(0))
            .with("exp", seconds(self.lifetime))
            .with("order", format!("o{link}"))
            .with_some("parent", link.checked_sub(1).map(|parent| format!("o{parent}")))
            .with("tools", self.tools.clone())
            .with("budget", budget)
            .with("deadline", format(deadline))
            .with("staged", self.staged.clone());
        key().sign("awl-pass+jwt", &claims.into())
    }
}

/// What must hold between a pass and the one above it.
fn assert_narrower(child: &Pass, parent: &Pass, tools: &[&str]) {
    for tool in tools {
        if child.allows(tool) {
            assert!(parent.allows(tool), "{tool} is allowed below alone");
            assert!(!parent.stages(tool), "{tool} would run before anybody above saw it");
        }
    }
    for unit in UNITS {
        if let Some(limit) = unit.of(parent.budget()) {
            assert!(unit.of(child.budget()).is_some_and(|amount| amount <= limit), "{unit:?}");
        }
    }
    assert!(child.deadline() <= parent.deadline());
    assert!(child.expires_at() <= parent.expires_at());
}

/// Every subset.
fn subsets<'a>(patterns: &[&'a str]) -> Vec<Vec<&'a str>> {
    (0..1_usize << patterns.len())
        .map(|bits| patterns.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, p)| *p).collect())
        .collect()
}

#[test]
fn every_choice_of_tools_and_staging_on_a_small_domain() {
    const PATTERNS: [&str; 4] = ["*", "a/*", "a/x", "b/x"];
    const TOOLS: [&str; 4] = ["a/x", "a/y", "b/x", "b/y"];
    let (keys, check) = (keys(), Check::at(NOW));
    let children: Vec<_> = subsets(&PATTERNS).iter().map(|tools| Authority::of(tools, &[]).token(1)).collect();
    let (mut accepted, mut refused) = (0, 0);
    for tools in subsets(&PATTERNS) {
        for staged in subsets(&PATTERNS) {
            let parent = verify(&Authority::of(&tools, &staged).token(0), &keys, &check, None).unwrap();
            for child in &children {
                match verify(child, &keys, &check, Some(&parent)) {
                    Ok(child) => {
                        accepted += 1;
                        assert_narrower(&child, &parent, &TOOLS);
                    }
                    Err(refusal) => {
                        refused += 1;
                        assert_eq!((refusal.code, refusal.link), (Code::WiderThanParent, 1));
                        assert!(!refusal.findings.is_empty());
                    }
                }
            }
        }
    }
    assert_eq!(accepted + refused, 16 * 16 * 16);
    assert!(accepted > 400 && refused > 400, "{accepted} accepted, {refused} refused");
}

#[test]
fn every_choice_of_budget_and_deadline_on_a_small_domain() {
    let amounts = [None, Some(Number::Integer(0)), Some(Number::Float(0.5)), Some(Number::Integer(1))];
    let mut choices = Vec::new();
    for usd in amounts {
        for seconds in amounts {
            for deadline in [300, 301] {
                let budget: Vec<_> = [(Unit::Usd, usd), (Unit::Seconds, seconds)]
                    .into_iter()
                    .filter_map(|(unit, amount)| Some((unit, amount?)))
                    .collect();
                if !budget.is_empty() {
                    choices.push(Authority { budget, deadline, ..Authority::of(&["a/*"], &[]) });
                }
            }
        }
    }
    let (keys, check) = (keys(), Check::at(NOW));
    let children: Vec<_> = choices.iter().map(|choice| (choice, choice.token(1))).collect();
    let mut accepted = 0;
    for parent in &choices {
        let pass = verify(&parent.token(0), &keys, &check, None).unwrap();
        for (child, token) in &children {
            let amount = |authority: &Authority, unit| {
                authority.budget.iter().find(|(named, _)| *named == unit).map(|(_, amount)| *amount)
            };
            // Said once more, in other words.
            let within = |unit| match (amount(parent, unit), amount(child, unit)) {
                (None, _) => true,
                (Some(limit), Some(amount)) => amount <= limit,
                (Some(_), None) => false,
            };
            let expected = within(Unit::Usd) && within(Unit::Seconds) && child.deadline <= parent.deadline;
            let verdict = verify(token, &keys, &check, Some(&pass));
            assert_eq!(verdict.is_ok(), expected, "{parent:?} {child:?}");
            if let Ok(child) = verdict {
                accepted += 1;
                assert_narrower(&child, &pass, &["a/x"]);
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}

const SERVERS: [&str; 4] = ["a", "b", "A", "a.b"];
const PARTS: [&str; 4] = ["x", "y", "X", "*"];

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => Just("*".to_owned()),
        9 => (0..SERVERS.len(), 0..PARTS.len()).prop_map(|(server, part)| format!("{}/{}", SERVERS[server], PARTS[part])),
    ]
}

fn authority() -> impl Strategy<Value = Authority> {
    let amount = prop_oneof![
        (0..4_i32).prop_map(|whole| Number::Integer(whole.into())),
        (0.0..4.0_f64).prop_map(|amount| Number::from_f64(amount).unwrap()),
    ];
    let budget = prop::sample::subsequence(UNITS.to_vec(), 1..=4).prop_flat_map(move |units| {
        prop::collection::vec(amount.clone(), units.len()).prop_map(move |amounts| {
            // Tokens and calls are whole.
            let whole = |(unit, amount): (Unit, Number)| match unit {
                Unit::Tokens | Unit::ToolCalls => (unit, Number::Integer(amount.to_f64() as i128)),
                _ => (unit, amount),
            };
            units.iter().copied().zip(amounts).map(whole).collect::<Vec<_>>()
        })
    });
    let patterns = |most| prop::collection::vec(pattern(), 0..most);
    (patterns(6), patterns(2), budget, 1..1000_i64, 1..1000_i64)
        .prop_map(|(tools, staged, budget, deadline, lifetime)| Authority { tools, staged, budget, deadline, lifetime })
}

/// A chain of which each link is perhaps narrowed from the one above, so that some are accepted.
fn chain() -> impl Strategy<Value = Vec<Authority>> {
    prop::collection::vec((authority(), any::<bool>(), any::<prop::sample::Index>()), 2..6).prop_map(|links| {
        let mut chain: Vec<Authority> = Vec::new();
        for (mut link, follows, at) in links {
            if let (Some(parent), true) = (chain.last(), follows) {
                link.deadline = parent.deadline.min(link.deadline);
                link.budget.clone_from(&parent.budget);
                link.tools.clone_from(&parent.tools);
                if !link.tools.is_empty() {
                    link.tools.remove(at.index(link.tools.len()));
                }
            }
            chain.push(link);
        }
        chain
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn chains_only_narrow(chain in chain()) {
        let names: Vec<String> =
            SERVERS.iter().flat_map(|server| ["x", "y", "X"].map(|part| format!("{server}/{part}"))).collect();
        let tools: Vec<&str> = names.iter().map(String::as_str).collect();
        let tokens: Vec<String> = chain.iter().enumerate().map(|(link, authority)| authority.token(link)).collect();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        match verify_chain(&tokens, &keys(), &Check::at(NOW)) {
            Ok(passes) => {
                for (above, parent) in passes.iter().enumerate() {
                    for child in &passes[above + 1..] {
                        assert_narrower(child, parent, &tools);
                    }
                }
            }
            Err(refusal) => {
                prop_assert_eq!(refusal.code, Code::WiderThanParent);
                prop_assert!(refusal.link >= 1);
            }
        }
    }

    #[test]
    fn nothing_but_a_pass_is_a_pass(text in ".*") {
        let refusal = verify(&text, &keys(), &Check::at(NOW), None).unwrap_err();
        prop_assert!(matches!(refusal.code, Code::Malformed | Code::Unsupported | Code::BadSignature));
    }

    #[test]
    fn claims_of_any_kind_are_refused_or_kept(name in "[a-z]{2,6}", number in any::<f64>(), at in any::<prop::sample::Index>()) {
        // A signed pass one of whose claims is something else.
        let token = Authority::of(&["a/x"], &[]).token(0);
        let claims = bailiwick_core::jose::Compact::parse(&token, 4096).unwrap().payload_object().unwrap();
        let names: Vec<String> = claims.iter().map(|(name, _)| name.clone()).collect();
        let replaced = at.index(names.len() + 1);
        let name = names.get(replaced).cloned().unwrap_or(name);
        let number = Number::from_f64(number).unwrap_or(Number::Float(0.5));
        let token = key().sign("awl-pass+jwt", &claims.with(name, number).into());
        if let Err(refusal) = verify(&token, &keys(), &Check::at(NOW), None) {
            prop_assert!(matches!(refusal.code, Code::Malformed | Code::Expired | Code::NotYetValid));
        } else {
            prop_assert!(false, "a number is none of the claims but times, and those are whole");
        }
    }
}
