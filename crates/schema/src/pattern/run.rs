//! Running a program on a text.
//!
//! A program without captures and counters is simulated: all places it can be in, one character after the other, so
//! time is at most program times text and memory is that of the program. Others are searched by [`backtrack`].

use super::backtrack;
use super::program::{Program, Step};

/// Work that may still be done; shared by everything one check does.
#[derive(Debug)]
pub(crate) struct Fuel(u64);

impl Fuel {
    /// This much work.
    pub(crate) const fn new(steps: u64) -> Self {
        Self(steps)
    }

    /// Burns some; `None` when there is not enough left.
    pub(crate) fn burn(&mut self, steps: usize) -> Option<()> {
        let left = u64::try_from(steps).ok().and_then(|steps| self.0.checked_sub(steps));
        self.0 = left.unwrap_or(0);
        left.map(drop)
    }
}

/// Whether the program matches anywhere in the text; `None` when the fuel runs out first.
pub(super) fn search(program: &Program, text: &str, fuel: &mut Fuel) -> Option<bool> {
    if program.counts {
        return backtrack::search(program, text, fuel);
    }
    Simulation { program, text, fuel }.run(0, 0, Search::Anywhere)
}

/// The character after or before a position, and the position beyond it.
pub(super) fn char_at(text: &str, at: usize, back: bool) -> Option<(char, usize)> {
    if back {
        let c = text.get(..at)?.chars().next_back()?;
        Some((c, at - c.len_utf8()))
    } else {
        let c = text.get(at..)?.chars().next()?;
        Some((c, at + c.len_utf8()))
    }
}

/// Whether a word begins or ends at a position.
pub(super) fn is_boundary(text: &str, at: usize) -> bool {
    let is_word = |c: Option<(char, usize)>| c.is_some_and(|(c, _)| c.is_ascii_alphanumeric() || c == '_');
    is_word(char_at(text, at, true)) != is_word(char_at(text, at, false))
}

struct Simulation<'a> {
    program: &'a Program,
    text: &'a str,
    fuel: &'a mut Fuel,
}

/// Where a run may begin, and which way it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    /// At the given position or later
    Anywhere,
    /// At the given position, forwards
    Ahead,
    /// At the given position, backwards
    Behind,
}

impl Simulation<'_> {
    /// Whether the steps from `step` on match, up to the next `Match`.
    fn run(&mut self, step: usize, at: usize, search: Search) -> Option<bool> {
        let mut here = Places::new(self.program);
        let mut there = Places::new(self.program);
        self.fuel.burn(self.program.steps.len() / 8)?;
        let (mut at, mut is_first) = (at, true);
        loop {
            if (is_first || search == Search::Anywhere) && self.reach(step, at, &mut here)? {
                return Some(true);
            }
            is_first = false;
            if here.takes.is_empty() && search != Search::Anywhere {
                return Some(false);
            }
            let Some((c, next)) = char_at(self.text, at, search == Search::Behind) else { return Some(false) };
            self.fuel.burn(1 + here.takes.len())?;
            for step in here.takes.drain(..) {
                if matches!(self.program.steps.get(step), Some(Step::Take { set, .. }) if set.contains(c))
                    && self.reach(step + 1, next, &mut there)?
                {
                    return Some(true);
                }
            }
            here.forget();
            std::mem::swap(&mut here, &mut there);
            at = next;
        }
    }

    /// Adds every `Take` that can be reached from a step without taking anything; true when `Match` can.
    fn reach(&mut self, step: usize, at: usize, places: &mut Places) -> Option<bool> {
        places.open.push(step);
        while let Some(step) = places.open.pop() {
            if !places.is_new(step) {
                continue;
            }
            self.fuel.burn(1)?;
            match self.program.steps.get(step) {
                Some(Step::Match) => return Some(true),
                Some(Step::Take { .. }) => places.takes.push(step),
                Some(Step::Jump { to }) => places.open.push(*to),
                Some(Step::Split { otherwise }) => places.open.extend([*otherwise, step + 1]),
                Some(Step::Start) if at == 0 => places.open.push(step + 1),
                Some(Step::End) if at == self.text.len() => places.open.push(step + 1),
                Some(Step::Boundary { is }) if is_boundary(self.text, at) == *is => places.open.push(step + 1),
                Some(Step::Look { negative, behind, then }) => {
                    let search = if *behind { Search::Behind } else { Search::Ahead };
                    if self.run(step + 1, at, search)? != *negative {
                        places.open.push(*then);
                    }
                }
                _ => {}
            }
        }
        Some(false)
    }
}

/// Where a program can be at one position of the text.
struct Places {
    /// The steps that take the next character
    takes: Vec<usize>,
    /// Steps still to be looked at
    open: Vec<usize>,
    /// For each step, the round in which it was last seen
    seen: Vec<u32>,
    round: u32,
}

impl Places {
    fn new(program: &Program) -> Self {
        Self { takes: Vec::new(), open: Vec::new(), seen: vec![0; program.steps.len()], round: 1 }
    }

    /// Whether a step is seen for the first time at this position.
    fn is_new(&mut self, step: usize) -> bool {
        match self.seen.get_mut(step) {
            Some(round) if *round != self.round => {
                *round = self.round;
                true
            }
            _ => false,
        }
    }

    /// Gets ready for another position.
    fn forget(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.seen.fill(0);
            self.round = 1;
        }
    }
}
